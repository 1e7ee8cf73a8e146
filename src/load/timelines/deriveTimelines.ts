import type { Transaction } from 'kysely'
import type { Engine } from '../../db/engine.ts'
import { readUnjudged } from '../../db/queries/seriesLookup.ts'
import type { Store } from '../../db/store.ts'
import type { Database } from '../../db/tables/schema.ts'
import { DEFAULT_LOOKBACK_S } from '../../job/normalize.ts'
import type { Extent } from '../../judge/stored.ts'
import type { Service } from '../../service/service.ts'
import { type Instant, toInstant } from '../../util/time/instant.ts'
import { dayNumber } from '../../util/time/localDay.ts'
import { recordSpans } from '../spans/recordSpans.ts'
import { readStoredSeries } from '../storedSeries.ts'
import { recomputeDays } from '../writeDays.ts'
import { cadenceInput, readCadences } from './cadences.ts'
import { readExtent, writeTimeline } from './extents.ts'
import { recordMissing } from './recordMissing.ts'
import { decideAgain } from './updateCadences.ts'

/**
 * Derives what follows from the values of series that an earlier version loaded, each in a transaction of its own: the steps of their days,
 * their cadences, the ends of their timelines and their missing periods. It continues where an earlier call ended. Returns the number of
 * series.
 */
export async function deriveStoredTimelines(
  store: Store,
  service: Service,
  {
    signal,
    nowMs = Date.now,
    onProgress,
  }: {
    readonly signal?: AbortSignal
    readonly nowMs?: () => number
    readonly onProgress?: (done: number, total: number) => void
  } = {},
): Promise<number> {
  const unjudged = await readUnjudged(store)
  const now = (): Instant => toInstant(nowMs())
  for (const [i, seriesId] of unjudged.entries()) {
    if (signal?.aborted) return i
    await store.write((tx) => deriveTimelines(tx, store.engine, seriesId, service, now()))
    onProgress?.(i + 1, unjudged.length)
  }
  return unjudged.length
}

/** Derives the same of one series from all its stored values. */
export async function deriveTimelines(
  tx: Transaction<Database>,
  engine: Engine,
  seriesId: number,
  service: Service,
  now: Instant,
): Promise<void> {
  const stored = await readStoredSeries(tx, seriesId)
  const { timeZone: zone, timelines, geoIds } = stored
  const lastFetch = await tx
    .selectFrom('_fetch')
    .select(({ fn }) => fn.max('id').as('id'))
    .where('series_id', '=', seriesId)
    .executeTakeFirst()
  const series = { tx, engine, seriesId, zone, fetchId: lastFetch?.id ?? 0 }
  for (const geoId of geoIds) {
    const days = await tx
      .selectFrom('_day')
      .select(['month', 'day'])
      .where('series_id', '=', seriesId)
      .where('geo_id', '=', geoId)
      .orderBy('month')
      .orderBy('day')
      .execute()
    const numbers = days.map(({ month, day }) => dayNumber({ month, dayOfMonth: day }))
    await recomputeDays(series, geoId, numbers)
    const before = await readCadences(tx, seriesId)
    await decideAgain(series, { input: cadenceInput(stored, service), before }, geoId)
  }
  const cadences = await readCadences(tx, seriesId)
  const extents = new Map<number, Extent | null>()
  for (const timeline of timelines) {
    const { geoId } = timeline
    const found = await readExtent(tx, seriesId, geoId)
    // A first value that the service took back remains the start.
    const extent = found && { ...found, first: Math.min(found.first, timeline.extent?.first ?? found.first) }
    extents.set(geoId, extent)
    const kind = cadences.get(geoId)?.at(-1)?.kind ?? 'irregular'
    await writeTimeline(tx, seriesId, timeline, { geoId, extent, kind })
  }
  await recordMissing(tx, {
    seriesId,
    zone,
    cadences,
    extents,
    longestLookback: stored.lookbackS ?? DEFAULT_LOOKBACK_S,
    extentsBefore: new Map(),
    cadenceChanges: [],
    decidedGeos: new Set(),
    window: null,
    observations: { geoIds: [], at: [], values: [], steps: 0 },
    isComplete: false,
    withdrawn: new Map(),
    dismissed: [],
    fetchedAt: 0,
  })
  await recordSpans(tx, seriesId, now)
}
