import { FIRST_LOCALE } from '../../tables/sql/sql.ts'

/** Picks one of the languages of the same thing: the requested one, else the first of the service, else any. */
export const inLanguage = <T extends { readonly locale: string }>(rows: readonly T[], locale: string): T | undefined =>
  rows.find((row) => row.locale === locale) ?? rows.find((row) => row.locale === FIRST_LOCALE) ?? rows[0]
