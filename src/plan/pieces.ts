import type { Interval } from '../base/interval.ts'
import type { Ask } from '../job/ask.ts'
import { borderUnit, cut } from './windows.ts'

const DAY = 86_400

/** Half of a window's length in seconds; undefined for an ask that has none or cannot be divided. */
export const halfOf = ({ window, series }: Ask): number | undefined =>
  window && series ? Math.ceil((window.to - window.from) / 2) : undefined

/**
 * The window of an ask in pieces of a length at the most, on local borders; one piece when it is short enough already, or
 * when its smallest pieces are longer (a month cannot be divided where months are grouped).
 */
export function piecesOf(ask: Ask, seconds: number | undefined): Interval[] {
  const { window, series, timeZone } = ask
  if (!window) return []
  const unit = borderUnit(series?.timeTrunc ?? null)
  if (!series || seconds === undefined || unit !== 'day' || window.to - window.from <= seconds) return [window]
  return [...cut(timeZone, window, { unit, count: Math.max(1, Math.floor(seconds / DAY)) })]
}
