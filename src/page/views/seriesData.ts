import { readKnownValues } from '../../db/queries/values.ts'
import type { Reader } from '../../db/store.ts'
import type { InputError } from '../../util/errors.ts'
import { DAY } from '../../util/time/instant.ts'
import type { Interval } from '../../util/time/interval.ts'
import { addressText } from '../elements.ts'
import { countText, momentText } from '../formats.ts'
import { badParameter, NotFound, type PageRequest, type Query } from '../page.ts'
import { readCauses } from '../queries/causes.ts'
import { readStates } from '../queries/intervals.ts'
import { geoList } from '../queries/names.ts'
import { periodBorders } from '../queries/periods.ts'
import { readChanges } from '../queries/series/changes.ts'
import { readChart } from '../queries/series/chart.ts'
import { readRows } from '../queries/series/chartTable.ts'
import { comparedNames, readCompared, ThirdUnit, withStates } from '../queries/series/compared.ts'
import { readFreshness, readLacking } from '../queries/series/freshness.ts'
import { type ComparedLine, chosenUnit } from '../queries/series/lines.ts'
import {
  checkChoices,
  lastShown,
  latestValue,
  moveByShift,
  type NamedLine,
  neighbouringRanges,
  rangeQuery,
  readChoices,
  readNamedLine,
  readRangeAndMoment,
  requestedVintages,
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
import { readCounterpart } from './counterpart.ts'
import { readRevisionsPart } from './revisionsPage.ts'

/* The data of the page of a series, and the addresses of the page. */

/** The most intervals of a line that are listed. */
export const MAX_LISTED_INTERVALS = 20

/** The longest range of which all values are read at once, and the most values in it: two months, every two minutes. */
const MAX_EXAMINED_S = 62 * DAY
const MAX_VALUES = 45_000

/** Computes the totals of a range, or of its whole local days if it is long, and the share of it with values. */
async function readTotals(db: Reader, line: Line, range: Interval, fetchId: number | null) {
  const isLong = range.to - range.from > MAX_EXAMINED_S
  const borders = isLong
    ? periodBorders(line.zone, range, 'day')
    : await splitAtChanges(db, line, [range.from, range.to])
  const summaries = await summarize(db, line, borders, fetchId, isLong ? 'days' : 'values')
  const days = summaries.map(([period, summary]): Summary => [period, drawnSummary(line, summary)])
  const totals = days.map(([, extremes]) => extremes).reduce(joinExtremes)
  const share = totals.seconds / days.reduce((sum, [{ from, to }]) => sum + to - from, 0)
  return { ...totals, days, share }
}

/** Reads the totals of a range, and when its extremes first occur. */
async function readFigures(db: Reader, line: Line, range: Interval, fetchId: number | null) {
  const { mean, sum, min, max, days, share } = await readTotals(db, line, range, fetchId)
  /** Finds the first period that has an extreme, with its value as it is drawn. */
  const find = async (key: 'min' | 'max', value: number | null) => {
    const near = days.find(([, extremes]) => extremes[key] === value)?.[0]
    if (value === null || !near) return undefined
    const values = await readKnownValues(db.kysely, { ...line, from: near.from, to: near.to }, fetchId, MAX_VALUES)
    const drawn = values.flatMap((known) => (known.value === null ? [] : { ...known, value: drawnValue(line, known) }))
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
  const line = await readNamedLine(request, params.id, query.get('geo')).catch((error) => {
    if (!(error instanceof UnknownGeo)) throw error
    note(badParameter('geo', query.get('geo') ?? '', geoList(error.geos)))
    return readNamedLine(request, params.id, null)
  })
  try {
    checkChoices(query)
  } catch (error) {
    note(error)
  }
  const chartQuery = await readRangeAndMoment(request, line).catch((error) => {
    note(error)
    return readRangeAndMoment({ ...request, query: new URLSearchParams() }, line)
  })
  const compared = await readCompared(request, chartQuery, note)
  return { line, chartQuery, compared, vintages: readVintageMoments(request, line, note), problems }
}

/** Reads the data of the page of a series. */
export async function readSeriesPage(request: PageRequest) {
  const { store, now } = request
  const { line, chartQuery, compared: lines, vintages, problems } = await readForm(request)
  const { range, days, asOf } = chartQuery
  const compared = await withStates(request, lines, range)
  const states = await readStates(request, line, range)
  const named = compared.flatMap(({ line }) => (line.shift === undefined ? line : []))
  const latest = (await latestValue.first(store.kysely, { series: line.seriesId, geo: line.geoId, now })) ?? null
  const chart = await readChart(request, chartQuery, states, compared)
  const changes = await readChanges(store, line, range)
  const open = states.filter(({ state }) => state !== 'final')
  const causes = await readCauses(
    store,
    line.seriesId,
    open.slice(0, MAX_LISTED_INTERVALS).map((part) => ({ ...part, geoId: line.geoId })),
  )
  return {
    /** The line, by its name in the JSON of the page. */
    dataset: line,
    /** The value of the series now, or the last one before. */
    latest,
    freshness: await readFreshness(request, line),
    /** Why the series never had a value. */
    lacking: await readLacking(request, line),
    range,
    days,
    asOf,
    neighbours: neighbouringRanges(line.zone, range, lastShown(line, now)),
    changes,
    /** Published pages show only the present. */
    revisions: request.isLive ? await readRevisionsPart(request, chartQuery, changes, vintages) : null,
    chart,
    figures: await readFigures(store, line, range, asOf?.fetchId ?? null),
    /** The means or sums of the compared lines. */
    comparedFigures: await Promise.all(compared.map(({ line }) => readMainFigure(store, line, range))),
    table: await readRows(request, chartQuery, compared),
    /** The parts of the range that are not final, in order. */
    open,
    /** The last requests for the first of these parts. */
    causes,
    /** The parts of compared lines that are not final, at the times at which they are drawn. */
    compared: compared.map(({ name, path, line: other, open }) => ({
      name,
      path: path ?? line.path,
      geoId: other.geoId,
      open,
    })),
    problems,
    /** The forecast of the series, or what the series forecasts. */
    counterpart: await readCounterpart(request, line),
    sql: selectStatement(chartQuery, [line, ...named], chosenUnit(request, range)),
    commands: [line, ...named].flatMap((each) => showCommand(chartQuery, each) ?? []),
  }
}

export type SeriesPageData = Awaited<ReturnType<typeof readSeriesPage>>

export const seriesTitle = ({ indicator, name }: NamedLine): string => `${indicator} ${name}`

/** Creates addresses of this page with changed parameters. A range of the last days stays relative to today. */
export function linker({ dataset: line, range: shown, days }: SeriesPageData, { link, query, path }: PageRequest) {
  const kept: Query = {
    geo: line.geoId,
    asof: query.get('asof') ?? undefined,
    with: comparedNames(query).join(',') || undefined,
    vintages: query.getAll('vintages').join(',') || undefined,
    ...readChoices(query),
  }
  return (range: Interval, changed: Query = {}, to = path): string =>
    link(to, { ...kept, ...(range === shown && days ? { last: days } : rangeQuery(line.zone, range)), ...changed })
}

export type Here = ReturnType<typeof linker>

/** The moments of changes in words; an upper limit has a sign. */
export const changeMoments = (
  { changes, dataset: line }: SeriesPageData,
  { words: { series: labels }, locale }: PageRequest,
) =>
  changes.map(({ at, run, written, exact }) => {
    const count = `${exact ? '' : '≤ '}${countText({ locale }, written)}`
    return { at, text: [momentText(line.zone, at), labels.run(String(run)), labels.change(count)].join(' · ') }
  })

/** The share of a range that has values, in words; empty if all of it has. */
export const coveredText = (share: number, { words, locale }: PageRequest): string =>
  share > 0.995 ? '' : ` · ${words.series.covered(share.toLocaleString(locale, { style: 'percent' }))}`
