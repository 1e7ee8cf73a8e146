import { DAY, floorToSecond } from '../../util/time/instant.ts'
import { dayIntervalAt, localDay } from '../../util/time/localDay.ts'
import { localDate } from '../../util/time/zone.ts'
import { valueText } from '../client/format.ts'
import { scrolled, serviceText, table } from '../elements.ts'
import { figure } from '../figure.ts'
import { countText, momentText, timeText } from '../formats.ts'
import { type Html, type HtmlPart, html } from '../html.ts'
import { type PageRequest, view } from '../page.ts'
import { readChanges } from '../queries/series/chartData.ts'
import { rangeQuery, readChartQuery } from '../queries/series/seriesQuery.ts'
import { readWindows } from '../queries/series/window.ts'

/** Borders of ages of revisions, in days after the period began; the first age is before that. */
const AGES = [0, 1, 2, 3, 7, 14, 30, 90, Number.POSITIVE_INFINITY]

/** The most days whose revisions are examined. */
const MAX_REVISED_DAYS = 92
const [MAX_DRAWN_STATES, PICTURE_COLUMNS] = [5, 720]

/** Counts revisions and measures their absolute changes; null: withdrawn. */
function summarize(changes: readonly (number | null)[]) {
  const sizes = changes.filter((change) => change !== null)
  return {
    count: changes.length,
    withdrawn: changes.length - sizes.length,
    mean: sizes.length === 0 ? null : sizes.reduce((sum, size) => sum + size, 0) / sizes.length,
    largest: sizes.length === 0 ? null : sizes.reduce((a, b) => Math.max(a, b)),
  }
}

/** Selects the first, the last and evenly spaced elements between them. */
const sample = <T>(list: readonly T[], count: number): T[] =>
  list.length <= count
    ? [...list]
    : Array.from({ length: count }, (_, i) => list[Math.round((i * (list.length - 1)) / (count - 1))]!)

/** Reads the revisions of a range, or of its end if it is too long. */
async function readVintages(request: PageRequest) {
  const { store: db } = request
  const { dataset, range: requested } = await readChartQuery(request)
  const { zone } = dataset
  const last = dayIntervalAt(zone, requested.to - 1).day
  const first = Math.max(dayIntervalAt(zone, requested.from).day, last - MAX_REVISED_DAYS + 1)
  const range = { from: Math.max(requested.from, localDay(zone, first).from), to: requested.to }
  const changes = await readChanges(db, dataset, range)
  const few = sample(changes, MAX_DRAWN_STATES)
  const fetchIds = few.map(({ fetchId }) => fetchId)
  const drawn = await readWindows(db, dataset, range, PICTURE_COLUMNS, fetchIds)
  const revisions = await db.engine.revisions({ ...dataset, ...range })
  const byAge: (number | null)[][] = AGES.map(() => [])
  const heat = AGES.map(() => new Array<number>(last - first + 1).fill(0))
  // Revisions of one reply are consecutive and in order, so few moments and days are computed.
  let moment = { text: '', second: 0 }
  let { day, from, to } = dayIntervalAt(zone, range.from)
  for (const { at, before, after, withdrawn, revisedAt } of revisions) {
    if (revisedAt !== moment.text) moment = { text: revisedAt, second: floorToSecond(revisedAt) }
    if (at < from || at >= to) ({ day, from, to } = dayIntervalAt(zone, at))
    const age = AGES.findIndex((days) => moment.second - at < days * DAY)
    byAge[age]!.push(withdrawn || before === null || after === null ? null : Math.abs(after - before))
    heat[age]![day - first]!++
  }
  return {
    dataset,
    range,
    changes,
    fan: few.map((change, i) => ({ ...change, drawn: drawn[i]! })),
    /** By age, as in `AGES`. */
    byAge: byAge.map(summarize),
    days: Array.from({ length: last - first + 1 }, (_, i) => localDate(zone, localDay(zone, first + i).from)),
    /** Numbers of revisions by age, then by day. */
    heat,
  }
}

type Vintages = Awaited<ReturnType<typeof readVintages>>

/** Past states over each other; the newest is drawn last. */
const fan = (
  { dataset, range, fan: states }: Vintages,
  { words: { vintages: labels }, locale }: PageRequest,
): HtmlPart =>
  states.length > 0 &&
  html`<section aria-labelledby="fan"><h2 id="fan">${labels.fan}</h2>
${figure({
  range,
  zone: dataset.zone,
  lines: states.map(({ drawn }, i) => ({ drawn, style: `fan-${6 - states.length + i}` as const })),
  label: labels.fanLabel(states.length),
  locale,
  unit: dataset.unit,
})}</section>`

function ageText(i: number, { words: { vintages: labels } }: PageRequest): string {
  const [from, to] = [AGES[i - 1], AGES[i]!]
  if (from === undefined) return labels.before
  if (to === Number.POSITIVE_INFINITY) return labels.later(from)
  if (from === 0) return labels.day
  return to === from + 1 ? labels.nthDay(to) : labels.days(from + 1, to)
}

const [CELL_SIZE, LABEL_WIDTH] = [14, 130]
const DAY_LABEL = 32

/** The revisions of each day by age. */
function heat(data: Vintages, request: PageRequest): Html {
  const { vintages: labels } = request.words
  // The earliest days are often without revisions.
  const first = data.days.findIndex((_, day) => data.heat.some((row) => row[day]! > 0))
  const days = data.days.slice(first)
  const counts = data.heat.map((row) => row.slice(first))
  const most = Math.max(...counts.flat())
  const width = Math.max(800, LABEL_WIDTH + days.length * CELL_SIZE + DAY_LABEL)
  const picture = html`<svg class="figure heat" viewBox="0 0 ${width} ${CELL_SIZE * counts.length + 16}" role="img" aria-label="${labels.heatLabel}">
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
</svg>`
  return html`<h2>${labels.heat}</h2>${scrolled(labels.heat, picture)}`
}

/** `/series/600/vintages`: revisions of a series. */
export const vintagesView = view({
  read: readVintages,
  title: ({ dataset }, { words }) => `${words.common.pages.vintages}: ${dataset.indicator} ${dataset.name}`,
  show(data, request) {
    const { dataset, range, byAge } = data
    const { words, link, locale } = request
    const { vintages: labels, common } = words
    const { zone, unit } = dataset
    const address = (asof?: string) =>
      link(`/series/${dataset.path}`, { geo: dataset.geoId, ...rangeQuery(zone, range), asof })
    const ages = byAge.map((row, i) => ({ ...row, age: ageText(i, request) })).filter(({ count }) => count > 0)
    return html`<p>${labels.intro} ${labels.range(timeText(zone, range.from), timeText(zone, range.to))} <a href="${address()}">${common.back}</a></p>
${fan(data, request)}
<h2>${labels.byAge}</h2>
${
  ages.length === 0
    ? html`<p>${labels.none}</p>`
    : html`${table(labels.byAge, ages, [
        [labels.age, ({ age }) => age],
        [labels.count, ({ count }) => countText(request, count), 'number'],
        [labels.withdrawn, ({ withdrawn }) => countText(request, withdrawn), 'number'],
        [`${labels.mean}${unit ? ` (${unit})` : ''}`, ({ mean }) => mean !== null && valueText(mean, locale), 'number'],
        [labels.largest, ({ largest }) => largest !== null && valueText(largest, locale), 'number'],
      ])}${heat(data, request)}`
}
<h2>${labels.changes}</h2>
${table(labels.changes, data.changes.toReversed(), [
  [labels.at, ({ at }) => html`<a href="${address(at)}">${momentText(zone, at)}</a>`],
  [labels.run, ({ run }) => html`<a href="${link(`/runs/${run}`)}">${run}</a>`],
  [labels.job, ({ job }) => serviceText(job)],
  [labels.brought, ({ brought }) => countText(request, brought), 'number'],
  [labels.replaced, ({ replaced }) => countText(request, replaced), 'number'],
])}`
  },
})
