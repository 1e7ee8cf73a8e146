import { numbersOf } from '../base/json.ts'
import { prepared } from '../db/prepared.ts'
import { findSeries } from '../db/queries/seriesIdentity.ts'
import type { Store } from '../db/store.ts'
import { filteredGeos, identityRow, type PlannedRequest, seriesKey } from '../job/plannedRequest.ts'
import type { Requested } from '../plan/requested.ts'
import { FETCH_OUTCOMES } from '../tables/sql/fetchOutcome.ts'
import { keyOf, plannedOf, type QueuedRequest } from './queuedRequest.ts'

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
    .select('geo_ids')
    .where('id', '>', of.after)
    .where('series_id', '=', of.seriesId)
    .where('from_at', '<', of.to)
    .where('to_at', '>', of.from)
    .where('outcome', 'not in', FETCH_OUTCOMES.unanswered),
)

/** Whether an answer or a failure of a planned request is recorded since an answer. */
async function isRecorded({ kysely }: Store, planned: PlannedRequest, after: number): Promise<boolean> {
  const { series, window, request } = planned
  if (!series || !window) return (await recordedTarget.first(kysely, { after, target: request.target })) !== undefined
  const known = await findSeries(kysely, identityRow(series))
  if (!known) return false
  const geos = filteredGeos(planned)
  return (await recordedSeries.all(kysely, { after, seriesId: known.id, ...window })).some(({ geo_ids }) => {
    const recorded = numbersOf(geo_ids)
    return geos === null || recorded === null || geos.some((id) => recorded.includes(id))
  })
}

/**
 * How many requests of a plan are neither answered nor failed nor queued any more: somebody deleted them from the queue, or they count
 * as dead. `missing`: what would be planned now; `before`: what was planned; `after`: the last answer before that.
 */
export async function countLost(
  store: Store,
  open: () => Promise<readonly QueuedRequest[]>,
  missing: Iterable<PlannedRequest>,
  before: Requested,
  after: number,
): Promise<number> {
  const targets = before.copy()
  const wasPlanned = ({ series, geoIds, window, request }: PlannedRequest): boolean =>
    series && window
      ? geoIds.every((geoId) => before.left(seriesKey(series), geoId, [window]).length === 0)
      : !targets.addTarget(request.target)
  const lost: PlannedRequest[] = []
  for (const planned of missing)
    if (wasPlanned(planned) && !(await isRecorded(store, planned, after))) lost.push(planned)
  if (lost.length === 0) return 0
  // A plan that began meanwhile may have queued the same.
  const queued = new Set((await open()).map((one) => keyOf(plannedOf(one, lost[0]!.service))))
  return lost.filter((planned) => !queued.has(keyOf(planned))).length
}
