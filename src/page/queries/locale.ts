import { FIRST_LOCALE } from '../../tables/sql/sql.ts'

/** Of the same thing in several languages: the one in a language, else in the first one of the service, else any. */
export const inLanguage = <T extends { readonly locale: string }>(rows: readonly T[], locale: string): T | undefined =>
  rows.find((row) => row.locale === locale) ?? rows.find((row) => row.locale === FIRST_LOCALE) ?? rows[0]
