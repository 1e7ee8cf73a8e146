import { DAY, floorToSecond } from '../../util/time/instant.ts'
import { dayIntervalAt, localDay } from '../../util/time/localDay.ts'
import { localDate } from '../../util/time/zone.ts'
import { valueText } from '../client/format.ts'
import { countText, momentText, serviceText, table, timeText } from '../elements.ts'
import { figure } from '../figure.ts'
import { type Html, type HtmlPart, html } from '../html.ts'
import { type PageRequest, view } from '../page.ts'
import { readChanges } from '../queries/series/chartData.ts'
import { rangeQuery, readChartQuery } from '../queries/series/seriesQuery.ts'
import { readWindows } from '../queries/series/window.ts'

/** The borders of the ages of revisions, in days after the period began; the first age is before its beginning. */
const AGES = [0, 1, 2, 3, 7, 14, 30, 90, Number.POSITIVE_INFINITY]

/** The most days whose revisions are examined. */
const MAX_REVISED_DAYS = 92
/** States that are drawn, and columns of their picture. */
const [MAX_DRAWN_STATES, PICTURE_COLUMNS] = [5, 200]

const ageOf = (seconds: number): number => AGES.findIndex((days) => seconds < days * DAY)

/** How many revisions there are, and by how much the values changed, whatever the sign; null: withdrawn. */
function summarize(changes: readonly (number | null)[]) {
  const sizes = changes.filter((change) => change !== null)
  return {
    count: changes.length,
    withdrawn: changes.length - sizes.length,
    mean: sizes.length === 0 ? null : sizes.reduce((sum, size) => sum + size, 0) / sizes.length,
    largest: sizes.length === 0 ? null : sizes.reduce((a, b) => Math.max(a, b)),
  }
}

/** Some elements of a list: the first, the last, and others evenly between them. */
const evenly = <T>(all: readonly T[], count: number): T[] =>
  all.length <= count
    ? [...all]
    : Array.from({ length: count }, (_, i) => all[Math.round((i * (all.length - 1)) / (count - 1))]!)

/** How the values of a range were revised; of the end of the range where that is too long. */
async function readVintages(request: PageRequest) {
  const { store: db } = request
  const { dataset, range: requested } = await readChartQuery(request)
  const { zone } = dataset
  const last = dayIntervalAt(zone, requested.to - 1).day
  const first = Math.max(dayIntervalAt(zone, requested.from).day, last - MAX_REVISED_DAYS + 1)
  const range = { from: Math.max(requested.from, localDay(zone, first).from), to: requested.to }
  const changes = await readChanges(db, dataset, range)
  const few = evenly(changes, MAX_DRAWN_STATES)
  const ids = few.map(({ fetchId }) => fetchId)
  const drawn = await readWindows(db, dataset, range, PICTURE_COLUMNS, ids)
  const revisions = await db.engine.revisions({ ...dataset, ...range }, null)
  const byAge: (number | null)[][] = AGES.map(() => [])
  const heat = AGES.map(() => new Array<number>(last - first + 1).fill(0))
  // The revisions of one answer are consecutive and in order of time, so few moments and days are computed.
  let moment = { text: '', second: 0 }
  let { day, from, to } = dayIntervalAt(zone, range.from)
  for (const { at, before, after, withdrawn, revisedAt } of revisions) {
    if (revisedAt !== moment.text) moment = { text: revisedAt, second: floorToSecond(revisedAt) }
    if (at < from || at >= to) ({ day, from, to } = dayIntervalAt(zone, at))
    const age = ageOf(moment.second - at)
    byAge[age]!.push(withdrawn || before === null || after === null ? null : Math.abs(after - before))
    heat[age]![day - first]!++
  }
  return {
    dataset,
    range,
    changes,
    /** A few of the states, from the first to the last. */
    fan: few.map((change, i) => ({ ...change, drawn: drawn[i]! })),
    /** By age, as in `AGES`. */
    byAge: byAge.map(summarize),
    days: Array.from({ length: last - first + 1 }, (_, i) => localDate(zone, localDay(zone, first + i).from)),
    /** How many revisions of each day came at each age: by age, then by day. */
    heat,
  }
}

type Vintages = Awaited<ReturnType<typeof readVintages>>

/** A few past states over each other; the newest is drawn last, and always in the same style. */
const fan = ({ dataset, range, fan: states }: Vintages, { words: { vintages: own }, locale }: PageRequest): HtmlPart =>
  states.length > 0 &&
  html`<section aria-labelledby="fan"><h2 id="fan">${own.fan}</h2>
${figure({
  range,
  zone: dataset.zone,
  lines: states.map(({ drawn }, i) => ({ drawn, style: `fan-${6 - states.length + i}` as const })),
  label: own.fanLabel(states.length),
  locale,
})}</section>`

/** An age in words. */
function ageText(i: number, { words: { vintages: own } }: PageRequest): string {
  const [from, to] = [AGES[i - 1], AGES[i]!]
  if (from === undefined) return own.before
  if (to === Number.POSITIVE_INFINITY) return own.later(from)
  if (from === 0) return own.day
  return to === from + 1 ? own.nthDay(to) : own.days(from + 1, to)
}

const [CELL_SIZE, LABEL_WIDTH] = [14, 130]
/** The width of a label of a day. */
const DAY_LABEL = 32

/** Which days were revised at which age. */
function heat({ heat: counts, days }: Vintages, request: PageRequest): Html {
  const { vintages: own } = request.words
  const most = Math.max(...counts.flat())
  const width = Math.max(800, LABEL_WIDTH + days.length * CELL_SIZE + DAY_LABEL)
  return html`<section aria-labelledby="heat"><h2 id="heat">${own.heat}</h2>
<svg class="figure heat" viewBox="0 0 ${width} ${CELL_SIZE * counts.length + 16}" role="img" aria-label="${own.heatLabel}">
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

/** `/series/600/vintages`: how the values of a series were revised. */
export const vintagesView = view({
  read: readVintages,
  title: ({ dataset }, { words }) => `${words.common.pages.vintages}: ${dataset.indicator} ${dataset.name}`,
  show(data, request) {
    const { dataset, range, byAge } = data
    const { words, link, locale } = request
    const { vintages: own, common } = words
    const { zone, unit } = dataset
    const address = (asof?: string) =>
      link(`/series/${dataset.path}`, { geo: dataset.geoId, ...rangeQuery(zone, range), asof })
    const ages = byAge.map((one, i) => ({ ...one, age: ageText(i, request) })).filter(({ count }) => count > 0)
    return html`<p>${own.intro} ${own.range(timeText(zone, range.from), timeText(zone, range.to))} <a href="${address()}">${common.back}</a></p>
${fan(data, request)}
<h2>${own.byAge}</h2>
${
  ages.length === 0
    ? html`<p>${own.none}</p>`
    : html`${table(own.byAge, ages, [
        [own.age, ({ age }) => age],
        [own.count, ({ count }) => countText(request, count), 'number'],
        [own.withdrawn, ({ withdrawn }) => countText(request, withdrawn), 'number'],
        [`${own.mean}${unit ? ` (${unit})` : ''}`, ({ mean }) => mean !== null && valueText(mean, locale), 'number'],
        [own.largest, ({ largest }) => largest !== null && valueText(largest, locale), 'number'],
      ])}${heat(data, request)}`
}
<h2>${own.changes}</h2>
${table(own.changes, data.changes.toReversed(), [
  [own.at, ({ at }) => html`<a href="${address(at)}">${momentText(zone, at)}</a>`],
  [own.run, ({ run }) => html`<a href="${link(`/runs/${run}`)}">${run}</a>`],
  [own.job, ({ job }) => serviceText(job)],
  [own.brought, ({ brought }) => countText(request, brought), 'number'],
  [own.replaced, ({ replaced }) => countText(request, replaced), 'number'],
])}`
  },
})
