import type { Reader } from '../../db/store.ts'
import type { FetchOutcome } from '../../db/tables/codes.ts'
import { ALL_GEOS } from '../../db/tables/codes.ts'
import { hull, type Interval, overlaps } from '../../util/time/interval.ts'
import { includesGeo } from './series/window.ts'

/** The last request for a gap, with its run. */
export interface Cause {
  readonly fetch: number
  readonly run: number
  readonly outcome: FetchOutcome
  /** The HTTP status; null without a response. */
  readonly status: number | null
  /** UTC. */
  readonly at: string
  /** How many rows of the response are in quarantine, and the id of the newest. */
  readonly rejected: number
  readonly reject: number | null
}

/** Outcomes of requests that say nothing about a gap: others replaced them, or they were not sent. */
const SAY_NOTHING: readonly FetchOutcome[] = ['coarse', 'too-large', 'stopped']

/** Finds the last request of a series for each gap of a geo; null if there was none. */
export async function readCauses(
  { kysely }: Reader,
  seriesId: number,
  gaps: readonly (Interval & { readonly geoId: number })[],
): Promise<(Cause | null)[]> {
  if (gaps.length === 0) return []
  const extent = hull(gaps)
  const windows = await kysely
    .selectFrom('_fetch')
    .select(['id', 'from_at as from', 'to_at as to', 'geo_ids'])
    .where('series_id', '=', seriesId)
    .where('from_at', '<', extent.to)
    .where('to_at', '>', extent.from)
    .where('outcome', 'not in', SAY_NOTHING)
    .orderBy('id', 'desc')
    .$narrowType<Interval>()
    .execute()
  const found = gaps.map((gap) =>
    windows.find((one) => overlaps(one, gap) && (gap.geoId === ALL_GEOS || includesGeo(one.geo_ids, gap.geoId))),
  )
  const ids = [...new Set(found.flatMap((one) => one?.id ?? []))]
  if (ids.length === 0) return gaps.map(() => null)
  const fetches = await kysely
    .selectFrom('_fetch as f')
    .leftJoin('_quarantine as q', (on) => on.onRef('q.fetch_id', '=', 'f.id').on('q.resolved_at', 'is', null))
    .select(['f.id as fetch', 'f.run_id as run', 'f.outcome', 'f.status', 'f.finished_at as at'])
    .select(({ fn }) => [fn.count<number>('q.id').as('rejected'), fn.max('q.id').as('reject')])
    .where('f.id', 'in', ids)
    .groupBy(['f.id', 'f.run_id', 'f.outcome', 'f.status', 'f.finished_at'])
    .execute()
  const byId = new Map(fetches.map((row) => [row.fetch, { ...row, rejected: Number(row.rejected) }]))
  return found.map((one) => byId.get(one?.id ?? 0) ?? null)
}
