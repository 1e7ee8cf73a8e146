import { findSeries } from '../db/series.ts'
import { type Ask, identityValues, seriesKey } from '../job/ask.ts'
import type { Loading } from './load.ts'
import { seriesIdOf } from './series.ts'

/** What was learned of the largest window that the service answers well, series by series. */
export interface Sizes {
  /** Seconds; undefined while nothing was learned. */
  get(ask: Ask): number | undefined
  /** The window of this ask was too large: half of it from now on. */
  shrink(ask: Ask): Promise<void>
  /** The window of this ask was answered in so many milliseconds: a quick answer to a full window makes it larger. */
  grow(ask: Ask, ms: number): Promise<void>
}

const DAY = 86_400
const QUICK_MS = 2_000
/** A window that was learned and has grown to this is no limit any more. */
const ENOUGH = 366 * DAY

/** Keeps sizes for the length of a run, and in `series.window_s` for the next one. */
export function createSizes({ store, now }: Loading): Sizes {
  const known = new Map<string, number | undefined>()
  const tooLarge = new Map<string, number>()
  const get = (ask: Ask): number | undefined => {
    if (!ask.series) return undefined
    const key = seriesKey(ask.series)
    if (!known.has(key)) known.set(key, findSeries(store, identityValues(ask.series), 'window_s'))
    return known.get(key)
  }
  const set = async (ask: Ask, seconds: number | undefined): Promise<void> => {
    if (!ask.series) return
    known.set(seriesKey(ask.series), seconds)
    await store.write(async () => {
      store.run('update series set window_s = ? where id = ?', [seconds ?? null, seriesIdOf(store, ask, now())])
    })
  }
  return {
    get,
    async shrink(ask) {
      if (!ask.window || !ask.series) return
      const key = seriesKey(ask.series)
      const length = ask.window.to - ask.window.from
      tooLarge.set(key, Math.min(length, tooLarge.get(key) ?? length))
      const half = Math.max(DAY, Math.ceil((ask.window.to - ask.window.from) / 2))
      const before = get(ask)
      if (before === undefined || half < before) await set(ask, half)
    },
    async grow(ask, ms) {
      const size = get(ask)
      if (size === undefined || !ask.window || ms > QUICK_MS) return
      // A shorter window proves nothing; borders of days make a full one a little shorter.
      if (ask.window.to - ask.window.from < size - DAY) return
      // Half way to what was too large in this run, if anything was; small steps are not worth a refusal.
      const ceiling = tooLarge.get(seriesKey(ask.series!)) ?? size * 3
      const next = Math.min(size * 2, Math.floor((size + ceiling) / 2))
      if (next > size * 1.25) await set(ask, next > ENOUGH ? undefined : next)
    },
  }
}
