import type { Reader } from '../../db/store.ts'
import { InputError } from '../../util/errors.ts'
import { DAY } from '../../util/time/instant.ts'
import type { Interval } from '../../util/time/interval.ts'
import { addLocal, addUnits, floorTo, localDate } from '../../util/time/zone.ts'
import { lengthText, padTwo, SIGNS, valueText } from '../client/format.ts'
import { differing, eachPeriod } from '../client/segments.ts'
import {
  type Column,
  countText,
  facts,
  groupingText,
  momentText,
  numberText,
  options,
  serviceText,
  table,
  timeText,
} from '../elements.ts'
import { type FigureLine, figure } from '../figure.ts'
import { type Html, type HtmlPart, html, jsonScript } from '../html.ts'
import { NotFound, type PageRequest, type Query, view } from '../page.ts'
import { readStates } from '../queries/intervals.ts'
import {
  type ChartData,
  type ChartTableRow,
  comparedNames,
  readChanges,
  readChart,
  readCompared,
  readRows,
} from '../queries/series/chartData.ts'
import {
  latestValue,
  type NamedGeoSeries,
  rangeLinks,
  rangeQuery,
  readNamedGeoSeries,
  readQueryOf,
  SPANS,
  showOf,
  sqlOf,
} from '../queries/series/seriesQuery.ts'
import { segmentsOf } from '../queries/series/window.ts'
import { AmbiguousSeries } from '../queries/seriesPaths.ts'

/** How many intervals are listed. */
const MAX_LISTED_INTERVALS = 20
const HOURS = [...Array(24).keys()]

/** The most values that a bucket of a chart has: those of four months, every five minutes. */
const MOST_OF_BUCKET = 40_000

/**
 * The mean and the extremes of a range, from its values or, if it is long, from the buckets of its chart; and the instants of the
 * extremes, which a bucket does not have.
 */
async function readFigures({ engine }: Reader, dataset: NamedGeoSeries, { from, to, now }: ChartData) {
  const isLong = to - from > 62 * DAY
  const values = isLong ? [] : await engine.knownValues({ ...dataset, from, to }, null, MOST_OF_BUCKET)
  const exact = { kind: 'values' as const, segments: segmentsOf(values) }
  const periods = [...eachPeriod(isLong ? now : exact)].filter(({ mean }) => mean !== null)
  const seconds = periods.reduce((sum, { from, to }) => sum + to - from, 0)
  const sum = periods.reduce((sum, { from, to, mean }) => sum + mean! * (to - from), 0)
  const find = async (key: 'min' | 'max', sign: 1 | -1) => {
    if (periods.length === 0) return undefined
    const bucket = periods.reduce((best, period) => (sign * (period[key]! - best[key]!) < 0 ? period : best))
    const near = { ...dataset, from: bucket.from - DAY, to: bucket.to }
    const found = (await engine.knownValues(near, null, MOST_OF_BUCKET)).find(
      ({ at, step, value }) => value === bucket[key] && at + step > bucket.from,
    )
    return { value: bucket[key], at: found?.at ?? bucket.from }
  }
  return { mean: seconds > 0 ? sum / seconds : null, low: await find('min', 1), high: await find('max', -1) }
}

/** The data of the page on a series. */
async function readSeriesPage(request: PageRequest) {
  const { store, now, params, query } = request
  const dataset = await readNamedGeoSeries(request, params.id, query.get('geo'))
  /** What is wrong with the form; then the usual range is shown. */
  let problem = null as {
    code: 'bad-time' | 'bad-range' | 'not-found' | 'ambiguous'
    message: string
    /** The series that a name may mean, each with the comparison that it would make. */
    offered?: readonly { name: string; with: string }[]
  } | null
  const read = async (usable: PageRequest) => {
    const chartQuery = await readQueryOf(usable, dataset)
    return { chartQuery, compared: await readCompared(usable, dataset, chartQuery.range) }
  }
  const { compared, chartQuery } = await read(request).catch((error: unknown) => {
    if (error instanceof NotFound || error instanceof AmbiguousSeries) {
      const { text = '', candidates = [] } = error instanceof AmbiguousSeries ? error.cause : {}
      const offered = candidates.map(({ path, name }) => {
        const replaced = (one: string) => (one.replace(/:\d+$/, '') === text ? path + one.slice(text.length) : one)
        return { name: `${path} ${name}`, with: comparedNames(query).map(replaced).join(',') }
      })
      problem = { code: offered.length > 0 ? 'ambiguous' : 'not-found', message: error.message, offered }
      return read({ ...request, query: new URLSearchParams([...query].filter(([name]) => name !== 'with')) })
    }
    if (error instanceof InputError && (error.code === 'bad-time' || error.code === 'bad-range'))
      problem = { code: error.code, message: error.message }
    else throw error
    return read({ ...request, query: new URLSearchParams() })
  })
  const { range, asOf } = chartQuery
  const states = await readStates(request, dataset, range)
  const lines = compared.map(({ line }) => line)
  const valueAt = async (at: number) =>
    (await latestValue.first(store.kysely, { series: dataset.seriesId, geo: dataset.geoId, now: at })) ?? null
  const latest = await valueAt(now)
  const chart = await readChart(request, chartQuery, states, compared)
  return {
    dataset,
    /** The value that holds now, or the last one before, and the one a week earlier. */
    latest,
    weekAgo: latest && (await valueAt(addLocal(dataset.zone, latest.at, 'day', -7))),
    range,
    asOf,
    neighbours: rangeLinks(dataset.zone, range, dataset.last ?? now),
    changes: await readChanges(store, dataset, range),
    chart,
    figures: await readFigures(store, dataset, chart),
    table: await readRows(store, dataset, range, asOf?.fetchId ?? null, lines),
    /** The parts of the range that are not final, in order. */
    open: states.filter(({ state }) => state !== 'final'),
    problem,
    sql: sqlOf(chartQuery),
    /** The words of the command that draws the same; null where no command can. */
    command: showOf(chartQuery),
  }
}

type SeriesData = Awaited<ReturnType<typeof readSeriesPage>>

const seriesTitle = ({ indicator, name }: NamedGeoSeries): string => `${indicator} ${name}`

/** Addresses of this page with some parameters changed. */
function linker({ dataset }: SeriesData, { link, query, path }: PageRequest) {
  const kept: Query = {
    geo: dataset.geoId,
    asof: query.get('asof') ?? undefined,
    with: comparedNames(query).join(',') || undefined,
  }
  return (range: Interval, changed: Query = {}, to = path): string =>
    link(to, { ...kept, ...rangeQuery(dataset.zone, range), ...changed })
}

type Here = ReturnType<typeof linker>

/** Earlier and later, and the calendar spans. */
function spans({ neighbours, dataset, range }: SeriesData, here: Here, { words, now }: PageRequest): Html {
  const { series: own, common } = words
  const { zone, first, last, path, geoId } = dataset
  const today = floorTo(zone, now, 'day')
  const week = { from: addUnits(zone, today, 'day', -6), to: addUnits(zone, today, 'day', 1) }
  const lastYear = { from: addLocal(zone, range.from, 'year', -1), to: addLocal(zone, range.to, 'year', -1) }
  return html`<nav class="spans" data-part="spans" aria-label="${own.range}">
<a rel="prev" href="${here(neighbours.previous)}">‹ <span>${common.previous}</span></a>
${SPANS.map(
  (span) =>
    html`<a href="${here(neighbours.spans[span])}"${neighbours.span === span && html` aria-current="true"`}>${own.spans[span]}</a> `,
)}
<a rel="next" href="${here(neighbours.next)}"><span>${common.next}</span> ›</a>
<a href="${here(week)}">${own.lastWeek}</a>
<a href="${here(lastYear)}">${own.lastYear}</a>
${first !== null && last !== null && html`<a href="${here({ from: floorTo(zone, first, 'day'), to: addUnits(zone, floorTo(zone, last, 'day'), 'day', 1) })}">${own.all}</a>`}
<a href="${here(range, {}, `/api/csv/${path}/${geoId}`)}" download>${own.csv}</a>
</nav>`
}

/** The moments at which what was known changed, in words. A count that may be only the most that it can be has a sign. */
const momentsOf = ({ changes, dataset }: SeriesData, { words: { series: own }, locale }: PageRequest) =>
  changes.map(({ at, run, brought, replaced, exact }) => ({
    at,
    text: `${momentText(dataset.zone, at)} · ${own.run(String(run))} · ${own.change(`${exact ? '' : '≤ '}${countText({ locale }, Math.max(brought, replaced))}`)}`,
  }))

/** The form of what can be chosen: all of it goes into the address, with and without scripts. */
function chooser(data: SeriesData, request: PageRequest): Html {
  const { query, path, words } = request
  const { series: own, common } = words
  const { dataset, range, asOf, problem, chart } = data
  const { zone } = dataset
  const moments = momentsOf(data, request)
  // A moment between two changes is listed separately.
  const isListed = asOf === null || moments.some(({ at }) => at === asOf.moment)
  const others = isListed ? [] : [{ at: asOf.moment, text: momentText(zone, asOf.moment) }]
  const all = [...moments, ...others].sort((a, b) => (a.at < b.at ? -1 : 1)).map(({ at, text }) => [at, text] as const)
  const borders = rangeQuery(zone, range)
  const border = (name: 'from' | 'to', label: string): Html => {
    // What is wrong stays in its field.
    const value = problem === null ? borders[name].slice(0, 16) : (query.get(name) ?? '')
    const type = /^(\d{4}-\d\d-\d\d)?$/.test(value) ? 'date' : problem === null ? 'datetime-local' : 'text'
    return html`<label>${label} <input type="${type}" name="${name}" value="${value}"></label>`
  }
  const wanted = comparedNames(query)
  const geos = dataset.geos.map(({ id, name }) => [id, name ?? id] as const)
  return html`<form class="choose" method="get" action="${path}">
<label>${common.geo} <select name="geo">${options(geos, dataset.geoId)}</select></label>
${border('from', own.from)}
${border('to', own.to)}
<label>${own.asOf} <select name="asof" id="asof">${options([...all, ['', own.now]], asOf?.moment ?? '')}</select></label>
${chart.compared.map((_, i) => html`<input type="hidden" name="with" value="${wanted[i]}">`)}
<label>${own.with} <input name="with" size="20" list="names" data-pick="/api/names" autocomplete="off" value="${chart.compared.length === 0 && wanted.join(',')}" aria-describedby="with-hint"></label><datalist id="names" data-own></datalist>
<button>${common.show}</button>
<small id="with-hint" class="soft">${own.withHint}</small>
</form>`
}

/** The geos, each with its own page, for a page without a server, which has no form. */
const geoLinks = ({ dataset }: SeriesData, { words, link, path }: PageRequest): HtmlPart =>
  dataset.geos.length > 1 &&
  html`<nav class="spans" aria-label="${words.common.geo}">${dataset.geos.map(
    ({ id, name }) =>
      html`<a href="${link(path, { geo: id })}"${id === dataset.geoId && html` aria-current="true"`}><bdi>${name ?? id}</bdi></a> `,
  )}</nav>`

/** The lines of a chart: past values are drawn over the current ones, and what differs over both. */
const linesOf = ({ now, before, compared, unit }: ChartData): FigureLine[] => [
  ...compared.map((one, i) => ({ drawn: one.drawn, style: `with-${i}` as const, isOther: one.unit !== unit })),
  { drawn: now, style: before ? 'now faint' : 'now' },
  ...(before
    ? [
        { drawn: before, style: 'then faint' as const },
        { drawn: differing(now, before), style: 'then' as const },
      ]
    : []),
]

const chartLegend = ({ chart, dataset, asOf, range }: SeriesData, here: Here, request: PageRequest): Html => {
  const { series: own, common } = request.words
  const names = comparedNames(request.query)
  return html`<ul class="legend" data-part="legend">
<li class="now">${chart.compared.length > 0 ? serviceText(dataset.name) : own.values}${dataset.unit && ` (${dataset.unit})`}</li>
${asOf && html`<li class="then">${own.valuesThen(momentText(dataset.zone, asOf.moment))}</li>`}
<li class="band" id="bucket" data-own hidden></li>
${chart.compared.map(({ name, geo, unit, path }, i) => {
  const others = names.filter((_, n) => n !== i).join(',') || undefined
  return html`<li class="with-${i}"><a href="${request.link(`/series/${path}`)}"><bdi>${name}</bdi></a>${geo && `, ${geo}`}${unit && ` (${unit})`}${request.live && html` <a class="remove" href="${here(range, { with: others })}" aria-label="${common.remove(name)}">×</a>`}</li>`
})}
</ul>`
}

/** What the range is like at a glance: the value now, and the mean and the extremes of the range. */
function keyFigures(
  { latest, weekAgo, figures: { mean, low, high }, dataset: { unit, zone } }: SeriesData,
  request: PageRequest,
): Html {
  const { locale, words } = request
  const { series: own } = words
  const value = (number: number | null | undefined, detail?: HtmlPart): HtmlPart =>
    typeof number === 'number' && html`${valueText(number, locale)} <span class="soft">${unit} ${detail}</span>`
  const change =
    latest?.value != null && weekAgo?.value != null && weekAgo.at < latest.at && latest.value - weekAgo.value
  const sign = typeof change === 'number' && change > 0 ? '+' : ''
  return facts([
    [own.latest, value(latest?.value, latest && timeText(zone, latest.at)), 'main'],
    [own.weekAgo, typeof change === 'number' && html`${sign}${value(change)}`],
    [own.mean, value(mean)],
    [own.low, value(low?.value, low && timeText(zone, low.at))],
    [own.high, value(high?.value, high && timeText(zone, high.at))],
  ])
}

/** A slider over past states, which a script uses. */
const slider = ({ words: { series: own, common } }: PageRequest): Html =>
  html`<div id="slider" class="slider" data-own hidden><label>${own.asOf} <input type="range" id="moment" min="0" step="1" list="moments"></label><button type="button" aria-label="${common.previous}">‹</button><button type="button" aria-label="${common.next}">›</button> <input type="date" aria-label="${own.asOf}"> <output for="moment"></output> <span></span><datalist id="moments"></datalist></div>`

/** The picture: drawn by the server, and again by the script, which makes it interactive. */
function picture(data: SeriesData, here: Here, request: PageRequest): Html {
  const { dataset, range, chart } = data
  const { words, live, link, locale } = request
  const { series: own, common } = words
  const { zone, path, geoId, unit } = dataset
  const label = own.label(seriesTitle(dataset), timeText(zone, range.from), timeText(zone, range.to))
  const lines = linesOf(chart)
  const isNothing = lines.every(({ drawn }) => drawn.segments.length === 0)
  const given = {
    chart,
    label,
    locale,
    changes: momentsOf(data, request),
    api: link(`/api/series/${path}/${geoId}`),
    with: chart.compared.map(({ line, path }) => `${path}:${line.geoId}`).join(','),
    carpet: link(`/api/carpet/${path}/${geoId}`),
    explain: link(`/explain/${path}/${geoId}/`),
    words: {
      now: own.now,
      failed: own.failed,
      states: { ...common.states, ...own.states },
      differ: own.differ('{}'),
      bucket: own.bucket('{}'),
      thenValue: own.thenValue('{}'),
      noHour: own.noHour,
      carpetMuch: own.carpetMuch,
    },
  }
  return html`<section class="panel" aria-labelledby="chart-title">
<h2 id="chart-title" class="quiet">${common.chart}</h2>
${live && spans(data, here, request)}
${live ? chooser(data, request) : geoLinks(data, request)}
${chartLegend(data, here, request)}
<p class="bad"${!isNothing && html` hidden`}>${own.nothing}</p>
<div id="chart" data-own>${figure({ range, zone, lines, states: chart.states, label, locale, unit })}<div class="tip" aria-hidden="true" hidden></div></div>
${live && html`${slider(request)}<p id="cursor" role="status" data-own></p><p id="keys" class="soft">${own.keys}</p>${jsonScript('data', given)}`}
</section>`
}

/** Commands and SQL that give the same elsewhere, to copy. */
function elsewhere({ dataset, range, sql, command }: SeriesData, here: Here, request: PageRequest): Html {
  const { words, live, link } = request
  const { series: own } = words
  return html`<section data-part="same" aria-labelledby="same">
<h2 id="same">${words.common.same}</h2>
${
  live &&
  html`<ul>
<li><a href="${here(range, {}, `/api/csv/${dataset.path}/${dataset.geoId}`)}">${own.csv}</a></li>
<li><a href="${here(range, { asof: undefined, with: undefined }, `/series/${dataset.path}/vintages`)}">${own.versions}</a></li>
</ul>`
}
${command !== null && html`<p>${own.command}</p><pre>${request.command(command)}</pre>`}
<p>${own.sql}${live && html` · <a href="${link('/sql', { sql })}">/sql</a>`}</p><pre>${sql}</pre>
</section>`
}

/** The intervals that are missing or may still change, with the reason. */
function openIntervals({ open, dataset }: SeriesData, { words, link, live }: PageRequest): HtmlPart {
  const { zone, path, geoId } = dataset
  const { series: own, common } = words
  const states = { ...common.states, ...own.states }
  return (
    open.length > 0 &&
    html`<section aria-labelledby="open">
<h2 id="open">${own.open}</h2>
<ul class="intervals">${open
      .slice(0, MAX_LISTED_INTERVALS)
      .map(
        ({ from, to, state, missing, nextAt }) =>
          html`<li><span class="mark state-${state}" aria-hidden="true">${SIGNS[state]}</span> ${states[state]}: ${timeText(zone, from)} – ${timeText(zone, to)}${missing !== null && ` · ${own.missing(missing)}`}${nextAt && ` · ${own.again(momentText(zone, nextAt))}`}</li>\n`,
      )}</ul>
${open.length > MAX_LISTED_INTERVALS && html`<p>${own.more(open.length - MAX_LISTED_INTERVALS)}</p>`}
<p><a href="${link(`/coverage/${path}`, live ? { geo: geoId } : {})}">${own.mend}</a></p>
</section>`
  )
}

/** The table next to the chart: the same data, and each row has a link. */
function rowsTable({ dataset, table: found, asOf, chart }: SeriesData, here: Here, request: PageRequest): Html {
  const { words, locale, link } = request
  const { series: own } = words
  const { zone, path, geoId, unit, measure } = dataset
  const { level, rows } = found
  const isSingle = level === 'values'
  const period = (at: number): string =>
    level === 'values' || level === 'hour'
      ? timeText(zone, at)
      : localDate(zone, at).slice(0, { day: 10, month: 7, year: 4 }[level])
  // Summaries are rounded by their magnitude; values have as many decimals as any of them needs, at most three.
  const decimals = Math.max(0, ...rows.map(({ mean }) => numberText(mean, 'en').split('.')[1]?.length ?? 0))
  const number = (head: HtmlPart, read: (row: ChartTableRow) => number | null | undefined): Column<ChartTableRow> => [
    head,
    (row) => {
      const value = read(row)
      if (typeof value !== 'number') return ''
      return isSingle ? numberText(value, locale, decimals) : valueText(value, locale)
    },
    'number',
  ]
  const difference = ({ mean, before }: ChartTableRow): number | null =>
    typeof before === 'number' && mean !== null ? mean - before : null
  const columns: (Column<ChartTableRow> | false)[] = [
    [
      own.period,
      (row) =>
        html`<a href="${isSingle ? link(`/explain/${path}/${geoId}/${row.from}`) : here(row)}">${period(row.from)}</a>`,
    ],
    number(isSingle ? own.value : own.mean, ({ mean }) => mean),
    !isSingle && number(own.low, ({ min }) => min),
    !isSingle && number(own.high, ({ max }) => max),
    !isSingle && [own.count, ({ count }) => countText(request, count), 'number'],
    !isSingle && measure !== null && number(html`${own.energy} (MWh)`, ({ energy }) => energy),
    asOf !== null && number(own.valuesThen(momentText(zone, asOf.moment)), ({ before }) => before),
    asOf !== null && number(own.difference, difference),
    ...chart.compared.map(({ name, unit }, i) =>
      number(html`${serviceText(name)}${unit && ` (${unit})`}`, ({ compared }) => compared?.[i]),
    ),
  ]
  const caption = html`<caption>${own.levels[level]}${unit && `, ${unit}`}</caption>`
  return html`<section data-part="table"><h2>${own.table}</h2>
${table(own.table, rows, columns, { style: 'values', caption })}</section>`
}

/** `/series/600`: the values of a series, current and past. */
export const seriesView = view({
  read: readSeriesPage,
  status: ({ problem }) => (problem === null ? 200 : problem.code === 'not-found' ? 404 : 400),
  title: ({ dataset }) => `${seriesTitle(dataset)}${dataset.geo.name === null ? '' : ` · ${dataset.geo.name}`}`,
  show(data, request) {
    const { dataset, problem, chart } = data
    const { words, live } = request
    const { series: own, common } = words
    const { zone, first, last, geo, unit, trunc, agg, geoAgg, geoTrunc } = dataset
    const here = linker(data, request)
    const held = first !== null && last !== null ? own.held(timeText(zone, first), timeText(zone, last)) : own.nothing
    return html`<p class="soft">${geo.name === null && `${common.geo} ${geo.id} · `}${unit && html`<bdi>${unit}</bdi> · `}${groupingText(request, trunc, agg, geoAgg, geoTrunc) || common.native} · ${held}${live && dataset.name !== `${dataset.kind} ${dataset.indicator}` && html` · <a href="${request.link(`/texts/${dataset.kind}/${dataset.indicator}`)}">${own.description}</a>`}</p>
${keyFigures(data, request)}
${problem !== null && html`<p class="bad" role="alert">${problem.code === 'not-found' ? own.noSeries : common.errors[problem.code]}${problem.offered?.map((one) => html` <a href="${here(data.range, { with: one.with })}">${serviceText(one.name)}</a>`)}</p>`}
${picture(data, here, request)}
<div data-part="open">${chart.steps.map(([at, step]) => html`<p class="soft">${own.steps(timeText(zone, at), lengthText(step))}</p>`)}${openIntervals(data, request)}</div>
${
  live &&
  html`<details id="carpet" class="carpet"><summary>${own.carpet}</summary><div data-own><p role="status"></p>
<figure hidden><div class="cells"><div class="hours" aria-hidden="true">${HOURS.map((hour) => html`<span>${hour % 6 === 0 && padTwo(hour)}</span>`)}</div><canvas role="img" tabindex="0" aria-label="${own.carpet}. ${own.carpetHint}"></canvas></div>
<div class="days-axis" aria-hidden="true"></div><p class="soft scale"><b></b> ${HOURS.slice(0, 10).map(() => html`<span></span>`)} <b></b></p><p role="status"></p></figure></div></details>`
}
${rowsTable(data, here, request)}
${elsewhere(data, here, request)}`
  },
})
