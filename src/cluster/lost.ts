import { numbersOf } from '../base/json.ts'
import { type Interval, merge, subtract } from '../base/time/interval.ts'
import { prepared } from '../db/prepared.ts'
import { createAnswered, isSeriesUnknown } from '../db/queries/answered.ts'
import { findSeries } from '../db/queries/seriesIdentity.ts'
import type { Store } from '../db/store.ts'
import {
  filteredGeos,
  identityRow,
  type PlannedRequest,
  type SeriesIdentity,
  seriesKey,
} from '../job/plannedRequest.ts'
import { createRequested, noteAll, type Requested } from '../plan/requested.ts'
import type { Service } from '../services/services.ts'
import { FETCH_OUTCOMES } from '../tables/sql/fetchOutcome.ts'
import type { Queue } from './queue.ts'
import { type QueuedRequest, readQueued, type UnderstoodRequest } from './queuedRequest.ts'

const recordedTarget = prepared((db, of: { after: number; target: string }) =>
  db
    .selectFrom('_fetch')
    .select('id')
    .where('id', '>', of.after)
    .where('target', '=', of.target)
    .where('outcome', 'not in', FETCH_OUTCOMES.unanswered)
    .limit(1),
)

const recordedSeries = prepared((db, of: { after: number; seriesId: number; from: number; to: number }) =>
  db
    .selectFrom('_fetch')
    .select(['geo_ids', 'from_at as from', 'to_at as to'])
    .where('id', '>', of.after)
    .where('series_id', '=', of.seriesId)
    .where('from_at', '<', of.to)
    .where('to_at', '>', of.from)
    .where('outcome', 'not in', FETCH_OUTCOMES.unanswered)
    .$narrowType<Interval>(),
)

/** A planned request for a window of a series. */
type Ranged = PlannedRequest & { readonly series: SeriesIdentity; readonly window: Interval }

const isRanged = (planned: PlannedRequest): planned is Ranged => planned.series !== null && planned.window !== null

/** Intervals of a window, geo by geo. */
type Parts = readonly { readonly geoId: number; readonly intervals: readonly Interval[] }[]

/** What was requested of a window, and of which neither an answer nor a failure is recorded since an answer. */
async function lostParts({ kysely }: Store, planned: Ranged, before: Requested, after: number): Promise<Parts> {
  const { series, window, geoIds } = planned
  const known = await findSeries(kysely, identityRow(series))
  // What the service does not know is not requested again and again, and nobody lost it.
  if (known && (await isSeriesUnknown(kysely, after, known.id))) return []
  const rows = known ? await recordedSeries.all(kysely, { after, seriesId: known.id, ...window }) : []
  const key = seriesKey(series)
  return geoIds
    .map((geoId) => {
      const recorded = rows.filter(({ geo_ids }) => numbersOf(geo_ids)?.includes(geoId) ?? true)
      const requested = subtract([window], before.left(key, geoId, [window]))
      return { geoId, intervals: subtract(requested, merge(recorded)) }
    })
    .filter(({ intervals }) => intervals.length > 0)
}

/**
 * How many requests of a plan are neither answered nor failed nor queued any more: somebody deleted them from the queue, or they count
 * as dead, whoever queued them. `missing`: what would be planned now if nothing were requested; `before`: what was planned, or
 * queued before that; `after`: the last answer before that.
 */
export async function countLost(
  store: Store,
  open: () => Promise<Iterable<PlannedRequest>>,
  missing: Iterable<PlannedRequest>,
  before: Requested,
  after: number,
): Promise<number> {
  const targets = before.copy()
  const lost: { readonly planned: PlannedRequest; readonly parts: Parts }[] = []
  for (const planned of missing) {
    // Optional: one call a request, so the rest of its window is left for a later run.
    if (planned.reason === 'absent') continue
    if (isRanged(planned)) {
      const parts = await lostParts(store, planned, before, after)
      if (parts.length > 0) lost.push({ planned, parts })
    } else {
      const { target } = planned.request
      if (targets.addTarget(target)) continue
      if ((await recordedTarget.first(store.kysely, { after, target })) === undefined) lost.push({ planned, parts: [] })
    }
  }
  if (lost.length === 0) return 0
  // A plan that began meanwhile may have queued the same.
  const queued = createRequested()
  noteAll(queued, await open())
  return lost.filter(({ planned, parts }) =>
    isRanged(planned)
      ? parts.some(({ geoId, intervals }) => queued.left(seriesKey(planned.series), geoId, intervals).length > 0)
      : queued.addTarget(planned.request.target),
  ).length
}

/** Whether all that a request was about has been answered since it was planned. */
async function isAnswered({ kysely }: Store, { planned, data }: UnderstoodRequest): Promise<boolean> {
  const { series, window, request } = planned
  const known = series && (await findSeries(kysely, identityRow(series)))
  const left = await createAnswered(
    kysely,
    false,
  )({
    fetchId: data.after,
    target: request.target,
    seriesId: known?.id ?? null,
    window,
    geoIds: filteredGeos(planned),
  })
  return left.length === 0
}

/** Forgets the dead requests that nobody misses: those that are queued again, and those that were answered since. */
export async function clearDead(store: Store, queue: Queue<QueuedRequest>, service: Service): Promise<void> {
  const dead = readQueued(await queue.dead(), service)
  if (dead.length === 0) return
  const open = await queue.openAmong(dead.map(({ key }) => key))
  const done: string[] = []
  for (const one of dead) if (open.has(one.key) || (await isAnswered(store, one))) done.push(one.id)
  await queue.removeDead(done)
}
