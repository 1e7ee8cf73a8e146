import type { Interval } from '../../../util/time/interval.ts'
import { localDate } from '../../../util/time/zone.ts'
import { SIGNS } from '../../client/signs.ts'
import { type Html, type HtmlPart, html } from '../../html.ts'
import type { PageRequest } from '../../page.ts'
import type { ChartTableRow, TableLevel } from '../../queries/series/chartTable.ts'
import type { SeriesData } from '../../queries/series/seriesPage.ts'
import { countText, numberText } from '../numbers.ts'
import { momentText, timeText } from '../times.ts'

/** How many intervals are listed. */
const MAX_LISTED_INTERVALS = 20

/** The intervals that are missing or may still change, with the reason. */
export function openIntervals(
  { open, dataset }: SeriesData,
  { words: { series: words }, locale, link, live }: PageRequest,
): HtmlPart {
  if (open.length === 0) return null
  return html`<section aria-labelledby="open">
<h2 id="open">${words.open}</h2>
<ul class="intervals">${open
    .slice(0, MAX_LISTED_INTERVALS)
    .map(
      ({ from, to, state, missing, nextAt }) =>
        html`<li><span class="mark state-${state}" aria-hidden="true">${SIGNS[state]}</span> ${words.states[state]}: ${timeText(dataset.zone, from)} – ${timeText(dataset.zone, to)}${typeof missing === 'number' && ` · ${words.missing(countText({ locale }, missing))}`}${nextAt && ` · ${words.again(momentText(dataset.zone, nextAt))}`}</li>\n`,
    )}</ul>
${open.length > MAX_LISTED_INTERVALS && html`<p>${words.more(countText({ locale }, open.length - MAX_LISTED_INTERVALS))}</p>`}
<p><a href="${link(`/coverage/${dataset.path}`, live ? { geo: dataset.geoId } : {})}">${words.mend}</a></p>
</section>`
}

/** The period of a row in the form of its level. */
const periodText = (zone: string, level: TableLevel, from: number): string =>
  level === 'values' || level === 'hour'
    ? timeText(zone, from)
    : localDate(zone, from).slice(0, { day: 10, month: 7, year: 4 }[level])

/** The table next to the chart: the same data, and each row has a link. */
export function rowsTable(
  { dataset, table, asOf }: SeriesData,
  here: (range: Interval) => string,
  { words: { series: words }, locale, link }: PageRequest,
): Html {
  const { zone, path, geoId } = dataset
  const isSingle = table.level === 'values'
  const number = (value: number | null | undefined): Html => html`<td class="number">${numberText(value, locale)}</td>`
  const then = ({ mean, before }: ChartTableRow): HtmlPart =>
    asOf && [number(before), number(typeof before === 'number' && mean !== null ? mean - before : null)]
  const row = (one: ChartTableRow): Html => {
    const href = isSingle ? link(`/explain/${path}/${geoId}/${one.from}`) : here(one)
    return html`<tr><th scope="row"><a href="${href}">${periodText(zone, table.level, one.from)}</a></th>${number(one.mean)}${
      !isSingle && [number(one.min), number(one.max), number(one.count)]
    }${then(one)}</tr>\n`
  }
  return html`<section data-part="table">
<h2 id="table">${words.table}</h2>
<div class="scroll" tabindex="0" role="region" aria-labelledby="table"><table>
<caption>${words.levels[table.level]}${dataset.unit && `, ${dataset.unit}`}</caption>
<thead><tr><th scope="col">${words.period}</th><th scope="col" class="number">${isSingle ? words.value : words.mean}</th>${
    !isSingle &&
    html`<th scope="col" class="number">${words.low}</th><th scope="col" class="number">${words.high}</th><th scope="col" class="number">${words.count}</th>`
  }${
    asOf &&
    html`<th scope="col" class="number">${words.valuesThen(momentText(zone, asOf.moment))}</th><th scope="col" class="number">${words.difference}</th>`
  }</tr></thead>
<tbody>${table.rows.map(row)}</tbody>
</table></div>
</section>`
}
