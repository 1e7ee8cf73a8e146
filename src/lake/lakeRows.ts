import { type Kysely, sql } from 'kysely'
import { geoNameColumn, indicatorNameColumn, seriesUnitColumn, unitColumn } from '../db/queries/catalogueNames.ts'
import { readUnitChanges, unitAt } from '../db/queries/unitChanges.ts'
import { currentValues, supersededValues } from '../db/queries/values.ts'
import type { Reader } from '../db/store.ts'
import type { Database } from '../db/tables/schema.ts'
import { type Measure, measureSql } from '../db/tables/sql/expressions.ts'
import { daysFromCivil, type Instant } from '../util/time/instant.ts'
import { type Interval, overlaps } from '../util/time/interval.ts'
import { localDay } from '../util/time/localDay.ts'
import { type Month, monthInterval } from './changedMonths.ts'
import type { LakeRow } from './parquetFile.ts'

/** Rows in blocks, each at most of one series and month, to limit memory. */
export type LakeBlocks = AsyncIterable<readonly LakeRow[]> | Iterable<readonly LakeRow[]>

export type ValueTable = 'observation' | 'observation_revision'

/** A series and geo with the intervals in which it has values and superseded values. */
export interface LakeTimeline extends Readonly<Record<ValueTable, Interval | null>> {
  readonly seriesId: number
  readonly geoId: number
  /** The time zone of its local days. */
  readonly zone: string
  /** How its energy follows from its values; null if they are not energy. */
  readonly measure: Measure | null
}

/** Every series and geo in order. */
export async function readTimelines({ kysely }: Reader): Promise<LakeTimeline[]> {
  const rows = await kysely
    .selectFrom('series_geo as g')
    .innerJoin('series as s', 's.id', 'g.series_id')
    .select(['g.series_id as seriesId', 'g.geo_id as geoId', 's.time_zone as zone'])
    .select(sql.raw<Measure | null>(measureSql('s')).as('measure'))
    .select(({ selectFrom }) => {
      const bound = (table: ValueTable, end: 'min' | 'max') =>
        selectFrom(table)
          .whereRef('series_id', '=', 'g.series_id')
          .whereRef('geo_id', '=', 'g.geo_id')
          .select(({ fn }) => fn[end]<Instant | null>('at').as('at'))
      return [
        bound('observation', 'min').as('first'),
        bound('observation', 'max').as('last'),
        bound('observation_revision', 'min').as('firstRevision'),
        bound('observation_revision', 'max').as('lastRevision'),
      ]
    })
    .orderBy('g.series_id')
    .orderBy('g.geo_id')
    .execute()
  const interval = (first: Instant | null, last: Instant | null): Interval | null =>
    first === null || last === null ? null : { from: first, to: last + 1 }
  return rows.map(({ seriesId, geoId, zone, measure, first, last, firstRevision, lastRevision }) => ({
    seriesId,
    geoId,
    zone,
    measure,
    observation: interval(first, last),
    observation_revision: interval(firstRevision, lastRevision),
  }))
}

/** Loads the times of fetches (epoch milliseconds), and returns a function for them; null for a deleted fetch. */
type LoadTimes = (fetches: Iterable<number>) => Promise<(fetch: number) => number | null>

/** Fetches that are read together: neighbours have values of the same nights. */
const FETCHES_PER_BLOCK = 4096

/** Creates a cache of fetch times. There may be millions, of which a sync needs the latest, so blocks are read on demand. */
export function createFetchTimes({ kysely }: Reader): LoadTimes {
  const blocks = new Map<number, Float64Array>()
  const read = async (first: number): Promise<Float64Array> => {
    const times = new Float64Array(FETCHES_PER_BLOCK).fill(Number.NaN)
    const rows = await kysely
      .selectFrom('_fetch')
      .select(['id', 'finished_at'])
      .where('id', '>=', first)
      .where('id', '<', first + FETCHES_PER_BLOCK)
      .execute()
    for (const { id, finished_at } of rows) times[id - first] = Date.parse(finished_at)
    return times
  }
  const time = (fetch: number): number | null => {
    const ms = blocks.get(Math.floor(fetch / FETCHES_PER_BLOCK))![fetch % FETCHES_PER_BLOCK]!
    return Number.isNaN(ms) ? null : ms
  }
  return async (fetches) => {
    for (const fetch of fetches) {
      const block = Math.floor(fetch / FETCHES_PER_BLOCK)
      if (!blocks.has(block)) blocks.set(block, await read(block * FETCHES_PER_BLOCK))
    }
    return time
  }
}

/** The values or superseded values of a month, one block per series and geo. */
export async function* readValueRows(
  { kysely }: Reader,
  table: ValueTable,
  timelines: readonly LakeTimeline[],
  month: Month,
  loadTimes: LoadTimes,
): AsyncGenerator<LakeRow[]> {
  const interval = monthInterval(month)
  for (const { seriesId, geoId, [table]: extent } of timelines) {
    if (!extent || !overlaps(extent, interval)) continue
    const range = { seriesId, geoId, ...interval }
    const rows = await (table === 'observation' ? currentValues : supersededValues).all(kysely, range)
    const fetches = (row: { readonly fetch_id: number; readonly superseded_by?: number }): number[] =>
      row.superseded_by === undefined ? [row.fetch_id] : [row.fetch_id, row.superseded_by]
    const time = await loadTimes(new Set(rows.flatMap(fetches)))
    yield rows.map((row) => [seriesId, geoId, row.at * 1000, row.value, row.step_s, ...fetches(row).map(time)])
  }
}

/** The totals of the days of a year, one block per series and geo. */
export async function* readDayRows(
  { kysely }: Reader,
  timelines: readonly LakeTimeline[],
  year: number,
): AsyncGenerator<LakeRow[]> {
  const unitChanges = await readUnitChanges({ kysely })
  for (const { seriesId, geoId, measure: usualMeasure, zone } of timelines) {
    const changes = unitChanges.get(seriesId)
    const rows = await kysely
      .selectFrom('_day')
      .selectAll()
      .where('series_id', '=', seriesId)
      .where('geo_id', '=', geoId)
      .where('month', '>=', year * 12)
      .where('month', '<', year * 12 + 12)
      .orderBy('month')
      .orderBy('day')
      .execute()
    yield rows.map(({ month, day, count, hours, min, max, sum, energy: storedEnergy }) => {
      const product = storedEnergy ?? (sum === null || hours === null ? null : (sum * hours) / count)
      const date = daysFromCivil(year, (month % 12) + 1, day)
      const measure = changes ? (unitAt(changes, localDay(zone, date).from)?.measure ?? null) : usualMeasure
      const power = measure === 'power' ? product : null
      const energy = measure === 'energy' ? sum : power
      const hasValues = sum !== null && hours !== null
      const average = hasValues && storedEnergy !== null ? storedEnergy / hours : (sum ?? 0) / count
      return [seriesId, geoId, date, count, min, max, hasValues ? average : null, sum, energy, hours]
    })
  }
}

/** The queries of the small tables, with the columns of the lake in order. */
const DIMENSIONS = {
  series: (db: Kysely<Database>) =>
    db
      .selectFrom('series as s')
      .select(['s.id', 's.kind', 's.indicator_id', indicatorNameColumn('s.kind', 's.indicator_id')])
      .select([seriesUnitColumn('s'), 's.time_trunc', 's.time_agg', 's.geo_agg', 's.geo_trunc', 's.geo_ids'])
      .select('s.time_zone')
      .orderBy('s.id'),
  indicator: (db: Kysely<Database>) =>
    db
      .selectFrom('indicator as i')
      .select(['i.kind', 'i.id', indicatorNameColumn('i.kind', 'i.id'), unitColumn('i.kind', 'i.id')])
      .select(['i.step_type', 'i.composited', 'i.disaggregated', 'i.withdrawn_at'])
      .orderBy('i.kind')
      .orderBy('i.id'),
  indicator_text: (db: Kysely<Database>) =>
    db
      .selectFrom('indicator_text')
      .select(['kind', 'id', 'locale', 'name', 'short_name', 'description_text'])
      .orderBy('kind')
      .orderBy('id')
      .orderBy('locale'),
  geo: (db: Kysely<Database>) =>
    db
      .selectFrom('geo as g')
      .select(['g.id', 'g.level', geoNameColumn('g.id', 'name')])
      .orderBy('g.id'),
  time_zone_offset: (db: Kysely<Database>) =>
    db
      .selectFrom('time_zone_offset')
      .select(['zone', 'from_at', 'to_at', 'offset_s'])
      .orderBy('zone')
      .orderBy('from_at'),
}

export type DimensionName = keyof typeof DIMENSIONS
export const DIMENSION_NAMES = Object.keys(DIMENSIONS) as DimensionName[]

/** Reads a small table at once. */
export const readDimension = async ({ kysely }: Reader, name: DimensionName): Promise<LakeRow[]> =>
  (await DIMENSIONS[name](kysely).execute()).map((row) => Object.values(row))
