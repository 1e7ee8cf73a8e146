import { sql } from 'kysely'
import type { Reader } from '../../../db/store.ts'
import { DAY, type Instant } from '../../../util/time/instant.ts'
import type { Interval } from '../../../util/time/interval.ts'
import { includesGeo, type Line } from './window.ts'

/** The most days of which every value is examined. For more, requests are counted, with all geos of their windows. */
const MAX_EXAMINED_DAYS = 400

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
 * Reads the runs that changed something in an interval, in order. `at`: when their last change was recorded. `exact`: whether the
 * counts are not upper limits.
 */
export async function readChanges(db: Reader, line: Line, range: Interval) {
  const exact = range.to - range.from <= MAX_EXAMINED_DAYS * DAY
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
    const { id: fetchId, at } = changing.at(-1)!
    const written = changing.flatMap(({ id }) => counts.get(id)!).reduce((sum, [, count]) => sum + count, 0)
    return { run, at, fetchId, written, exact }
  })
  return changes.sort((a, b) => a.fetchId - b.fetchId)
}

/** The end of a version of a value; null: without a value. */
export interface Revision {
  readonly at: Instant
  readonly before: number | null
  readonly after: number | null
  /** Whether no value followed. */
  readonly isWithdrawn: boolean
  readonly recordedAt: string
}

/** Reads the latest revisions of an interval, and how many there are. */
export async function readRevisions({ kysely }: Reader, line: Line, { from, to }: Interval, limit: number) {
  if (to - from > MAX_EXAMINED_DAYS * DAY) return { revisions: [], revisionCount: 0 }
  const { rows } = await sql<Omit<Revision, 'isWithdrawn'> & { readonly next: Instant | null }>`
    select r.at, r.value as before, coalesce(o.value, n.value) as after, coalesce(o.at, n.at) as next,
      f.finished_at as "recordedAt"
    from observation_revision r
    join _fetch f on f.id = r.superseded_by
    left join observation o
      on o.series_id = r.series_id and o.geo_id = r.geo_id and o.at = r.at and o.fetch_id = r.superseded_by
    left join observation_revision n
      on n.series_id = r.series_id and n.geo_id = r.geo_id and n.at = r.at and n.fetch_id = r.superseded_by
    where r.series_id = ${line.seriesId} and r.geo_id = ${line.geoId} and r.at >= ${from} and r.at < ${to}
    order by r.superseded_by desc, r.at limit ${limit}`.execute(kysely)
  const revisions = rows.map(({ next, ...row }): Revision => ({ ...row, isWithdrawn: next === null }))
  if (rows.length < limit) return { revisions, revisionCount: rows.length }
  const { count } = await kysely
    .selectFrom('observation_revision')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where((eb) => eb.and({ series_id: line.seriesId, geo_id: line.geoId }))
    .where('at', '>=', from)
    .where('at', '<', to)
    .executeTakeFirstOrThrow()
  return { revisions, revisionCount: Number(count) }
}
