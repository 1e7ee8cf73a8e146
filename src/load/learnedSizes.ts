import { findSeries } from '../db/queries/seriesLookup.ts'
import { identityRow, type PlannedRequest, seriesKey } from '../job/plannedRequest.ts'
import { DAY } from '../util/time/instant.ts'
import type { Loading } from './load.ts'
import { seriesIdOf } from './storedSeries.ts'

/** The largest window that the service answers well, learned for each series. */
export interface Sizes {
  /** Seconds; undefined while nothing has been learned. */
  get(planned: PlannedRequest): Promise<number | undefined>
  /** The window of this request was too large: half of it is used from now on. */
  shrink(planned: PlannedRequest): Promise<void>
  /** The window of this request was answered: an answer to a full window makes the size larger. */
  grow(planned: PlannedRequest): Promise<void>
  /** Only single days of this request's series are answered without sums. */
  learnDay(planned: PlannedRequest): Promise<void>
}

/** By bucket, in seconds: how much shorter a window at bucket borders may be and still count as full, and from which size on there is no limit. */
const BY_BUCKET: Readonly<Record<string, { readonly slack: number; readonly enough: number }>> = {
  day: { slack: DAY, enough: 2 * 366 * DAY },
  month: { slack: 31 * DAY, enough: 20 * 366 * DAY },
  year: { slack: 366 * DAY, enough: 20 * 366 * DAY },
}
const OTHERS = { slack: DAY, enough: 366 * DAY }

/** Keeps sizes in memory during a run, and in `series.window_s` for the next one. */
export function createSizes({ store, now }: Loading): Sizes {
  const known = new Map<string, number | undefined>()
  const tooLarge = new Map<string, number>()
  const get = async (planned: PlannedRequest): Promise<number | undefined> => {
    if (!planned.series) return undefined
    const key = seriesKey(planned.series)
    if (!known.has(key)) {
      const stored = await findSeries(store.kysely, identityRow(planned.series))
      // A request that ran meanwhile may have set it.
      if (!known.has(key)) known.set(key, stored?.window_s ?? undefined)
    }
    return known.get(key)
  }
  const set = async (planned: PlannedRequest, seconds: number | undefined): Promise<void> => {
    if (!planned.series) return
    known.set(seriesKey(planned.series), seconds)
    await store.write(async (tx) => {
      const id = await seriesIdOf(tx, planned, now())
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
      const { slack, enough } = BY_BUCKET[planned.series?.timeTrunc ?? ''] ?? OTHERS
      // A shorter window proves nothing.
      if (planned.window.to - planned.window.from < size - slack) return
      // Half way to the smallest window that was too large in this run, if there was one; a small gain is not worth a refusal.
      const ceiling = tooLarge.get(seriesKey(planned.series!)) ?? size * 3
      const next = Math.min(size * 2, Math.floor((size + ceiling) / 2))
      if (next > size * 1.25) await set(planned, next > enough ? undefined : next)
    },
    learnDay: (planned) => set(planned, DAY),
  }
}
