import { formatMillis } from '../../util/time/instant.ts'
import { serviceText } from '../elements.ts'
import { type HtmlPart, html } from '../html.ts'
import type { PageRequest } from '../page.ts'
import type { ChartData } from '../queries/series/chart.ts'
import { type ChartQuery, readChoices, replacedDays } from '../queries/series/seriesQuery.ts'

/** Says which parameters of an address have no effect, and why. */
export function seriesNotes(data: ChartQuery & { readonly chart: ChartData }, request: PageRequest): HtmlPart {
  const { dataset, asOf, chart } = data
  const { query, now, isLive } = request
  const { notes, replaced: replacedText } = request.words.series
  if (!isLive) return null
  const replaced = replacedDays(data, query, now)
  const lacksLine = readChoices(query).difference !== undefined && chart.difference === null
  const texts: HtmlPart[] = [
    replaced !== null && replacedText(replaced),
    asOf !== null && asOf.moment > formatMillis(now * 1000) && notes.future,
    lacksLine && html`${notes.sameUnit}${dataset.unit !== null && html` (${serviceText(dataset.unit)})`}.`,
  ]
  return texts.map((text) => text && html`<p class="warn">${text}</p>`)
}
