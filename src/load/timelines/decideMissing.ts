import { countPeriods, type Grid, periodStarts } from '../../judge/grid.ts'
import type { MissingPeriods } from '../../judge/missing.ts'
import { DAY, HOUR, type Instant } from '../../util/time/instant.ts'
import { type Interval, subtract } from '../../util/time/interval.ts'
import { isCalendarStep } from '../../util/time/periods.ts'

/* What a reply changes in the missing periods of a timeline. Pure. */

/** A row of `_absent` without its series and geo. */
export interface MissingRow extends MissingPeriods {
  /** First found missing while it could no longer be published. */
  readonly sinceAt: Instant
  /** Last found missing. */
  readonly checkedAt: Instant
}

/** When a part of a timeline was last requested. */
export interface Check extends Interval {
  readonly checkedAt: Instant
}

/**
 * Returns the rows of a timeline after a reply: those outside `scope` stay, those inside are replaced by `missing`. `checks` cover the scope.
 * `settledBorder`: as of a given time, the instant before which nothing can be published any more.
 */
export function decideMissing(
  zone: string,
  before: readonly MissingRow[],
  scope: readonly Interval[],
  missing: readonly MissingPeriods[],
  checks: readonly Check[],
  settledBorder: (at: Instant) => Instant,
): MissingRow[] {
  const outside = before.flatMap((row) => cutRange(zone, row, subtract([row], scope)))
  const inside = checks.flatMap((check) =>
    missing
      .flatMap((range) => cutRange(zone, range, [check]))
      .flatMap((range) => {
        const known = before.filter((row) => row.from < range.to && row.to > range.from)
        const { checkedAt } = check
        return [
          ...known.flatMap((row) => {
            const latest = Math.max(row.checkedAt, checkedAt)
            return cutRange(zone, range, [row]).map((part): MissingRow => {
              const wasSettled = part.to <= settledBorder(row.checkedAt)
              return { ...part, sinceAt: wasSettled ? row.sinceAt : latest, checkedAt: latest }
            })
          }),
          ...cutRange(zone, range, subtract([range], known)).map(
            (part): MissingRow => ({ ...part, sinceAt: checkedAt, checkedAt }),
          ),
        ]
      }),
  )
  return mergeRows([...outside, ...inside])
}

/** The periods of a missing range that begin in some parts of it. A window may end inside a period, which belongs to the window of its start. */
function cutRange<T extends MissingPeriods>(zone: string, range: T, parts: readonly Interval[]): T[] {
  return parts.flatMap((part) => {
    if (part.from <= range.from && part.to >= range.to) return range
    const from = part.from <= range.from ? range.from : Math.min(range.to, nextStart(zone, range, part.from))
    const to = part.to >= range.to ? range.to : nextStart(zone, range, part.to)
    return from >= to
      ? []
      : { ...range, from, to, periods: range.periods && countPeriods(gridOf(range), zone, { from, to }) }
  })
}

/** The grid of a missing range: that of days, if only some value a day is expected. */
const gridOf = ({ from, step }: MissingPeriods): Grid => ({ step: step ?? DAY, anchor: from })

/** The start of the first period at or after an instant inside a range. Steps over an hour follow the local clock. */
function nextStart(zone: string, range: MissingPeriods, at: Instant): Instant {
  const grid = gridOf(range)
  if (grid.step <= HOUR) return range.from + Math.ceil((at - range.from) / grid.step) * grid.step
  const [start] = periodStarts(grid, zone, { from: at, to: Number.POSITIVE_INFINITY })
  return start!
}

/** Merges neighbours that are requested again at about the same time. */
function mergeRows(rows: readonly MissingRow[]): MissingRow[] {
  const merged: MissingRow[] = []
  for (const row of [...rows].sort((a, b) => a.from - b.from)) {
    const last = merged.at(-1)
    if (!last || last.to !== row.from || !isAlike(last, row)) {
      merged.push(row)
      continue
    }
    merged[merged.length - 1] = {
      ...last,
      to: row.to,
      periods: last.periods === null || row.periods === null ? null : last.periods + row.periods,
      sinceAt: Math.min(last.sinceAt, row.sinceAt),
      checkedAt: Math.min(last.checkedAt, row.checkedAt),
    }
  }
  return merged
}

const isAlike = (a: MissingRow, b: MissingRow): boolean =>
  a.reason === b.reason &&
  (a.step === b.step || (a.step !== null && b.step !== null && isCalendarStep(a.step) && isCalendarStep(b.step))) &&
  Math.abs(a.sinceAt - b.sinceAt) < DAY &&
  Math.abs(a.checkedAt - b.checkedAt) < DAY
