import type { MissingRun } from '../../judge/missing.ts'
import { DAY, type Instant } from '../../util/time/instant.ts'
import { type Interval, intersect, subtract } from '../../util/time/interval.ts'
import { isCalendarStep } from '../../util/time/periods.ts'

/* What a reply changes in the missing periods of a timeline. Pure. */

/** A row of `_absent` without its series and geo. */
export interface MissingRow extends MissingRun {
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
 * `settledBorder`: the instant before which nothing can be published any more at a time.
 */
export function decideMissing(
  before: readonly MissingRow[],
  scope: readonly Interval[],
  runs: readonly MissingRun[],
  checks: readonly Check[],
  settledBorder: (at: Instant) => Instant,
): MissingRow[] {
  const outside = before.flatMap((row) => subtract([row], scope).map((part) => cutRun(row, part)))
  const inside = runs.flatMap((run) =>
    checks.flatMap((check) =>
      intersect([run], [check]).flatMap((checked) => {
        const known = before.filter((row) => row.from < checked.to && row.to > checked.from)
        return [
          ...known.flatMap((row) =>
            intersect([row], [checked]).map((part): MissingRow => {
              const checkedAt = Math.max(row.checkedAt, check.checkedAt)
              const wasSettled = part.to <= settledBorder(row.checkedAt)
              return { ...cutRun(run, part), sinceAt: wasSettled ? row.sinceAt : checkedAt, checkedAt }
            }),
          ),
          ...subtract([checked], known).map(
            (part): MissingRow => ({ ...cutRun(run, part), sinceAt: check.checkedAt, checkedAt: check.checkedAt }),
          ),
        ]
      }),
    ),
  )
  return mergeRows([...outside, ...inside])
}

/** A part of a run. It has whole periods, because windows begin and end on local days, and rows on periods. */
function cutRun<T extends MissingRun>(run: T, part: Interval): T {
  if (part.from === run.from && part.to === run.to) return run
  const periods = run.step === null ? null : Math.max(1, Math.round((part.to - part.from) / run.step))
  return { ...run, ...part, periods }
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
