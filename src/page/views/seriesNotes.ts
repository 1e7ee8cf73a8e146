import { formatMillis } from '../../util/time/instant.ts'
import { serviceText } from '../elements.ts'
import { type HtmlPart, html } from '../html.ts'
import type { PageRequest } from '../page.ts'
import { readChoices, replacedDays } from '../queries/series/seriesQuery.ts'
import type { SeriesPageData } from './seriesData.ts'

/** Says which parameters of an address have no effect, and why. */
export function seriesNotes(data: SeriesPageData, request: PageRequest): HtmlPart {
  const { dataset: line, asOf, chart } = data
  const { query, now, isLive } = request
  const { notes, replaced: replacedText } = request.words.series
  if (!isLive) return null
  const replaced = replacedDays(line.zone, data, query, now)
  const lacksLine = readChoices(query).difference !== undefined && chart.difference === null
  const texts: HtmlPart[] = [
    replaced !== null && replacedText(replaced),
    asOf !== null && asOf.moment > formatMillis(now * 1000) && notes.future,
    lacksLine && html`${notes.sameUnit}${line.unit !== null && html` (${serviceText(line.unit)})`}.`,
  ]
  return texts.map((text) => text && html`<p class="warn">${text}</p>`)
}
