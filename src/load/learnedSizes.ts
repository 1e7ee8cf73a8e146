import { findSeries } from '../db/queries/seriesLookup.ts'
import type { Store } from '../db/store.ts'
import { type PlannedRequest, seriesKey, toIdentityRow } from '../job/plannedRequest.ts'
import { DAY } from '../util/time/instant.ts'
import { findOrInsertSeries } from './storedSeries.ts'

/** The largest window that the service accepts, learned for each series. */
export interface Sizes {
  /** Seconds; undefined if nothing has been learned. */
  get(planned: PlannedRequest): Promise<number | undefined>
  /** Halves the size after a window that was too large. */
  shrink(planned: PlannedRequest): Promise<void>
  /** Raises the size after a reply to a full window. */
  grow(planned: PlannedRequest): Promise<void>
  /** Sets the size to one day, because longer windows of this series are summed. */
  learnDay(planned: PlannedRequest): Promise<void>
  /** Series and resolution ids of which the run requested a day, to learn what the id means. */
  readonly probed: Set<string>
}

/** How sizes grow for series that are grouped by a bucket, in seconds. */
interface Growth {
  /** How much shorter than the size a full window may be. */
  readonly slack: number
  /** The size from which there is no limit. */
  readonly enough: number
}

/** The growth by the unit of the bucket. */
const GROWTH_BY_BUCKET: Readonly<Record<string, Growth>> = {
  day: { slack: DAY, enough: 2 * 366 * DAY },
  month: { slack: 31 * DAY, enough: 20 * 366 * DAY },
  year: { slack: 366 * DAY, enough: 20 * 366 * DAY },
}
/** The growth for series without buckets. */
const NATIVE_GROWTH: Growth = { slack: DAY, enough: 366 * DAY }

/** Keeps sizes in memory during a run, and in `series.window_s` for later runs. */
export function createSizes(store: Store, nowMs: () => number, probed = new Set<string>()): Sizes {
  const sizes = new Map<string, number | undefined>()
  const tooLarge = new Map<string, number>()
  const get = async (planned: PlannedRequest): Promise<number | undefined> => {
    if (!planned.series) return undefined
    const key = seriesKey(planned.series)
    if (!sizes.has(key)) {
      const stored = await findSeries(store.kysely, toIdentityRow(planned.series))
      // A concurrent request may have set it.
      if (!sizes.has(key)) sizes.set(key, stored?.window_s ?? undefined)
    }
    return sizes.get(key)
  }
  const set = async (planned: PlannedRequest, seconds: number | undefined): Promise<void> => {
    if (!planned.series) return
    sizes.set(seriesKey(planned.series), seconds)
    await store.write(async (tx) => {
      const id = await findOrInsertSeries(tx, planned, nowMs())
      await tx
        .updateTable('series')
        .set({ window_s: seconds ?? null })
        .where('id', '=', id)
        .execute()
    })
  }
  return {
    get,
    async shrink(planned) {
      if (!planned.window || !planned.series) return
      const key = seriesKey(planned.series)
      const length = planned.window.to - planned.window.from
      tooLarge.set(key, Math.min(length, tooLarge.get(key) ?? length))
      const half = Math.max(DAY, Math.ceil(length / 2))
      const before = await get(planned)
      if (before === undefined || half < before) await set(planned, half)
    },
    async grow(planned) {
      const size = await get(planned)
      if (size === undefined || !planned.window) return
      const { slack, enough } = GROWTH_BY_BUCKET[planned.series?.timeTrunc ?? ''] ?? NATIVE_GROWTH
      // A shorter window proves nothing.
      if (planned.window.to - planned.window.from < size - slack) return
      // Half way to the smallest window that was too large in this run. A small gain is not worth a refused request.
      const ceiling = tooLarge.get(seriesKey(planned.series!)) ?? size * 3
      const next = Math.min(size * 2, Math.floor((size + ceiling) / 2))
      if (next > size * 1.25) await set(planned, next > enough ? undefined : next)
    },
    learnDay: (planned) => set(planned, DAY),
    probed,
  }
}
