import { type RawBuilder, sql } from 'kysely'
import type { SeriesRange } from '../../../db/engine.ts'
import type { Reader } from '../../../db/store.ts'
import { DAY, formatMillis } from '../../../util/time/instant.ts'
import type { Interval } from '../../../util/time/interval.ts'
import { includesGeo, type Line } from './window.ts'

/** The most days of which every value is examined. For more, requests are counted, with all geos of their windows. */
export const MAX_EXAMINED_DAYS = 400

/** Whether every value of a range is examined. */
export const isExamined = ({ from, to }: Interval): boolean => to - from <= MAX_EXAMINED_DAYS * DAY

/** Whether a row of a table has a value of a range. */
export const isIn = (alias: string, { seriesId, geoId, from, to }: SeriesRange): RawBuilder<unknown> => {
  const column = (name: string) => sql.ref(`${alias}.${name}`)
  return sql`${column('series_id')} = ${seriesId} and ${column('geo_id')} = ${geoId} and ${column('at')} >= ${from} and ${column('at')} < ${to}`
}

/** A fetch that changed something, and the number of values that it wrote. */
type FetchCount = readonly [fetchId: number, written: number]

/** Counts the versions of values that each fetch wrote in an interval. A fetch may only have withdrawn values. */
async function countVersions({ kysely }: Reader, line: Line, { from, to }: Interval): Promise<FetchCount[]> {
  const key = { series_id: line.seriesId, geo_id: line.geoId }
  const current = await kysely
    .selectFrom('observation')
    .select(({ fn }) => ['fetch_id', fn.countAll<number>().as('n')])
    .where((eb) => eb.and([eb.and(key), eb('at', '>=', from), eb('at', '<', to)]))
    .groupBy('fetch_id')
    .execute()
  const ended = await kysely
    .selectFrom('observation_revision')
    .select(({ fn }) => ['fetch_id', 'superseded_by', fn.countAll<number>().as('n')])
    .where((eb) => eb.and([eb.and(key), eb('at', '>=', from), eb('at', '<', to)]))
    .groupBy(['fetch_id', 'superseded_by'])
    .execute()
  return [
    ...[...current, ...ended].map(({ fetch_id, n }) => [fetch_id, n] as const),
    ...ended.map(({ superseded_by }) => [superseded_by, 0] as const),
  ]
}

/** Counts what fetches wrote whose windows overlap an interval. */
async function countFetches({ kysely }: Reader, line: Line, { from, to }: Interval): Promise<FetchCount[]> {
  const rows = await kysely
    .selectFrom('_fetch')
    .select(['id', 'geo_ids', 'rows_new', 'rows_revised', 'rows_withdrawn'])
    .where('series_id', '=', line.seriesId)
    .where((eb) => eb.or([eb('from_at', 'is', null), eb('from_at', '<', to)]))
    .where((eb) => eb.or([eb('to_at', 'is', null), eb('to_at', '>', from)]))
    .where((eb) => eb(eb('rows_new', '+', eb('rows_revised', '+', eb.ref('rows_withdrawn'))), '>', 0))
    .execute()
  return rows
    .filter(({ geo_ids }) => includesGeo(geo_ids, line.geoId))
    .map((row) => [row.id, row.rows_new + row.rows_revised])
}

/**
 * Reads the runs that changed something in an interval, in order. `at`: when their last change was recorded. `before`: the moment just
 * before their first one. `exact`: whether the counts are not upper limits.
 */
export async function readChanges(db: Reader, line: Line, range: Interval) {
  const exact = isExamined(range)
  const counts = Map.groupBy(await (exact ? countVersions : countFetches)(db, line, range), ([id]) => id)
  const ids = [...counts.keys()]
  if (ids.length === 0) return []
  const fetches = await db.kysely
    .selectFrom('_fetch')
    .select(['id', 'run_id as run', 'finished_at as at'])
    .where('series_id', '=', line.seriesId)
    .where('id', '>=', Math.min(...ids))
    .where('id', '<=', Math.max(...ids))
    .orderBy('id')
    .execute()
  const runs = Map.groupBy(
    fetches.filter(({ id }) => counts.has(id)),
    ({ run }) => run,
  )
  const changes = [...runs].map(([run, changing]) => {
    const first = changing[0]!
    const { id: fetchId, at } = changing.at(-1)!
    const before = formatMillis(Date.parse(first.at) - 1)
    const written = changing.flatMap(({ id }) => counts.get(id)!).reduce((sum, [, count]) => sum + count, 0)
    return { run, at, before, firstFetchId: first.id, fetchId, written, exact }
  })
  return changes.sort((a, b) => a.fetchId - b.fetchId)
}

export type Change = Awaited<ReturnType<typeof readChanges>>[number]
