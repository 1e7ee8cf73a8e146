import { type Html, type HtmlPart, html } from '../../html.ts'
import { type PageRequest, view } from '../../page.ts'
import { offsetsOf, readChartQuery } from '../../queries/series/chart.ts'
import type { NamedGeoSeries } from '../../queries/series/geoSeries.ts'
import { borderText } from '../../queries/series/range.ts'
import { AGES, readVintages, type Vintages } from '../../queries/series/vintages.ts'
import { countText, numberText } from '../numbers.ts'
import { momentText, timeText } from '../times.ts'
import { figure } from './figure.ts'

interface VintagesData extends Vintages {
  /** The series of one geo, named as in the JSON of the page. */
  readonly dataset: NamedGeoSeries
}

async function read(request: PageRequest): Promise<VintagesData> {
  const { dataset, range } = await readChartQuery(request)
  return { dataset, ...(await readVintages(request.store, dataset, range)) }
}

/** A few past states over each other, the newest the darkest. */
function fan(
  { dataset, range, fan: vintages }: VintagesData,
  { words: { vintages: words }, locale }: PageRequest,
): HtmlPart {
  // The newest is drawn last, and always in the same style.
  const first = 6 - vintages.length
  return (
    vintages.length > 0 &&
    html`<section aria-labelledby="fan"><h2 id="fan">${words.fan}</h2>
${figure({
  range,
  offsets: offsetsOf(dataset.zone, range),
  lines: vintages.map(({ drawn }, i) => ({ drawn, style: `fan-${first + i}` as const })),
  label: words.fanLabel(countText({ locale }, vintages.length)),
  locale,
})}</section>`
  )
}

/** The runs that changed something, each with a link to the values known after it. */
function changes({ dataset, range, changes: all }: VintagesData, request: PageRequest): Html {
  const { words, link } = request
  const { vintages: labels } = words
  const [from, to] = [range.from, range.to].map((at) => borderText(dataset.zone, at)) as [string, string]
  return html`<section><h2 id="changes">${labels.changes}</h2>
<div class="scroll" tabindex="0" role="region" aria-labelledby="changes"><table>
<thead><tr><th scope="col">${labels.at}</th><th scope="col">${labels.run}</th><th scope="col">${labels.job}</th><th scope="col" class="number">${labels.brought}</th><th scope="col" class="number">${labels.replaced}</th></tr></thead>
<tbody>${all
    .toReversed()
    .map(
      ({ at, run, job, brought, replaced }) =>
        html`<tr><th scope="row"><a href="${link(`/series/${dataset.path}`, { geo: dataset.geoId, from, to, asof: at })}">${momentText(dataset.zone, at)}</a></th><td><a href="${link(`/runs/${run}`)}">${run}</a></td><td>${job}</td><td class="number">${countText(request, brought)}</td><td class="number">${countText(request, replaced)}</td></tr>\n`,
    )}</tbody></table></div></section>`
}

/** An age in words. */
function ageText(i: number, { words: { vintages: words } }: PageRequest): string {
  const [from, to] = AGES[i]!
  if (from === null) return words.before
  if (to === null) return words.later(from)
  return from === 0 ? words.day : words.days(from, to)
}

/** How many revisions came at each age, and how large they were. */
function byAge({ byAge: all, dataset }: VintagesData, request: PageRequest): Html {
  const { locale } = request
  const { vintages: words } = request.words
  return html`<section><h2 id="ages">${words.byAge}</h2>
<div class="scroll" tabindex="0" role="region" aria-labelledby="ages"><table>
<thead><tr><th scope="col">${words.age}</th><th scope="col" class="number">${words.count}</th><th scope="col" class="number">${words.withdrawn}</th><th scope="col" class="number">${words.mean}${dataset.unit && ` (${dataset.unit})`}</th><th scope="col" class="number">${words.largest}</th></tr></thead>
<tbody>${all.map(
    ({ count, withdrawn, mean, largest }, i) =>
      count > 0 &&
      html`<tr><th scope="row">${ageText(i, request)}</th><td class="number">${countText({ locale }, count)}</td><td class="number">${countText({ locale }, withdrawn)}</td><td class="number">${numberText(mean, locale)}</td><td class="number">${numberText(largest, locale)}</td></tr>\n`,
  )}</tbody></table></div></section>`
}

const [CELL_SIZE, LABEL_WIDTH] = [14, 130]
/** The width of a label of a day. */
const DAY_LABEL = 32

/** Which days were revised at which age. */
function heat({ heat: counts, days }: VintagesData, request: PageRequest): Html {
  const { vintages: words } = request.words
  const most = Math.max(...counts.flat())
  const width = Math.max(800, LABEL_WIDTH + days.length * CELL_SIZE + DAY_LABEL)
  return html`<section aria-labelledby="heat"><h2 id="heat">${words.heat}</h2>
<svg class="figure heat" viewBox="0 0 ${width} ${CELL_SIZE * counts.length + 16}" role="img" aria-label="${words.heatLabel}">
${counts.map((row, i) => [
  html`<text x="${LABEL_WIDTH - 6}" y="${CELL_SIZE * i + 11}" text-anchor="end">${ageText(i, request)}</text>`,
  row.map(
    (count, day) =>
      count > 0 &&
      html`<rect class="h${Math.ceil((count / most) * 5)}" x="${LABEL_WIDTH + day * CELL_SIZE}" y="${CELL_SIZE * i}" width="${CELL_SIZE - 1}" height="${CELL_SIZE - 1}"><title>${days[day]}: ${count}</title></rect>`,
  ),
])}
${days.map(
  (day, i) =>
    (i === 0 || (day.endsWith('-01') && i * CELL_SIZE > DAY_LABEL)) &&
    html`<text x="${LABEL_WIDTH + i * CELL_SIZE}" y="${CELL_SIZE * counts.length + 12}">${day.slice(5)}</text>`,
)}
</svg></section>`
}

function show(data: VintagesData, request: PageRequest): Html {
  const { dataset, range } = data
  const { words, link } = request
  const { vintages: labels } = words
  const [from, to] = [range.from, range.to].map((at) => borderText(dataset.zone, at)) as [string, string]
  const isRevised = data.byAge.some(({ count }) => count > 0)
  return html`<p>${labels.intro} ${labels.range(timeText(dataset.zone, range.from), timeText(dataset.zone, range.to))} <a href="${link(`/series/${dataset.path}`, { geo: dataset.geoId, from, to })}">${labels.back}</a></p>
${fan(data, request)}
${isRevised ? [byAge(data, request), heat(data, request)] : html`<p>${labels.none}</p>`}
${changes(data, request)}`
}

/** How the values of a series were revised. */
export const vintagesView = view<VintagesData>({
  read,
  show,
  title: ({ dataset }, { words }) => `${words.common.pages.vintages}: ${dataset.indicator} ${dataset.name}`,
})
