import type { PageRequest } from '../page.ts'

/** A number as people of a language write it, with three decimals at the most; empty where there is none. */
export const numberText = (value: number | null | undefined, locale: string): string =>
  // What rounding leaves of nothing is nothing, and has no sign.
  value === null || value === undefined
    ? ''
    : (Number(value.toFixed(6)) || 0).toLocaleString(locale, { maximumFractionDigits: 3, signDisplay: 'negative' })

/** A count as people of the request's language write it. */
export const countText = ({ locale }: Pick<PageRequest, 'locale'>, count: number): string =>
  count.toLocaleString(locale)
