import { readKnownValues } from '../../db/queries/values.ts'
import type { Reader } from '../../db/store.ts'
import type { InputError } from '../../util/errors.ts'
import { DAY, formatUtc, parseInstant } from '../../util/time/instant.ts'
import type { Interval } from '../../util/time/interval.ts'
import { addLocal, addUnits, floorTo, localDate } from '../../util/time/zone.ts'
import { comparisonFigures, differenceText } from '../charts/comparisonFigures.ts'
import { figure, seriesDrawing } from '../charts/figure.ts'
import { chartFileName } from '../charts/seriesPicture.ts'
import { lengthText, padTwo, SIGNS, valueText } from '../client/format.ts'
import {
  addressText,
  type Column,
  command,
  facts,
  options,
  pictureLinks,
  serviceText,
  suggestionList,
  table,
} from '../elements.ts'
import {
  countText,
  daysText,
  groupingText,
  momentText,
  mostDecimals,
  numberText,
  roughLength,
  timeText,
} from '../formats.ts'
import { type Html, type HtmlPart, html, jsonScript } from '../html.ts'
import { badParameter, NotFound, type PageRequest, type Query, view } from '../page.ts'
import { readCauses } from '../queries/causes.ts'
import { readStates } from '../queries/intervals.ts'
import { geoList } from '../queries/names.ts'
import { lastDays, PERIOD_UNITS, periodBorders } from '../queries/periods.ts'
import { readChanges } from '../queries/series/changes.ts'
import { readChart } from '../queries/series/chart.ts'
import {
  comparedNames,
  placeName,
  readCompared,
  seriesNames,
  ThirdUnit,
  withStates,
} from '../queries/series/compared.ts'
import { readFreshness, readLacking } from '../queries/series/freshness.ts'
import {
  type ChartTableRow,
  type ComparedLine,
  chosenUnit,
  differenceTo,
  readRows,
  revisedBy,
  unitOfExtremes,
} from '../queries/series/lines.ts'
import {
  checkChoices,
  lastShown,
  latestValue,
  moveByShift,
  type NamedLine,
  rangeLinks,
  rangeQuery,
  readChoices,
  readNamedGeoSeries,
  readRangeAndMoment,
  requestedVintages,
  SHIFTS,
  type Shift,
  selectStatement,
  showCommand,
  UnknownGeo,
} from '../queries/series/seriesQuery.ts'
import {
  drawnSummary,
  drawnValue,
  joinExtremes,
  type Line,
  type Summary,
  splitAtChanges,
  summarize,
} from '../queries/series/window.ts'
import { AmbiguousSeries } from '../queries/seriesPaths.ts'
import { causeLinks } from './causeLinks.ts'
import { counterpartLink, readCounterpart } from './counterpart.ts'
import { lackingText } from './lackingText.ts'
import { rangeFields } from './rangeFields.ts'
import { readRevisionsPart, revisionsSection } from './revisionsPage.ts'
import { seriesNotes } from './seriesNotes.ts'

const MAX_LISTED_INTERVALS = 20
const HOURS = [...Array(24).keys()]

/** The longest range of which all values are read at once, and the most values in it: two months, every two minutes. */
const MAX_EXAMINED_S = 62 * DAY
const MAX_VALUES = 45_000

/** Computes the totals of a range, or of its whole local days if it is long, and the share of it with values. */
async function readTotals(db: Reader, dataset: Line, range: Interval, fetchId: number | null) {
  const isLong = range.to - range.from > MAX_EXAMINED_S
  const borders = isLong
    ? periodBorders(dataset.zone, range, 'day')
    : await splitAtChanges(db, dataset, [range.from, range.to])
  const summaries = await summarize(db, dataset, borders, fetchId, isLong ? 'days' : 'values')
  const days = summaries.map(([period, summary]): Summary => [period, drawnSummary(dataset, summary)])
  const totals = days.map(([, extremes]) => extremes).reduce(joinExtremes)
  const share = totals.seconds / days.reduce((sum, [{ from, to }]) => sum + to - from, 0)
  return { ...totals, days, share }
}

/** Reads the totals of a range, and when its extremes first occur. */
async function readFigures(db: Reader, dataset: Line, range: Interval, fetchId: number | null) {
  const { mean, sum, min, max, days, share } = await readTotals(db, dataset, range, fetchId)
  /** The value as it is drawn, with its first period. */
  const find = async (key: 'min' | 'max', value: number | null) => {
    const near = days.find(([, extremes]) => extremes[key] === value)?.[0]
    if (value === null || !near) return undefined
    const values = await readKnownValues(db.kysely, { ...dataset, from: near.from, to: near.to }, fetchId, MAX_VALUES)
    // The first of them, as all are of one kind.
    const drawn = values.flatMap((known) =>
      known.value === null ? [] : { ...known, value: drawnValue(dataset, known) },
    )
    const extreme = Math[key](...drawn.map((known) => known.value!))
    const found = drawn.find((known) => known.value === extreme)
    return { value, at: found?.at ?? near.from, step: found?.step ?? null }
  }
  return { mean, sum, share, low: await find('min', min), high: await find('max', max) }
}

/** The mean or sum of a compared line in the range, and the share of it with values. */
async function readMainFigure(db: Reader, line: ComparedLine['line'], { from, to }: Interval) {
  const { shift, zone, fetchId, measure } = line
  const range = shift ? { from: moveByShift(zone, from, shift), to: moveByShift(zone, to, shift) } : { from, to }
  const { mean, sum, share } = await readTotals(db, line, range, fetchId)
  return { value: measure === 'energy' ? sum : mean, share }
}

/** Mistakes in the form. */
const MISTAKES = ['ambiguous', 'third-unit', 'not-found', 'bad-time', 'bad-range', 'bad-parameter'] as const

/** The series that an ambiguous name may mean, each with the names that replace those of the form. */
const offerSeries = ({ cause: { text, candidates } }: AmbiguousSeries, names: readonly string[]) =>
  candidates.map(({ path, name }) => {
    const replace = (part: string) => (part.replace(/:\d+$/, '') === text ? path + part.slice(text.length) : part)
    return { name: `${path} ${name}`, with: names.map(replace).join(',') }
  })

/** Describes a mistake in the form; throws any other error. */
function describeProblem(error: unknown, { query, words }: PageRequest) {
  const names = comparedNames(query)
  const unknown = error instanceof NotFound ? error.series : null
  const code = MISTAKES.find((name) => name === (error instanceof NotFound ? 'not-found' : (error as InputError).code))
  if (!code) throw error
  return {
    code,
    message: (error as Error).message,
    text: code === 'not-found' ? words.series.noSeries : addressText(error as InputError, words),
    offered: error instanceof AmbiguousSeries ? offerSeries(error, names) : [],
    leftOut: error instanceof ThirdUnit ? error.cause.name : unknown,
  }
}

/** Reads the moments of the versions to compare; notes a mistake. */
function readVintageMoments({ query }: PageRequest, { zone }: NamedLine, note: (error: unknown) => void) {
  try {
    return requestedVintages(zone, query)
  } catch (error) {
    note(error)
    return undefined
  }
}

/** Reads the form. A mistake is a problem; then a wrong time, geo or choice counts as the default, and a wrong name as none. */
async function readForm(request: PageRequest) {
  const problems: ReturnType<typeof describeProblem>[] = []
  const note = (error: unknown): void => void problems.push(describeProblem(error, request))
  const { params, query } = request
  const dataset = await readNamedGeoSeries(request, params.id, query.get('geo')).catch((error) => {
    if (!(error instanceof UnknownGeo)) throw error
    note(badParameter('geo', query.get('geo') ?? '', geoList(error.geos)))
    return readNamedGeoSeries(request, params.id, null)
  })
  try {
    checkChoices(query)
  } catch (error) {
    note(error)
  }
  const chartQuery = await readRangeAndMoment(request, dataset).catch((error) => {
    note(error)
    return readRangeAndMoment({ ...request, query: new URLSearchParams() }, dataset)
  })
  const compared = await readCompared(request, chartQuery, note)
  return { dataset, chartQuery, compared, vintages: readVintageMoments(request, dataset, note), problems }
}

/** Reads the data of the page of a series. */
async function readSeriesPage(request: PageRequest) {
  const { store, now } = request
  const { dataset, chartQuery, compared: lines, vintages, problems } = await readForm(request)
  const { range, days, asOf } = chartQuery
  const compared = await withStates(request, lines, range)
  const states = await readStates(request, dataset, range)
  const named = compared.flatMap(({ line }) => (line.shift === undefined ? line : []))
  const latest = (await latestValue.first(store.kysely, { series: dataset.seriesId, geo: dataset.geoId, now })) ?? null
  const chart = await readChart(request, chartQuery, states, compared)
  const changes = await readChanges(store, dataset, range)
  const open = states.filter(({ state }) => state !== 'final')
  const causes = await readCauses(
    store,
    dataset.seriesId,
    open.slice(0, MAX_LISTED_INTERVALS).map((part) => ({ ...part, geoId: dataset.geoId })),
  )
  return {
    dataset,
    /** The value now, or the last one before. */
    latest,
    freshness: await readFreshness(request, dataset),
    /** Why it never had a value. */
    lacking: await readLacking(request, dataset),
    range,
    days,
    asOf,
    neighbours: rangeLinks(dataset.zone, range, lastShown(dataset, now)),
    changes,
    /** Published pages show only the present. */
    revisions: request.isLive ? await readRevisionsPart(request, chartQuery, changes, vintages) : null,
    chart,
    figures: await readFigures(store, dataset, range, asOf?.fetchId ?? null),
    /** The means or sums of the compared lines. */
    comparedFigures: await Promise.all(compared.map(({ line }) => readMainFigure(store, line, range))),
    table: await readRows(request, chartQuery, compared),
    /** The parts of the range that are not final, in order. */
    open,
    /** The last requests for the listed ones. */
    causes,
    /** The same of the compared lines, at the times at which they are drawn. */
    compared: compared.map(({ name, path, line, open }) => ({
      name,
      path: path ?? dataset.path,
      geoId: line.geoId,
      open,
    })),
    problems,
    /** Its forecast, or what it forecasts. */
    counterpart: await readCounterpart(request, dataset),
    sql: selectStatement(chartQuery, [dataset, ...named], chosenUnit(request, range)),
    commands: [dataset, ...named].flatMap((line) => showCommand(chartQuery, line) ?? []),
  }
}

type PageData = Awaited<ReturnType<typeof readSeriesPage>>

const seriesTitle = ({ indicator, name }: NamedLine): string => `${indicator} ${name}`

/** Creates addresses of this page with changed parameters. The range of the page stays relative if it is. */
function linker({ dataset, range: shown, days }: PageData, { link, query, path }: PageRequest) {
  const kept: Query = {
    geo: dataset.geoId,
    asof: query.get('asof') ?? undefined,
    with: comparedNames(query).join(',') || undefined,
    vintages: query.getAll('vintages').join(',') || undefined,
    ...readChoices(query),
  }
  return (range: Interval, changed: Query = {}, to = path): string =>
    link(to, { ...kept, ...(range === shown && days ? { last: days } : rangeQuery(dataset.zone, range)), ...changed })
}

type Here = ReturnType<typeof linker>

/** Links to other ranges. */
function spans({ neighbours, dataset, range, days: shownDays }: PageData, here: Here, request: PageRequest): Html {
  const { words, now, query } = request
  const { series: labels, common } = words
  const { zone, first, last, path, geoId } = dataset
  const isShown = ({ from, to }: Interval): boolean => from === range.from && to === range.to
  const span = (address: string, isCurrent: boolean, label: string): Html =>
    html`<a href="${address}"${isCurrent && html` aria-current="true"`}>${label}</a>\n`
  const show = (shown: Interval, label: string): Html => span(here(shown), shownDays === null && isShown(shown), label)
  // Their addresses stay the same tomorrow, as that without a range does; a fixed range of equal dates is another choice.
  const isFixed = ['from', 'to', 'day'].some((name) => query.get(name))
  const showLast = (days: number, label: string): Html => {
    const isCurrent = shownDays === days || (!isFixed && isShown(lastDays(zone, now, days)))
    return span(here(range, { from: undefined, to: undefined, last: days }), isCurrent, label)
  }
  const end = addUnits(zone, floorTo(zone, last ?? now, 'day'), 'day', 1)
  const lastYear = { from: addLocal(zone, range.from, 'year', -1), to: addLocal(zone, range.to, 'year', -1) }
  return html`<nav class="spans" data-part="spans" aria-label="${labels.range}">
${showLast(7, labels.lastWeek)}${showLast(30, labels.lastMonth)}${neighbours.spans.map(([name, span]) => show(span, labels.spans[name]))}${first !== null && show({ from: floorTo(zone, first, 'day'), to: end }, labels.all)}
<a rel="prev" href="${here(neighbours.previous)}">‹ <span>${common.previous}</span></a>
<a rel="next" href="${here(neighbours.next)}"><span>${common.next}</span> ›</a>
${first !== null && lastYear.to > first && show(lastYear, labels.lastYear)}
<a href="${here(range, {}, `/api/csv/${path}/${geoId}`)}" download>${labels.csv}</a>
${pictureLinks(request, here(range, {}, `/series/${path}.svg`), chartFileName(dataset, range))}
</nav>`
}

/** The moments of changes in words; an upper limit has a sign. */
const changeMoments = ({ changes, dataset }: PageData, { words: { series: labels }, locale }: PageRequest) =>
  changes.map(({ at, run, written, exact }) => ({
    at,
    text: `${momentText(dataset.zone, at)} · ${labels.run(String(run))} · ${labels.change(`${exact ? '' : '≤ '}${countText({ locale }, written)}`)}`,
  }))

/** The form; its fields go into the address. */
function chooser(data: PageData, here: Here, request: PageRequest): Html {
  const { query, path, words } = request
  const { series: labels, common } = words
  const { dataset, asOf, problems, chart, neighbours } = data
  const { zone } = dataset
  const moments = changeMoments(data, request)
  // A moment between two changes is listed too.
  const isListed = asOf === null || moments.some(({ at }) => at === asOf.moment)
  const other = isListed ? [] : [{ at: asOf.moment, text: momentText(zone, asOf.moment) }]
  const choices = [...moments, ...other]
    .sort((a, b) => (a.at < b.at ? -1 : 1))
    .map(({ at, text }) => [at, text] as const)
  const fields = rangeFields(
    data,
    {
      isWrong: problems.some(({ code }) => code === 'bad-time' || code === 'bad-range'),
      neighbours: [here(neighbours.previous), here(neighbours.next)],
    },
    request,
  )
  const names = comparedNames(query)
  const { shift, by, difference } = readChoices(query)
  const shifts = (Object.keys(SHIFTS) as Shift[]).map((name) => [name, labels.shifts[name]] as const)
  const units = PERIOD_UNITS.map((unit) => [unit, labels.levels[unit]] as const)
  const geos = dataset.geos.map(({ id, name }) => [id, name ?? id] as const)
  return html`<form class="choose" method="get" action="${path}">
<label>${common.geo} <select name="geo">${options(geos, dataset.geoId)}</select></label>
${fields}
<label>${labels.asOf} <select name="asof" id="asof">${options([...choices, ['', labels.now]], asOf?.moment ?? '')}</select></label>
${names.map((name) => problems.length === 0 && html`<input type="hidden" name="with" value="${name}">`)}
<span class="pick"><label for="with">${labels.with}</label> <input name="with" id="with" size="24" data-pick="path" autocomplete="off" value="${problems.length > 0 && names.join(',')}" aria-describedby="with-hint">${suggestionList('suggested', request)}</span>
<label>${labels.shift} <select name="shift">${options<string>([['', labels.noShift], ...shifts], shift ?? '')}</select></label>
<label>${labels.by} <select name="by">${options<string>([['', labels.asStored], ...units], by ?? '')}</select></label>
${chart.compared.length > 0 && html`<label><input type="checkbox" name="difference" value="1"${difference && html` checked`}> ${labels.difference}</label>`}
<button>${common.show}</button>
<small id="with-hint" class="soft">${labels.withHint} <span id="at-once">${labels.atOnce}</span></small>
</form>`
}

/** Links to the geos, for a page without a server and so without a form. */
const geoLinks = ({ dataset }: PageData, { words, link, path }: PageRequest): HtmlPart =>
  dataset.geos.length > 1 &&
  html`<nav class="spans" aria-label="${words.common.geo}">${dataset.geos.map(
    ({ id, name }) =>
      html`<a href="${link(path, { geo: id })}"${id === dataset.geoId && html` aria-current="true"`}><bdi>${name ?? id}</bdi></a> `,
  )}</nav>`

/** Links to the files beside a written page. */
const fileLinks = ({ dataset: { path, geoId } }: PageData, { words, link }: PageRequest): Html =>
  html`<p class="spans"><a href="${link(`/series/${path}.csv`, { geo: geoId })}" download>${words.series.csv}</a>
<a href="${link(`/series/${path}.svg`, { geo: geoId })}" download>${words.charts.svg}</a></p>`

function chartLegend(data: PageData, here: Here, request: PageRequest): Html {
  const { chart, dataset, asOf, range, comparedFigures, changes } = data
  const { series: labels, common } = request.words
  const asKnown = asOf && labels.valuesThen(momentText(dataset.zone, asOf.moment))
  /** Removes a line by changing the address. */
  const remove = (changed: Query, name: string): HtmlPart =>
    request.isLive && html` <a class="remove" href="${here(range, changed)}" aria-label="${common.remove(name)}">×</a>`
  // A line without values says so, and where to fetch them.
  const nothingIn = (path: string, geo: number, from: number): Html =>
    html` <span class="bad">${labels.noValues}</span> <a href="${request.link(`/coverage/${path}`, request.isLive ? { geo, year: localDate(dataset.zone, from).slice(0, 4) } : {})}">${labels.mend}</a>`
  return html`<ul class="legend" data-part="legend">
<li class="now${asOf && ' faint'}">${chart.compared.length > 0 ? serviceText(placeName(dataset)) : labels.values}${chart.unit && ` (${chart.unit})`}</li>
${asKnown && html`<li class="then">${asKnown}${chart.before?.segments.length === 0 && html` <span class="bad">${labels.noValues}</span>${changes[0] && ` ${labels.storedSince(momentText(dataset.zone, changes[0].at))}`}`}</li>`}
<li class="band" id="bucket" data-own${chart.bucket === null && html` hidden`}>${chart.bucket}</li>
${chart.states.some(([, , state]) => state === 'provisional') && html`<li><span class="cell provisional" aria-hidden="true">${SIGNS.provisional}</span> ${common.states.provisional}, ${common.mayChange}</li>`}
${chart.states.some(([, , state]) => state === 'withdrawn') && html`<li><span class="cell withdrawn" aria-hidden="true">${SIGNS.withdrawn}</span> ${common.states.withdrawn}</li>`}
${chart.compared.map((compared, i) => {
  const { name, unit, valueUnit, path, drawn, line } = compared
  const others = seriesNames(chart.compared.filter((_, n) => n !== i)) || undefined
  const main = comparedFigures[i]
  const figure =
    typeof main?.value === 'number' &&
    ` · ${(line.measure === 'energy' ? labels.sum : labels.mean).toLowerCase()} ${valueText(main.value, request.locale)}${valueUnit !== unit ? ` ${valueUnit}` : ''}${coveredText(main.share, request)}`
  return html`<li class="with-${i}">${path === null ? html`<bdi>${name}</bdi>` : html`<a href="${request.link(`/series/${path}`)}"><bdi>${name}</bdi></a>`}${unit && ` (${unit})`}${asKnown && ` ${asKnown}`}${figure}${drawn.segments.length === 0 && nothingIn(path ?? dataset.path, line.geoId, line.shift ? moveByShift(line.zone, range.from, line.shift) : range.from)}${remove(path === null ? { shift: undefined } : { with: others }, name)}</li>`
})}
${chart.difference !== null && html`<li class="difference"><bdi>${chart.difference.name}</bdi>${dataset.unit && ` (${dataset.unit})`}${remove({ difference: undefined }, chart.difference.name)}</li>`}
</ul>`
}

/** How much of a range has values, if not all of it. */
const coveredText = (share: number, { words, locale }: PageRequest): string =>
  share > 0.995 ? '' : ` · ${words.series.covered(share.toLocaleString(locale, { style: 'percent' }))}`

/** The value now, and the mean and the extremes of the range; as of a past moment only the latter. */
function keyFigures({ latest, asOf, range, figures, dataset }: PageData, request: PageRequest): Html {
  const { mean, sum, share, low, high } = figures
  const { unit, zone, measure } = dataset
  const { locale, words, now } = request
  const { series: labels } = words
  const value = (number: number | null | undefined, detail?: HtmlPart, of = unit): HtmlPart =>
    typeof number === 'number' && html`${valueText(number, locale)} <span class="soft">${of} ${detail}</span>`
  // An energy is that of its period.
  const period = ({ at, step }: { readonly at: number; readonly step: number | null }): string =>
    `${timeText(zone, at)}${measure === 'energy' && step !== null ? `, ${lengthText(step)}` : ''}`
  const days = `${daysText(request, range.from, range.to)}${coveredText(share, request)}`
  const isOver = latest !== null && latest.at + latest.step_s <= now
  const latestLabel = isOver ? labels.lastValue : labels.latest
  const main =
    asOf === null
      ? value(latest?.value, latest && period({ at: latest.at, step: latest.step_s }))
      : html`${momentText(zone, asOf.moment)} <span class="soft">${asOf.fetchedAt && labels.fetchedAt(momentText(zone, asOf.fetchedAt))}</span>`
  return facts([
    [asOf !== null ? labels.asOf : latestLabel, main, 'main'],
    // Energies of periods that may differ have no mean.
    measure === 'energy' ? [labels.sum, value(sum, days)] : [labels.mean, value(mean, days)],
    [labels.low, value(low?.value, low && period(low), unitOfExtremes(dataset))],
    [labels.high, value(high?.value, high && period(high), unitOfExtremes(dataset))],
  ])
}

/** How far the values reach; if newer ones are missing, why, and what requests them. A published page does not know the time. */
function freshnessLine({ freshness, lacking, dataset }: PageData, request: PageRequest): HtmlPart {
  if (lacking !== null) return html`<p class="bad">${lackingText(lacking, lacking.jobFiles, request)}</p>`
  if (freshness === null || !request.isLive) return null
  const { endAt, usualS, missing } = freshness
  const { series: labels, common } = request.words
  const behindS = request.now - endAt
  const length = roughLength(request, behindS)
  const usual = usualS === null ? null : roughLength(request, Math.abs(usualS))
  const usually = usual !== null && usualS !== null && labels.usually(usualS < 0 ? common.ahead(usual) : usual)
  if (missing === null) {
    const age = behindS < 0 ? common.ahead(length) : common.ago(length)
    const time = html`<time${behindS >= 0 && html` data-ago`} datetime="${formatUtc(endAt)}" title="${timeText(dataset.zone, endAt)}">${age}</time>`
    return html`<p class="soft">${labels.lastValue} ${time}</p>`
  }
  const states = { ...common.states, ...labels.states }
  return html`<p class="warn">${[`${states[missing.state]}: ${length}`, usually].filter(Boolean).join(', ')}</p>${missing.command !== null && command(request.command(missing.command))}`
}

/** The slider over past states, for a script. */
const slider = ({ words: { series: labels, common } }: PageRequest): Html =>
  html`<div id="slider" class="slider" data-own hidden><label>${labels.asOf} <input type="range" id="moment" min="0" step="1" list="moments"></label><button type="button" aria-label="${common.previous}">‹</button><button type="button" aria-label="${common.next}">›</button> <input type="datetime-local" aria-label="${labels.asOf}"> <output for="moment"></output> <span></span><datalist id="moments"></datalist></div>`

/** The chart: drawn by the server, then again by a script. */
function picture(data: PageData, here: Here, request: PageRequest): Html {
  const { dataset, range, chart } = data
  const { words, isLive, link, locale } = request
  const { series: labels, common } = words
  const { zone, path, geoId } = dataset
  const label = labels.label(seriesTitle(dataset), timeText(zone, range.from), timeText(zone, range.to))
  const lines = [chart.now, chart.before, ...chart.compared.map(({ drawn }) => drawn)]
  const isNothing = lines.every((drawn) => !drawn || drawn.segments.length === 0)
  const isEarly = range.from >= Math.max(dataset.last ?? 0, floorTo(zone, request.now, 'day'))
  const embedded = {
    chart,
    label,
    locale,
    name: placeName(dataset),
    changes: changeMoments(data, request),
    api: link(`/api/series/${path}/${geoId}`),
    geo: String(geoId),
    with: seriesNames(chart.compared),
    carpet: link(`/api/carpet/${path}/${geoId}`),
    explain: here(range, {}, `/explain/${path}/${geoId}/`),
    words: {
      now: labels.now,
      difference: labels.difference,
      unfinished: labels.unfinished,
      failed: labels.failed,
      explainValue: labels.explainValue,
      zoomIn: labels.zoomIn,
      states: { ...common.states, ...labels.states },
      differ: labels.differ('{0}', '{1}', '{2}'),
      thenValue: labels.thenValue('{}'),
      neverChanged: labels.neverChanged,
      noHour: labels.noHour,
      carpetMuch: labels.carpetMuch,
      carpetSigned: labels.carpetSigned('{0}', '{1}'),
    },
  }
  return html`<section class="panel" aria-labelledby="chart-title">
<h2 id="chart-title" class="quiet">${common.chart}</h2>
${isLive ? spans(data, here, request) : fileLinks(data, request)}
${isLive ? chooser(data, here, request) : geoLinks(data, request)}
${chartLegend(data, here, request)}
${counterpartLink(data.counterpart, chart.compared, (names) => here(range, { with: names }), request)}
<p class="${isEarly ? 'soft' : 'bad'}"${!isNothing && html` hidden`}>${isEarly ? labels.notYet : labels.nothing}${request.isLive && html` <a href="${link(request.path, { geo: geoId })}">${labels.newest}</a>`}</p>
<div id="chart" data-own>${figure(seriesDrawing(chart), label, locale)}${comparisonFigures(chart, request)}<div class="tip" aria-hidden="true" hidden></div><p class="card"><button type="button"></button> <button type="button">${labels.knownBefore}</button></p></div>
${differenceText(chart.difference, request)}
${isLive && html`${slider(request)}<p id="cursor" role="status" data-own></p><p id="keys" class="soft">${labels.keys}</p>${jsonScript('data', embedded)}`}
</section>`
}

/** Commands and SQL for the same data. */
function elsewhere({ dataset, range, sql, commands }: PageData, here: Here, request: PageRequest): Html {
  const { words, isLive, link } = request
  const { series: labels } = words
  return html`<section data-part="same" aria-labelledby="same">
<h2 id="same">${words.common.same}</h2>
${isLive && html`<p><a href="${here(range, {}, `/api/csv/${dataset.path}/${dataset.geoId}`)}">${labels.csv}</a></p>`}
${commands.length > 0 && html`<p>${labels.command}</p><pre>${commands.map((command) => `${request.command(command)}\n`)}</pre>`}
<p>${labels.sql}${isLive && html` · <a href="${link('/sql', { sql })}">/sql</a>`}</p><pre>${sql}</pre>
</section>`
}

/** A line with the parts of the range that are not final; `causes`: the last requests for the first of them. */
type OpenLine = PageData['compared'][number] & { readonly causes?: PageData['causes'] }

/** The missing and provisional intervals of a line, and where to read about them. */
function intervalsOf(
  { open, causes, path, geoId }: OpenLine,
  { dataset: { zone }, range }: PageData,
  request: PageRequest,
): Html {
  const { words, link, isLive, now } = request
  const { series: labels, common } = words
  const states = { ...common.states, ...labels.states }
  return html`<ul class="intervals">${open
    .slice(0, MAX_LISTED_INTERVALS)
    .map(
      ({ from, to, state, missing, nextAt }, i) =>
        html`<li><span class="mark state-${state}" aria-hidden="true">${SIGNS[state]}</span> ${states[state]}: ${timeText(zone, from)} – ${timeText(zone, to)}${missing !== null && ` · ${labels.missing(missing)}`}${nextAt && ` · ${parseInstant(nextAt) > now ? labels.again(momentText(zone, nextAt)) : labels.due}`} ${state !== 'provisional' && causeLinks(causes?.[i] ?? null, request)}</li>\n`,
    )}</ul>
${open.length > MAX_LISTED_INTERVALS && html`<p>${labels.more(open.length - MAX_LISTED_INTERVALS)}</p>`}
<p><a href="${link(`/coverage/${path}`, isLive ? { geo: geoId, year: localDate(zone, range.from).slice(0, 4) } : {})}">${labels.mend}</a></p>`
}

/** The missing and provisional intervals of every line. */
function openIntervals(data: PageData, request: PageRequest): HtmlPart {
  const { open, causes, dataset, compared } = data
  const lines: OpenLine[] = [
    { name: placeName(dataset), path: dataset.path, geoId: dataset.geoId, open, causes },
    ...compared,
  ]
  const listed = lines.filter((line) => line.open.length > 0)
  if (listed.length === 0) return null
  return html`<section aria-labelledby="open">
<h2 id="open">${request.words.series.open}</h2>
${listed.map((line) => [compared.length > 0 && html`<h3><bdi>${line.name}</bdi></h3>`, intervalsOf(line, data, request)])}
</section>`
}

/** The table of the chart. Each row has a link. */
function rowsTable(data: PageData, here: Here, request: PageRequest): Html {
  const { dataset, asOf, chart } = data
  const { level, rows } = data.table
  const { words, locale } = request
  const { series: labels } = words
  const { zone, path, geoId, unit, measure } = dataset
  const isSingle = level === 'values'
  const period = (at: number): string =>
    level === 'values' || level === 'hour'
      ? timeText(zone, at)
      : localDate(zone, at).slice(0, { day: 10, week: 10, month: 7, year: 4 }[level])
  // Summaries are rounded by their magnitude; values have as many decimals as any of them needs, at most three.
  const decimals = mostDecimals(rows.map(({ mean }) => mean))
  // A summary of a part of its period has a mark: it does not compare with the others.
  let isMarked = false
  const number = (
    head: HtmlPart,
    read: (row: ChartTableRow) => readonly [value: number | null | undefined, seconds?: number | undefined],
  ): Column<ChartTableRow> => [
    head,
    (row) => {
      const [value, seconds = row.to - row.from] = read(row)
      if (typeof value !== 'number') return ''
      if (isSingle) return numberText(value, locale, decimals)
      const isPart = seconds < 0.995 * (row.to - row.from)
      isMarked ||= isPart
      return `${isPart ? '* ' : ''}${valueText(value, locale)}`
    },
    'number',
  ]
  /** A column of values that says of a withdrawn one when that was, and what it was. */
  const withWithdrawn = ([head, cell, style]: Column<ChartTableRow>): Column<ChartTableRow> => [
    head,
    (row) =>
      row.withdrawn
        ? html`${SIGNS.withdrawn} <span class="soft">${labels.withdrawn(momentText(zone, row.withdrawn.withdrawnAt), numberText(row.withdrawn.was, locale, decimals))}</span>`
        : cell(row),
    style ?? '',
  ]
  const asKnown = asOf && labels.valuesThen(momentText(zone, asOf.moment))
  const { difference } = chart
  const summaryLabel = measure === 'energy' ? labels.sum : labels.mean
  const ofExtremes = dataset.isPerHour ? ` (${unitOfExtremes(dataset)})` : ''
  const hasLengths = isSingle && new Set(rows.map(({ from, to }) => to - from)).size > 1
  const columns: (Column<ChartTableRow> | false)[] = [
    [
      labels.period,
      (row) =>
        html`<a href="${isSingle ? here(data.range, {}, `/explain/${path}/${geoId}/${row.from}`) : here(row)}">${period(row.from)}</a>`,
    ],
    withWithdrawn(number(isSingle ? labels.value : summaryLabel, ({ mean, seconds }) => [mean, seconds])),
    hasLengths && [labels.lasts, ({ from, to }) => lengthText(to - from), 'number'],
    !isSingle && number(`${labels.low}${ofExtremes}`, ({ min }) => [min]),
    !isSingle && number(`${labels.high}${ofExtremes}`, ({ max }) => [max]),
    !isSingle && [labels.count, ({ count }) => countText(request, count), 'number'],
    !isSingle && measure === 'power' && number(html`${labels.energy} (MWh)`, ({ energy }) => [energy]),
    asKnown !== null && number(asKnown, ({ before, secondsBefore }) => [before, secondsBefore]),
    asOf !== null && number(labels.difference, (row) => [revisedBy(row)]),
    ...chart.compared.map(({ name, valueUnit }, i) =>
      number(html`${serviceText(name)}${valueUnit && ` (${valueUnit})`}${asKnown && ` ${asKnown}`}`, (row) => [
        row.compared?.[i],
        row.comparedSeconds?.[i],
      ]),
    ),
    difference !== null &&
      number(html`${labels.difference}${unit && ` (${unit})`}${asKnown && ` ${asKnown}`}`, (row) => [
        differenceTo(row, difference.of, asOf !== null),
      ]),
  ]
  const caption = html`<caption>${labels.levels[level]}${unit && `, ${unit}`}</caption>`
  const shown = table(labels.table, rows, columns, { style: 'values', caption })
  return html`<section data-part="table"><h2>${labels.table}</h2>
${shown}${isMarked && html`<p class="soft">* ${labels.partial}</p>`}</section>`
}

/** `/series/600`: the current and past values of a series. */
export const seriesView = view({
  read: readSeriesPage,
  status({ problems: [first] }) {
    if (first === undefined) return 200
    return first.code === 'not-found' ? 404 : 400
  },
  title: ({ dataset }) => `${seriesTitle(dataset)}${dataset.geo.name === null ? '' : ` · ${dataset.geo.name}`}`,
  show(data, request) {
    const { dataset, problems, chart } = data
    const { words, isLive } = request
    const { series: labels, common } = words
    const { zone, first, last, geo, unit, trunc, agg, geoAgg, geoTrunc } = dataset
    const here = linker(data, request)
    const stored =
      first !== null && last !== null ? labels.held(timeText(zone, first), timeText(zone, last)) : labels.nothing
    return html`<div data-part="reach">${freshnessLine(data, request)}</div><p class="soft">${geo.name === null && `${common.geo} ${geo.id} · `}${unit && html`<bdi>${unit}</bdi> · `}${groupingText(request, trunc, agg, geoAgg, geoTrunc) || common.native} · ${stored}${isLive && dataset.name !== `${dataset.kind} ${dataset.indicator}` && html` · <a href="${request.link(`/texts/${dataset.kind}/${dataset.indicator}`)}">${labels.description}</a>`}</p>
${keyFigures(data, request)}
${problems.map(({ text, leftOut, offered }) => html`<p class="bad" role="alert">${text}${leftOut !== null && html` <bdi>${leftOut}</bdi>`}${offered.map((series) => html` <a href="${here(data.range, { with: series.with })}">${serviceText(series.name)}</a>`)}</p>`)}
<div data-part="notes">${seriesNotes(data, request)}</div>
${picture(data, here, request)}
<div data-part="open">${chart.steps.map(([at, step]) => html`<p class="soft">${labels.steps(timeText(zone, at), lengthText(step))}</p>`)}${openIntervals(data, request)}</div>
${
  isLive &&
  html`<details id="carpet" class="carpet"><summary>${labels.carpet}</summary><div data-own><p role="status"></p>
<figure hidden><div class="cells"><div class="hours" aria-hidden="true">${HOURS.map((hour) => html`<span>${hour % 6 === 0 && padTwo(hour)}</span>`)}</div><canvas role="img" tabindex="0" aria-label="${labels.carpet}. ${labels.carpetHint}"></canvas></div>
<div class="days-axis" aria-hidden="true"></div><p class="soft scale"><b></b> ${HOURS.slice(0, 10).map(() => html`<span></span>`)} <b></b> <small></small></p><p role="status"></p></figure></div></details>`
}
${rowsTable(data, here, request)}
<div data-part="revisions">${data.revisions && revisionsSection({ dataset, range: data.range, revisions: data.revisions, here: (changed) => here(data.range, changed) }, request)}</div>
${elsewhere(data, here, request)}`
  },
})
