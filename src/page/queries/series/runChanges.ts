import type { Reader } from '../../../db/store.ts'
import type { Interval } from '../../../util/time/interval.ts'
import { type GeoSeries, isForGeo } from './window.ts'

/** A run that changed something in an interval, so that other values were known after it than before. */
interface RunChange {
  readonly run: number
  readonly job: string
  /** When its last answer that changed something was recorded (UTC, to the millisecond). */
  readonly at: string
  readonly fetchId: number
  /** Values that it brought: new ones, and new versions of stored ones. Withdrawn ones count in `replaced`. */
  readonly brought: number
  /** Values that it replaced or withdrew. */
  readonly replaced: number
  /** Whether the numbers are those of this geo in this interval, not the most that they can be. */
  readonly exact: boolean
}

/** The most days of which every value is examined; for more, the records of the requests are used, which count all geos of their windows. */
const LOOKED_AT = 400

/** How many versions of values each fetch brought and ended in an interval. */
async function countVersions(
  { kysely }: Reader,
  { seriesId, geoId }: GeoSeries,
  { from, to }: Interval,
): Promise<Map<number, { brought: number; replaced: number }>> {
  const counts = new Map<number, { brought: number; replaced: number }>()
  const add = (id: number, brought: number, replaced: number): void => {
    const before = counts.get(id) ?? { brought: 0, replaced: 0 }
    counts.set(id, { brought: before.brought + brought, replaced: before.replaced + replaced })
  }
  const held = await kysely
    .selectFrom('observation')
    .select(({ fn }) => ['fetch_id', fn.countAll<number>().as('n')])
    .where((of) => of.and({ series_id: seriesId, geo_id: geoId }))
    .where('at', '>=', from)
    .where('at', '<', to)
    .groupBy('fetch_id')
    .execute()
  for (const { fetch_id, n } of held) add(fetch_id, n, 0)
  const ended = await kysely
    .selectFrom('observation_revision')
    .select(({ fn }) => ['fetch_id', 'superseded_by', fn.countAll<number>().as('n')])
    .where((of) => of.and({ series_id: seriesId, geo_id: geoId }))
    .where('at', '>=', from)
    .where('at', '<', to)
    .groupBy(['fetch_id', 'superseded_by'])
    .execute()
  for (const { fetch_id, superseded_by, n } of ended) {
    add(fetch_id, n, 0)
    add(superseded_by, 0, n)
  }
  return counts
}

/** The fetches that changed something in windows that overlap an interval. */
async function countFetches(
  { kysely }: Reader,
  { seriesId, geoId }: GeoSeries,
  { from, to }: Interval,
): Promise<Map<number, { brought: number; replaced: number }>> {
  const rows = await kysely
    .selectFrom('_fetch')
    .select(['id', 'geo_ids', 'rows_new', 'rows_revised', 'rows_withdrawn'])
    .where('series_id', '=', seriesId)
    .where((of) => of.or([of('from_at', 'is', null), of('from_at', '<', to)]))
    .where((of) => of.or([of('to_at', 'is', null), of('to_at', '>', from)]))
    .where((of) => of(of('rows_new', '+', of('rows_revised', '+', of.ref('rows_withdrawn'))), '>', 0))
    .execute()
  return new Map(
    rows
      .filter(({ geo_ids }) => isForGeo(geo_ids, geoId))
      .map(({ id, rows_new, rows_revised, rows_withdrawn }) => [
        id,
        { brought: rows_new + rows_revised, replaced: rows_revised + rows_withdrawn },
      ]),
  )
}

/** The runs that changed something in an interval, in order: between two of them, the known values did not change. */
export async function readChanges(db: Reader, line: GeoSeries, range: Interval): Promise<RunChange[]> {
  const few = range.to - range.from <= LOOKED_AT * 86_400
  const counts = await (few ? countVersions : countFetches)(db, line, range)
  const ids = [...counts.keys()].sort((a, b) => a - b)
  if (ids.length === 0) return []
  const fetches = await db.kysely
    .selectFrom('_fetch as f')
    .leftJoin('_run as r', 'r.id', 'f.run_id')
    .select(['f.id', 'f.run_id as run', 'f.finished_at as at', 'r.job'])
    .where('f.series_id', '=', line.seriesId)
    .where('f.id', '>=', ids[0]!)
    .where('f.id', '<=', ids.at(-1)!)
    .orderBy('f.id')
    .execute()
  const changes: RunChange[] = []
  for (const { id, run, at, job } of fetches) {
    const counted = counts.get(id)
    if (!counted) continue
    const { brought, replaced } = counted
    const last = changes.at(-1)?.run === run ? changes.pop()! : { brought: 0, replaced: 0 }
    changes.push({
      run,
      job: job ?? '',
      at,
      fetchId: id,
      brought: last.brought + brought,
      replaced: last.replaced + replaced,
      exact: few,
    })
  }
  return changes
}
