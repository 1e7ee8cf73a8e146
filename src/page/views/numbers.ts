import type { PageRequest } from '../page.ts'

/** A number as a language writes it, with at most three decimals; empty where there is none. */
export const numberText = (value: number | null | undefined, locale: string): string =>
  // A value that rounds to zero is written without a sign.
  value === null || value === undefined
    ? ''
    : (Number(value.toFixed(6)) || 0).toLocaleString(locale, { maximumFractionDigits: 3, signDisplay: 'negative' })

/** A count as people of the request's language write it. */
export const countText = ({ locale }: Pick<PageRequest, 'locale'>, count: number): string =>
  count.toLocaleString(locale)

/** A count that may be only the most that it can be. */
export const mostText = (request: Pick<PageRequest, 'locale'>, count: number, exact: boolean): string =>
  `${exact ? '' : '≤ '}${countText(request, count)}`
