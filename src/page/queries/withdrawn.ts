import { sql } from 'kysely'
import type { Reader } from '../../db/store.ts'
import { EARLIEST, type Instant, LATEST } from '../../util/time/instant.ts'
import { type Interval, intersect, merge } from '../../util/time/interval.ts'

/** The most withdrawn values of a geo that are read. */
export const MAX_WITHDRAWN = 5_000

/** A stored value that a later response withdrew. */
export interface WithdrawnValue extends Interval {
  readonly geoId: number
  /** The value before its withdrawal. */
  readonly was: number
  /** When the withdrawal was recorded (UTC). */
  readonly withdrawnAt: string
}

/**
 * Reads the values of a series that were withdrawn and have not come back, in order of geo and time. Only the windows of requests that
 * withdrew something are searched. `hasMore`: whether a geo has more than `MAX_WITHDRAWN`, and so lacks the last ones.
 */
export async function readWithdrawn(
  { kysely }: Reader,
  seriesId: number,
  geoIds: readonly number[],
  range?: Interval,
): Promise<{ readonly values: readonly WithdrawnValue[]; readonly hasMore: boolean }> {
  const fetches = await kysely
    .selectFrom('_fetch')
    .select(['id', 'from_at', 'to_at'])
    .where('series_id', '=', seriesId)
    .where('rows_withdrawn', '>', 0)
    .execute()
  const everything = range ?? { from: EARLIEST, to: LATEST }
  const windows = fetches.flatMap(({ from_at, to_at }) =>
    intersect([everything], [{ from: from_at ?? EARLIEST, to: to_at ?? LATEST }]),
  )
  if (windows.length === 0) return { values: [], hasMore: false }
  const ids = sql.join(fetches.map(({ id }) => id))
  const places = geoIds.flatMap((geoId) => merge(windows).map((window) => ({ geoId, ...window })))
  const found = new Map(geoIds.map((geoId): [number, WithdrawnValue[]] => [geoId, []]))
  for (const { geoId, from, to } of places) {
    const values = found.get(geoId)!
    // A value that was withdrawn twice has its last withdrawal. One more value than are shown is read, to know whether there are more.
    const { rows } = await sql<{ at: Instant; value: number; step_s: number; withdrawnAt: string }>`
      select r.at, r.value, r.step_s, f.finished_at as "withdrawnAt"
      from observation_revision r
      join _fetch f on f.id = r.superseded_by
      where r.series_id = ${seriesId} and r.geo_id = ${geoId} and r.at >= ${from} and r.at < ${to}
        and r.superseded_by in (${ids}) and r.value is not null
        and not exists (select 1 from observation o where o.series_id = r.series_id and o.geo_id = r.geo_id and o.at = r.at)
        and not exists (
          select 1 from observation_revision n
          where n.series_id = r.series_id and n.geo_id = r.geo_id and n.at = r.at and n.superseded_by > r.superseded_by)
      order by r.at limit ${MAX_WITHDRAWN + 1 - values.length}`.execute(kysely)
    for (const { at, value, step_s, withdrawnAt } of rows)
      values.push({ geoId, from: at, to: at + step_s, was: value, withdrawnAt })
  }
  const byGeo = [...found.values()]
  return {
    values: byGeo.flatMap((values) => values.slice(0, MAX_WITHDRAWN)),
    hasMore: byGeo.some((values) => values.length > MAX_WITHDRAWN),
  }
}
