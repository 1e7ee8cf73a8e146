import type { Extremes } from '../../../db/engine.ts'
import type { Reader } from '../../../db/store.ts'
import type { Measure } from '../../../db/tables/sql/expressions.ts'
import { DAY, HOUR } from '../../../util/time/instant.ts'
import type { Interval } from '../../../util/time/interval.ts'
import { addUnits, floorTo, localClock, localDate, offsetAt, transitions, type Unit } from '../../../util/time/zone.ts'
import type { PageRequest } from '../../page.ts'
import { timeTicks } from '../../timeTicks.ts'
import type { ChartState } from '../intervals.ts'
import { findSeriesPath } from '../seriesPaths.ts'
import { type ChartQuery, type NamedGeoSeries, readNamedGeoSeries } from './seriesQuery.ts'
import { type GeoSeries, isForGeo, localDays, readDays, readWindow, sixDigits, together } from './window.ts'

/** Columns of the picture that is part of a page; a script requests as many as it has. */
const USUAL_COLUMNS = 300
const MOST_COLUMNS = 1_000
/** The most parts of an interval whose states are sent. */
const MOST_STATES = 400
/** The most series beside the first one. */
const MOST_COMPARED = 5

/** The offsets of a zone in a range: the one at its beginning, and the changes. */
const offsetsOf = (zone: string, { from, to }: Interval): [number, number][] => {
  const rows = transitions(zone)
  const first = rows.findLastIndex(({ at }) => at <= from)
  return rows
    .filter(({ at }, i) => i === Math.max(0, first) || (at > from && at < to))
    .map(({ at, offset }) => [Math.max(at, from), offset])
}

const readSteps = async ({ store }: PageRequest, { seriesId }: NamedGeoSeries, { from, to }: Interval) =>
  (
    await store.kysely
      .selectFrom('_resolution')
      .select(['from_at', 'step_s'])
      .where('series_id', '=', seriesId)
      .where('from_at', '>', from)
      .where('from_at', '<', to)
      .orderBy('from_at')
      .execute()
  ).map(({ from_at, step_s }) => [from_at, step_s] as const)

/** The series to compare with, from an address: `612`, `612:3` with a geo, or a name. Commas separate them; spaces separate numbers only. */
export const comparedNames = (query: URLSearchParams): string[] =>
  query
    .getAll('with')
    .flatMap((text) => text.split(','))
    .flatMap((part) => (/^[s\d:\s]+$/.test(part) ? part.split(/\s+/) : part.trim()))
    .filter((name, i, all) => name !== '' && all.indexOf(name) === i)
    .slice(0, MOST_COMPARED)

/** The series to compare with; each in the geo of the first one, where it has that and no other is named. */
export async function readCompared(request: PageRequest, { geoId }: NamedGeoSeries, range: Interval) {
  const found = []
  for (const named of comparedNames(request.query)) {
    const [, name = '', geo] = /^(.*?)(?::(\d+))?$/.exec(named) ?? []
    const any = await readNamedGeoSeries(request, await findSeriesPath(request, name), geo ?? null)
    const place = geo === undefined ? (any.geos.find(({ id }) => id === geoId) ?? any.geo) : any.geo
    const line = { seriesId: any.seriesId, geoId: place.id, zone: any.zone }
    const drawn = await readWindow(request.store, line, range, chartColumns(request.query), null)
    found.push({ path: any.path, name: any.name, geo: place.name, unit: any.unit, drawn, line })
  }
  return found
}

type ComparedSeries = Awaited<ReturnType<typeof readCompared>>[number]

/** The number of columns of the requested picture. */
export const chartColumns = (query: URLSearchParams): number => {
  const columns = Number(query.get('px') ?? USUAL_COLUMNS)
  return Number.isFinite(columns) ? Math.min(MOST_COLUMNS, Math.max(50, Math.round(columns))) : USUAL_COLUMNS
}

/** All data of the requested chart, with the states of each part of the range. */
export async function readChart(
  request: PageRequest,
  { dataset, range, asOf: then }: ChartQuery,
  states: readonly ChartState[],
  compared: readonly ComparedSeries[],
) {
  const { store, query } = request
  const columns = chartColumns(query)
  return {
    ...range,
    zone: dataset.zone,
    unit: dataset.unit,
    /** The offset of the zone in seconds at the beginning, and each later one, with the instant from which it holds. */
    offsets: offsetsOf(dataset.zone, range),
    ticks: timeTicks(dataset.zone, range, request.locale),
    now: await readWindow(store, dataset, range, columns, null),
    /** The values as known at a past moment; null where none is requested. */
    before: then && (await readWindow(store, dataset, range, columns, then.fetchId)),
    asOf: then?.moment ?? null,
    compared,
    states: states
      .filter(({ state }) => state !== 'final')
      .slice(0, MOST_STATES)
      .map(({ from, to, state }) => [from, to, state] as const),
    /** The changes of the series' step: the instant, and the step from there on in seconds. */
    steps: await readSteps(request, dataset, range),
  }
}

/** All data of a chart, as it is sent to the browser. */
export type ChartData = Awaited<ReturnType<typeof readChart>>

/** What a row of the table beside a chart is: a single value, or a local hour, day, month or year. */
type TableLevel = 'values' | 'hour' | 'day' | 'month' | 'year'

/** A row of the table beside a chart. */
export interface ChartTableRow extends Interval, Omit<Extremes, 'seconds' | 'sum'> {
  /** In MWh, of a period with several values; left out where values are no energy. */
  readonly energy?: number | null
  /** The mean as it was known at a past moment; left out where none is given. */
  readonly before?: number | null
  /** The means of the series that are compared; left out where there are none. */
  readonly compared?: readonly (number | null)[]
}

/** How many single values are listed. */
const MOST_SINGLE = 100
/** A series with how its energy follows from its values, if that is wanted. */
type MeasuredSeries = GeoSeries & { readonly measure?: Measure | null }
/** The longest interval, in days, that is shown by each step. */
const LONGEST = { hour: 3, day: 62, month: 5 * 366, year: Number.POSITIVE_INFINITY }

/** A row of a period with several values. */
function rowOf(
  { from, to }: Interval,
  { sum, seconds, ...extremes }: Extremes,
  measure: Measure | null,
): ChartTableRow {
  const row = { from, to, ...extremes }
  if (measure === null) return row
  return { ...row, energy: measure === 'energy' ? sum : row.mean === null ? null : (row.mean * seconds) / 3600 }
}

/** The values of a range by local steps: current, or as known after a fetch. */
async function byUnit(db: Reader, line: MeasuredSeries, range: Interval, unit: Unit, fetchId: number | null) {
  const { zone, measure = null } = line
  const borders = [floorTo(zone, range.from, unit)]
  while (borders.at(-1)! < range.to) borders.push(addUnits(zone, borders.at(-1)!, unit, 1))
  if (unit === 'hour') {
    const found = await db.engine.extremes(line, borders, fetchId)
    return found.map((extremes, i) => rowOf({ from: borders[i]!, to: borders[i + 1]! }, extremes, measure))
  }
  const whole = { from: borders[0]!, to: borders.at(-1)! }
  const days = Map.groupBy(await readDays(db, line, whole, fetchId), ([{ day, month }]) =>
    unit === 'day' ? day : unit === 'month' ? month : Math.floor(month / 12),
  )
  return [...days.values()].map((some) => {
    const period = { from: some[0]![0].from, to: some.at(-1)![0].to }
    return rowOf(period, some.map(([, one]) => one).reduce(together), measure)
  })
}

/** The values of a range one by one: current, or as known after a fetch; undefined where there are too many. */
async function singleValues(db: Reader, line: GeoSeries, range: Interval, fetchId: number | null) {
  const values = await db.engine.knownValues({ ...line, ...range }, fetchId, MOST_SINGLE + 1)
  if (values.length > MOST_SINGLE) return undefined
  return values.map(({ at, value, step }): ChartTableRow => {
    const count = value === null ? 0 : 1
    return { from: at, to: at + step, count, min: value, max: value, mean: value }
  })
}

/** The table of a range: current values, and beside them those known after a fetch, and those of other series. */
export async function readRows(
  db: Reader,
  line: MeasuredSeries,
  range: Interval,
  fetchId: number | null,
  others: readonly GeoSeries[] = [],
) {
  const few = await singleValues(db, line, range, null)
  const fewThen = few && fetchId !== null ? await singleValues(db, line, range, fetchId) : []
  const days = (range.to - range.from) / 86_400
  const unit = (['hour', 'day', 'month', 'year'] as const).find((one) => days <= LONGEST[one])!
  const level: TableLevel = few && fewThen ? 'values' : unit
  const read = async (of: MeasuredSeries, then: number | null) =>
    (level === 'values' ? await singleValues(db, of, range, then) : await byUnit(db, of, range, unit, then)) ?? []
  const now = level === 'values' ? few! : await read(line, null)
  const then = fetchId === null ? [] : await read(line, fetchId)
  const known = new Set(now.map(({ from }) => from))
  // Values that were known then and have been withdrawn.
  const withdrawn = then
    .filter(({ from }) => !known.has(from))
    .map(({ from, to }): ChartTableRow => ({ from, to, count: 0, min: null, max: null, mean: null }))
  const before = new Map(then.map(({ from, mean }) => [from, mean]))
  const beside: ReadonlyMap<number, number | null>[] = []
  // Another series may have shorter periods: its means over those of the first one.
  const borders = [...new Set(now.flatMap(({ from, to }) => [from, to]))].sort((a, b) => a - b)
  for (const other of others) {
    const means =
      level === 'values'
        ? (await db.engine.extremes(other, borders, null)).map(({ mean }, i) => [borders[i]!, mean] as const)
        : (await read(other, null)).map(({ from, mean }) => [from, mean] as const)
    beside.push(new Map(means))
  }
  const rows = [...now, ...withdrawn].map((row) => ({
    ...row,
    ...(fetchId === null ? {} : { before: before.get(row.from) ?? null }),
    ...(others.length === 0 ? {} : { compared: beside.map((means) => means.get(row.from) ?? null) }),
  }))
  return { level, rows: rows.sort((a, b) => a.from - b.from) }
}

/** The most days that are shown: a leap year. */
const MAX_CARPET_DAYS = 366

/** The place of an hour on the clock: twice its number, and one more if the clocks show it for the second time. */
function placeOf(zone: string, at: number): number {
  const [hour, before] = [at, at - HOUR].map((one) => localClock(zone, one).slice(0, 13)) as [string, string]
  return 2 * Number(hour.slice(11)) + Number(hour === before && offsetAt(zone, at - HOUR) > offsetAt(zone, at))
}

/**
 * Reads the mean of every hour of the days of an interval: null where there is no value, false where the day has no such hour.
 * Null where there are too many days for a picture.
 */
export async function readCarpet(db: Reader, line: GeoSeries, range: Interval, fetchId: number | null) {
  const { zone } = line
  if ((range.to - range.from) / DAY > MAX_CARPET_DAYS) return null
  const days = localDays(zone, range)
  const hours = days.flatMap(({ from, to }, day) =>
    Array.from({ length: Math.ceil((to - from) / HOUR) }, (_, i) => {
      const at = from + i * HOUR
      return { day, at, key: placeOf(zone, at) }
    }),
  )
  const end = days.at(-1)?.to ?? range.to
  const found = await db.engine.extremes(line, [...hours.map(({ at }) => at), end], fetchId)
  const everyDay = Array.from({ length: 24 }, (_, hour) => 2 * hour)
  const keys = [...new Set([...everyDay, ...hours.map(({ key }) => key)])].sort((a, b) => a - b)
  const cells: (number | null | false)[][] = days.map(() => keys.map(() => false))
  for (const [i, { day, key }] of hours.entries()) cells[day]![keys.indexOf(key)] = sixDigits(found[i]!.mean)
  return {
    slots: keys.map((key) => ({ hour: key >> 1, again: key % 2 === 1 })),
    days: days.map(({ from }, day) => ({ date: localDate(zone, from), hours: cells[day]! })),
  }
}

/** The most days of which every value is examined; for more, the records of the requests are used, which count all geos of their windows. */
const LOOKED_AT = 400

/** How many values a fetch brought, and how many it replaced or withdrew. */
type FetchCount = readonly [fetchId: number, brought: number, replaced: number]

/** How many versions of values each fetch brought and ended in an interval. */
async function countVersions({ kysely }: Reader, line: GeoSeries, { from, to }: Interval): Promise<FetchCount[]> {
  const key = { series_id: line.seriesId, geo_id: line.geoId }
  const current = await kysely
    .selectFrom('observation')
    .select(({ fn }) => ['fetch_id', fn.countAll<number>().as('n')])
    .where((of) => of.and([of.and(key), of('at', '>=', from), of('at', '<', to)]))
    .groupBy('fetch_id')
    .execute()
  const ended = await kysely
    .selectFrom('observation_revision')
    .select(({ fn }) => ['fetch_id', 'superseded_by', fn.countAll<number>().as('n')])
    .where((of) => of.and([of.and(key), of('at', '>=', from), of('at', '<', to)]))
    .groupBy(['fetch_id', 'superseded_by'])
    .execute()
  return [
    ...[...current, ...ended].map(({ fetch_id, n }) => [fetch_id, n, 0] as const),
    ...ended.map(({ superseded_by, n }) => [superseded_by, 0, n] as const),
  ]
}

/** The fetches that changed something in windows that overlap an interval. */
async function countFetches({ kysely }: Reader, line: GeoSeries, { from, to }: Interval): Promise<FetchCount[]> {
  const rows = await kysely
    .selectFrom('_fetch')
    .select(['id', 'geo_ids', 'rows_new', 'rows_revised', 'rows_withdrawn'])
    .where('series_id', '=', line.seriesId)
    .where((of) => of.or([of('from_at', 'is', null), of('from_at', '<', to)]))
    .where((of) => of.or([of('to_at', 'is', null), of('to_at', '>', from)]))
    .where((of) => of(of('rows_new', '+', of('rows_revised', '+', of.ref('rows_withdrawn'))), '>', 0))
    .execute()
  return rows
    .filter(({ geo_ids }) => isForGeo(geo_ids, line.geoId))
    .map((row) => [row.id, row.rows_new + row.rows_revised, row.rows_revised + row.rows_withdrawn])
}

/**
 * The runs that changed something in an interval, in order: between two of them, the known values did not change. `at` is when the
 * last fetch that changed something was recorded; `exact`: whether the counts are those of this geo in this interval, not the most
 * that they can be.
 */
export async function readChanges(db: Reader, line: GeoSeries, range: Interval) {
  const exact = range.to - range.from <= LOOKED_AT * DAY
  const counts = Map.groupBy(await (exact ? countVersions : countFetches)(db, line, range), ([id]) => id)
  const ids = [...counts.keys()]
  if (ids.length === 0) return []
  const fetches = await db.kysely
    .selectFrom('_fetch as f')
    .leftJoin('_run as r', 'r.id', 'f.run_id')
    .select(['f.id', 'f.run_id as run', 'f.finished_at as at', 'r.job'])
    .where('f.series_id', '=', line.seriesId)
    .where('f.id', '>=', Math.min(...ids))
    .where('f.id', '<=', Math.max(...ids))
    .orderBy('f.id')
    .execute()
  const runs = Map.groupBy(
    fetches.filter(({ id }) => counts.has(id)),
    ({ run }) => run,
  )
  const changes = [...runs].map(([run, some]) => {
    const { id: fetchId, at, job } = some.at(-1)!
    const all = some.flatMap(({ id }) => counts.get(id)!)
    const sum = (place: 1 | 2): number => all.reduce((total, count) => total + count[place], 0)
    return { run, job: job ?? '', at, fetchId, brought: sum(1), replaced: sum(2), exact }
  })
  return changes.sort((a, b) => a.fetchId - b.fetchId)
}
