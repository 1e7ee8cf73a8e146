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
 * Returns the rows of a timeline after a reply: those outside `scope` stay, those inside become `runs`. `checks` cover the scope.
 * `settledBorder`: as of a given time, the instant before which nothing can be published any more.
 */
export function decideMissing(
  zone: string,
  before: readonly MissingRow[],
  scope: readonly Interval[],
  runs: readonly MissingPeriods[],
  checks: readonly Check[],
  settledBorder: (at: Instant) => Instant,
): MissingRow[] {
  const outside = before.flatMap((row) => cutRun(zone, row, subtract([row], scope)))
  const inside = checks.flatMap((check) =>
    runs
      .flatMap((run) => cutRun(zone, run, [check]))
      .flatMap((run) => {
        const known = before.filter((row) => row.from < run.to && row.to > run.from)
        const { checkedAt } = check
        return [
          ...known.flatMap((row) => {
            const latest = Math.max(row.checkedAt, checkedAt)
            return cutRun(zone, run, [row]).map((part): MissingRow => {
              const wasSettled = part.to <= settledBorder(row.checkedAt)
              return { ...part, sinceAt: wasSettled ? row.sinceAt : latest, checkedAt: latest }
            })
          }),
          ...cutRun(zone, run, subtract([run], known)).map(
            (part): MissingRow => ({ ...part, sinceAt: checkedAt, checkedAt }),
          ),
        ]
      }),
  )
  return mergeRows([...outside, ...inside])
}

/** The periods of a run that begin in some parts of it. A window may end inside a period, which belongs to the window of its start. */
function cutRun<T extends MissingPeriods>(zone: string, run: T, parts: readonly Interval[]): T[] {
  return parts.flatMap((part) => {
    if (part.from <= run.from && part.to >= run.to) return run
    const from = part.from <= run.from ? run.from : Math.min(run.to, nextStart(zone, run, part.from))
    const to = part.to >= run.to ? run.to : nextStart(zone, run, part.to)
    return from >= to ? [] : { ...run, from, to, periods: run.periods && countPeriods(gridOf(run), zone, { from, to }) }
  })
}

/** The periods of a run. If only some value a day is expected, they are days. */
const gridOf = ({ from, step }: MissingPeriods): Grid => ({ step: step ?? DAY, anchor: from })

/** The start of the first period at or after an instant inside a run. Steps over an hour follow the local clock. */
function nextStart(zone: string, run: MissingPeriods, at: Instant): Instant {
  const grid = gridOf(run)
  if (grid.step <= HOUR) return run.from + Math.ceil((at - run.from) / grid.step) * grid.step
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
