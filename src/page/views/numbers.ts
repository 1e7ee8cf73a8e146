import type { PageRequest } from '../page.ts'

/** A number as a language writes it, with at most three decimals; empty where there is none. */
export const numberText = (value: number | null | undefined, locale: string): string =>
  // A value that rounds to zero is written without a sign.
  value === null || value === undefined
    ? ''
    : (Number(value.toFixed(6)) || 0).toLocaleString(locale, { maximumFractionDigits: 3, signDisplay: 'negative' })

/** A value by its magnitude: no decimals from a thousand on, else two; three digits of a small one. */
export function valueText(value: number, locale: string): string {
  const size = Math.abs(value)
  if (size > 0 && size < 0.1) return value.toLocaleString(locale, { maximumSignificantDigits: 3 })
  const digits = size >= 1000 ? 0 : 2
  return value.toLocaleString(locale, { minimumFractionDigits: digits, maximumFractionDigits: digits })
}

/** A count as people of the request's language write it. */
export const countText = ({ locale }: Pick<PageRequest, 'locale'>, count: number): string =>
  count.toLocaleString(locale)

/** A count that may be only the most that it can be. */
export const mostText = (request: Pick<PageRequest, 'locale'>, count: number, exact: boolean): string =>
  `${exact ? '' : '≤ '}${countText(request, count)}`
