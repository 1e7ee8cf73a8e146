import { sql } from 'kysely'
import { geoNameColumn, indicatorNameColumn, seriesUnitColumn, unitColumn } from '../db/queries/catalogueNames.ts'
import type { Reader } from '../db/store.ts'
import { type Measure, measureSql } from '../db/tables/sql/expressions.ts'
import { daysFromCivil, type Instant } from '../util/time/instant.ts'
import type { Interval } from '../util/time/interval.ts'
import { type Month, monthInterval } from './changedMonths.ts'
import type { LakeRow } from './parquetFile.ts'

/** Rows in groups, so that no more are in memory at once than a series has in a month. */
export type LakeBlocks = AsyncIterable<readonly LakeRow[]> | Iterable<readonly LakeRow[]>

/** A series and geo, with the intervals in which it has values and superseded values. */
interface SeriesExtent {
  readonly seriesId: number
  readonly geoId: number
  /** How its energy follows from its values; null if they are no energy. */
  readonly measure: Measure | null
  readonly stored: Interval | null
  readonly superseded: Interval | null
}

/** Every series and geo in order, with the intervals of its values. */
export async function timelinesOf({ kysely }: Reader): Promise<SeriesExtent[]> {
  const rows = await kysely
    .selectFrom('series_geo as g')
    .innerJoin('series as s', 's.id', 'g.series_id')
    .select(['g.series_id as seriesId', 'g.geo_id as geoId'])
    .select(sql.raw<Measure | null>(measureSql('s')).as('measure'))
    .select(({ selectFrom }) => {
      const of = (table: 'observation' | 'observation_revision') =>
        selectFrom(table).whereRef('series_id', '=', 'g.series_id').whereRef('geo_id', '=', 'g.geo_id')
      const first = (table: 'observation' | 'observation_revision') =>
        of(table).select(({ fn }) => fn.min<Instant | null>('at').as('at'))
      const last = (table: 'observation' | 'observation_revision') =>
        of(table).select(({ fn }) => fn.max<Instant | null>('at').as('at'))
      return [
        first('observation').as('min0'),
        last('observation').as('max0'),
        first('observation_revision').as('min1'),
        last('observation_revision').as('max1'),
      ]
    })
    .orderBy('g.series_id')
    .orderBy('g.geo_id')
    .execute()
  const interval = (first: Instant | null, last: Instant | null): Interval | null =>
    first === null || last === null ? null : { from: first, to: last + 1 }
  return rows.map(({ seriesId, geoId, min0, max0, min1, max1, measure }) => ({
    seriesId,
    geoId,
    measure,
    stored: interval(min0, max0),
    superseded: interval(min1, max1),
  }))
}

/** When fetches were recorded, in epoch milliseconds; null for one that does not exist any more. */
type TimesOf = (fetches: Iterable<number>) => Promise<(fetch: number) => number | null>

/** Fetches that are looked up together: neighbours have values of the same nights. */
const NEIGHBOURS = 4096

/**
 * When fetches were recorded. There may be millions, of which a sync needs the latest: they are read in groups, when one of the
 * group is first needed, and kept as bare numbers.
 */
export function fetchTimes({ kysely }: Reader): TimesOf {
  const blocks = new Map<number, Float64Array>()
  const read = async (first: number): Promise<Float64Array> => {
    const times = new Float64Array(NEIGHBOURS).fill(Number.NaN)
    const rows = await kysely
      .selectFrom('_fetch')
      .select(['id', 'finished_at'])
      .where('id', '>=', first)
      .where('id', '<', first + NEIGHBOURS)
      .execute()
    for (const { id, finished_at } of rows) times[id - first] = Date.parse(finished_at)
    return times
  }
  const timeOf = (fetch: number): number | null => {
    const time = blocks.get(Math.floor(fetch / NEIGHBOURS))![fetch % NEIGHBOURS]!
    return Number.isNaN(time) ? null : time
  }
  return async (fetches) => {
    for (const fetch of fetches) {
      const block = Math.floor(fetch / NEIGHBOURS)
      if (!blocks.has(block)) blocks.set(block, await read(block * NEIGHBOURS))
    }
    return timeOf
  }
}

const touches = (a: Interval | null, b: Interval): boolean => a !== null && a.from < b.to && b.from < a.to

/** The values of a month, a block a series and geo. */
export async function* observations(
  { engine }: Reader,
  timelines: readonly SeriesExtent[],
  month: Month,
  timesOf: TimesOf,
): AsyncGenerator<LakeRow[]> {
  const interval = monthInterval(month)
  for (const { seriesId, geoId, stored } of timelines) {
    if (!touches(stored, interval)) continue
    const values = await engine.currentValues({ seriesId, geoId, ...interval })
    const timeOf = await timesOf(new Set(values.map(([, , , fetch]) => fetch)))
    yield values.map(([at, value, step, fetch]) => [seriesId, geoId, at * 1000, value, step, timeOf(fetch)])
  }
}

/** The superseded values of a month, a block a series and geo. */
export async function* revisions(
  { engine }: Reader,
  timelines: readonly SeriesExtent[],
  month: Month,
  timesOf: TimesOf,
): AsyncGenerator<LakeRow[]> {
  const interval = monthInterval(month)
  for (const { seriesId, geoId, superseded } of timelines) {
    if (!touches(superseded, interval)) continue
    const values = await engine.supersededValues({ seriesId, geoId, ...interval })
    const timeOf = await timesOf(new Set(values.flatMap(([, , , fetch, by]) => [fetch, by])))
    yield values.map(([at, value, step, fetch, by]) => [
      seriesId,
      geoId,
      at * 1000,
      value,
      step,
      timeOf(fetch),
      timeOf(by),
    ])
  }
}

/** The totals of the days of a year, a block a series and geo. */
export async function* days(
  { kysely }: Reader,
  timelines: readonly SeriesExtent[],
  year: number,
): AsyncGenerator<LakeRow[]> {
  for (const { seriesId, geoId, measure } of timelines) {
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
      const energy = measure === 'power' ? product : measure === 'energy' ? sum : null
      const avg = sum === null || hours === null ? null : storedEnergy === null ? sum / count : storedEnergy / hours
      const date = daysFromCivil(year, (month % 12) + 1, day)
      return [seriesId, geoId, date, count, min, max, avg, sum, energy, hours]
    })
  }
}

/** The small tables, each read at once. */
export const DIMENSIONS: Readonly<
  Record<'series' | 'indicator' | 'indicator_text' | 'geo' | 'time_zone_offset', (db: Reader) => Promise<LakeRow[]>>
> = {
  async series({ kysely }) {
    const rows = await kysely
      .selectFrom('series as s')
      .selectAll('s')
      .select([indicatorNameColumn('s.kind', 's.indicator_id'), seriesUnitColumn('s')])
      .orderBy('s.id')
      .execute()
    return rows.map((s) => [
      ...[s.id, s.kind, s.indicator_id, s.name, s.unit, s.time_trunc, s.time_agg],
      ...[s.geo_agg, s.geo_trunc, s.geo_ids, s.time_zone],
    ])
  },
  async indicator({ kysely }) {
    const rows = await kysely
      .selectFrom('indicator as i')
      .selectAll('i')
      .select([indicatorNameColumn('i.kind', 'i.id'), unitColumn('i.kind', 'i.id')])
      .orderBy('i.kind')
      .orderBy('i.id')
      .execute()
    return rows.map((i) => [
      ...[i.kind, i.id, i.name, i.unit, i.step_type, i.composited, i.disaggregated],
      i.withdrawn_at === null ? null : Date.parse(i.withdrawn_at),
    ])
  },
  async indicator_text({ kysely }) {
    const rows = await kysely
      .selectFrom('indicator_text')
      .select(['kind', 'id', 'locale', 'name', 'short_name', 'description_text'])
      .orderBy('kind')
      .orderBy('id')
      .orderBy('locale')
      .execute()
    return rows.map((t) => [t.kind, t.id, t.locale, t.name, t.short_name, t.description_text])
  },
  async geo({ kysely }) {
    const rows = await kysely
      .selectFrom('geo as g')
      .selectAll('g')
      .select(geoNameColumn('g.id', 'name'))
      .orderBy('g.id')
      .execute()
    return rows.map((g) => [g.id, g.level, g.name])
  },
  async time_zone_offset({ kysely }) {
    const rows = await kysely.selectFrom('time_zone_offset').selectAll().orderBy('zone').orderBy('from_at').execute()
    return rows.map((z) => [z.zone, z.from_at, z.to_at, z.offset_s])
  },
}
