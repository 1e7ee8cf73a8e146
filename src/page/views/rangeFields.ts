import { localDate, startOfDate } from '../../util/time/zone.ts'
import { type Html, html } from '../html.ts'
import type { PageRequest } from '../page.ts'
import { periodAt } from '../queries/periods.ts'
import { rangeQuery } from '../queries/series/seriesQuery.ts'
import type { SeriesPageData } from './seriesData.ts'

/** The fields of a range: one day with its neighbours, else the first day and the one after the last. */
export function rangeFields(
  { dataset: { zone }, range, days }: Pick<SeriesPageData, 'dataset' | 'range' | 'days'>,
  {
    isWrong,
    neighbours,
  }: { readonly isWrong: boolean; readonly neighbours: readonly [previous: string, next: string] },
  { query, words: { series: labels, common } }: PageRequest,
): Html {
  const shown = { ...rangeQuery(zone, range), day: localDate(zone, range.from) }
  const field = (name: 'from' | 'to' | 'day', label: string): Html => {
    // A mistake stays in its field.
    const value = isWrong ? (query.get(name) ?? '') : shown[name].slice(0, 16)
    const timeType = isWrong ? 'text' : 'datetime-local'
    const type = value === '' || startOfDate(zone, value) !== undefined ? 'date' : timeType
    return html`<label>${label} <input type="${type}" name="${name}" value="${value}"></label>`
  }
  const whole = periodAt(zone, range.from, 'day')
  const isDay = isWrong
    ? query.has('day') && !query.get('from') && !query.get('to')
    : whole.from === range.from && whole.to === range.to
  const last = days !== null && html`<input type="hidden" name="last" value="${days}">`
  if (!isDay) return html`${field('from', labels.from)}\n${field('to', labels.to)}${last}`
  const [previous, next] = neighbours
  const { day } = labels.spans
  const previousLink = html`<a href="${previous}" aria-label="${common.previous}: ${day}">‹</a>`
  const nextLink = html`<a href="${next}" aria-label="${common.next}: ${day}">›</a>`
  return html`<span class="day">${previousLink} ${field('day', common.day)} ${nextLink}</span>${last}`
}
