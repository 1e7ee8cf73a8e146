import type { Interval } from '../../util/time/interval.ts'
import { addLocal, addUnits, floorTo } from '../../util/time/zone.ts'
import { chartFileName } from '../charts/seriesPicture.ts'
import { options, pictureLinks, suggestionList } from '../elements.ts'
import { momentText } from '../formats.ts'
import { type Html, type HtmlPart, html } from '../html.ts'
import type { PageRequest } from '../page.ts'
import { lastDays, PERIOD_UNITS } from '../queries/periods.ts'
import { comparedNames } from '../queries/series/compared.ts'
import { readChoices, SHIFTS, type Shift } from '../queries/series/seriesQuery.ts'
import { rangeFields } from './rangeFields.ts'
import { changeMoments, type Here, type SeriesPageData } from './seriesData.ts'

/* What chooses the chart of a series: links to ranges, and the form. */

/** Links to other ranges, and to the files of this one. */
export function rangeLinks(data: SeriesPageData, here: Here, request: PageRequest): Html {
  const { neighbours, dataset: line, range, days: shownDays } = data
  const { words, now, query } = request
  const { series: labels, common } = words
  const { zone, first, last, path, geoId } = line
  const isShown = ({ from, to }: Interval): boolean => from === range.from && to === range.to
  const rangeLink = (address: string, isCurrent: boolean, label: string): Html =>
    html`<a href="${address}"${isCurrent && html` aria-current="true"`}>${label}</a>\n`
  const fixedLink = (fixed: Interval, label: string): Html =>
    rangeLink(here(fixed), shownDays === null && isShown(fixed), label)
  // 'Last 7 days' links keep working tomorrow; a fixed range with the same dates is a different choice.
  const isFixed = ['from', 'to', 'day'].some((name) => query.get(name))
  const lastDaysLink = (days: number, label: string): Html => {
    const isCurrent = shownDays === days || (!isFixed && isShown(lastDays(zone, now, days)))
    return rangeLink(here(range, { from: undefined, to: undefined, last: days }), isCurrent, label)
  }
  const end = addUnits(zone, floorTo(zone, last ?? now, 'day'), 'day', 1)
  const lastYear = { from: addLocal(zone, range.from, 'year', -1), to: addLocal(zone, range.to, 'year', -1) }
  const ranges = [
    lastDaysLink(7, labels.lastWeek),
    lastDaysLink(30, labels.lastMonth),
    neighbours.spans.map(([name, span]) => fixedLink(span, labels.spans[name])),
    first !== null && fixedLink({ from: floorTo(zone, first, 'day'), to: end }, labels.all),
  ]
  return html`<nav class="spans" data-part="spans" aria-label="${labels.range}">
${ranges}
<a rel="prev" href="${here(neighbours.previous)}">‹ <span>${common.previous}</span></a>
<a rel="next" href="${here(neighbours.next)}"><span>${common.next}</span> ›</a>
${first !== null && lastYear.to > first && fixedLink(lastYear, labels.lastYear)}
<a href="${here(range, {}, `/api/csv/${path}/${geoId}`)}" download>${labels.csv}</a>
${pictureLinks(request, here(range, {}, `/series/${path}.svg`), chartFileName(line, range))}
</nav>`
}

/** The field for a past moment: the changes of the range, and the chosen moment if it lies between two of them. */
function momentField(data: SeriesPageData, request: PageRequest): Html {
  const { dataset: line, asOf } = data
  const { series: labels } = request.words
  const moments = changeMoments(data, request)
  const isListed = asOf === null || moments.some(({ at }) => at === asOf.moment)
  const other = isListed ? [] : [{ at: asOf.moment, text: momentText(line.zone, asOf.moment) }]
  const choices = [...moments, ...other]
    .sort((a, b) => (a.at < b.at ? -1 : 1))
    .map(({ at, text }) => [at, text] as const)
  const list = options([...choices, ['', labels.now]], asOf?.moment ?? '')
  return html`<label>${labels.asOf} <select name="asof" id="asof">${list}</select></label>`
}

/** The field for names of series to compare. After a mistake it has all names, else only one to add. */
function comparedField({ problems }: SeriesPageData, request: PageRequest): Html {
  const { series: labels } = request.words
  const names = comparedNames(request.query)
  const hasMistake = problems.length > 0
  const kept = names.map((name) => !hasMistake && html`<input type="hidden" name="with" value="${name}">`)
  const value = hasMistake && names.join(',')
  const picking = html`size="24" data-pick="path" autocomplete="off"`
  const input = html`<input name="with" id="with" ${picking} value="${value}" aria-describedby="with-hint">`
  return html`${kept}
<span class="pick"><label for="with">${labels.with}</label> ${input}${suggestionList('suggested', request)}</span>`
}

/** The form; its fields go into the address. */
export function chooser(data: SeriesPageData, here: Here, request: PageRequest): Html {
  const { query, path, words } = request
  const { series: labels, common } = words
  const { dataset: line, problems, chart, neighbours } = data
  const fields = rangeFields(
    data,
    {
      isWrong: problems.some(({ code }) => code === 'bad-time' || code === 'bad-range'),
      neighbours: [here(neighbours.previous), here(neighbours.next)],
    },
    request,
  )
  const { shift, by, difference } = readChoices(query)
  const shifts = (Object.keys(SHIFTS) as Shift[]).map((name) => [name, labels.shifts[name]] as const)
  const units = PERIOD_UNITS.map((unit) => [unit, labels.levels[unit]] as const)
  const geos = line.geos.map(({ id, name }) => [id, name ?? id] as const)
  const shiftOptions = options<string>([['', labels.noShift], ...shifts], shift ?? '')
  const unitOptions = options<string>([['', labels.asStored], ...units], by ?? '')
  const differenceBox = html`<input type="checkbox" name="difference" value="1"${difference && html` checked`}>`
  return html`<form class="choose" method="get" action="${path}">
<label>${common.geo} <select name="geo">${options(geos, line.geoId)}</select></label>
${fields}
${momentField(data, request)}
${comparedField(data, request)}
<label>${labels.shift} <select name="shift">${shiftOptions}</select></label>
<label>${labels.by} <select name="by">${unitOptions}</select></label>
${chart.compared.length > 0 && html`<label>${differenceBox} ${labels.difference}</label>`}
<button>${common.show}</button>
<small id="with-hint" class="soft">${labels.withHint} <span id="at-once">${labels.atOnce}</span></small>
</form>`
}

/** Links to the geos, for a page without a server and so without a form. */
export function geoLinks({ dataset: line }: SeriesPageData, { words, link, path }: PageRequest): HtmlPart {
  const { geos, geoId } = line
  if (geos.length <= 1) return null
  const links = geos.map(({ id, name }) => {
    const current = id === geoId && html` aria-current="true"`
    return html`<a href="${link(path, { geo: id })}"${current}><bdi>${name ?? id}</bdi></a> `
  })
  return html`<nav class="spans" aria-label="${words.common.geo}">${links}</nav>`
}

/** Links to the files beside a written page. */
export const fileLinks = ({ dataset: { path, geoId } }: SeriesPageData, { words, link }: PageRequest): Html =>
  html`<p class="spans"><a href="${link(`/series/${path}.csv`, { geo: geoId })}" download>${words.series.csv}</a>
<a href="${link(`/series/${path}.svg`, { geo: geoId })}" download>${words.charts.svg}</a></p>`
