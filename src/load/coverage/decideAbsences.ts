import { ALL_GEOS } from '../../db/tables/codes.ts'
import { type Absence, type Coverage, GIVEN_UP } from '../../job/plannerState.ts'
import { DAY, type Instant } from '../../util/time/instant.ts'
import { type Interval, intersect, subtract } from '../../util/time/interval.ts'
import { isLong, isSameStep, type Periods } from '../../util/time/periods.ts'
import { floorTo } from '../../util/time/zone.ts'
import type { Geo, Series, SeriesReply, StoredCoverage, Values } from './coverageTypes.ts'

/* Rules 16–20 of coverage: the periods for which the step of a series promises a value and none came. Pure. */

/** An interval without values, and the length of its periods in seconds; null if no value shows it. */
interface Hole extends Interval {
  readonly step: number | null
}

/** Whose absences are decided in a window, and by which values. */
interface Judgement {
  readonly window: Interval
  readonly rows: ReadonlyMap<Geo, Values>
  readonly geos: readonly Geo[]
  /** Whether what the reply lacks of a geo is absent. If it is not, the reply only ends absences of which values came. */
  readonly isProof: (geo: Geo) => boolean
}

/** Up to this many values, a reply alone does not show whether its series follows a step. */
const FEW_VALUES = 100
/** The number of values on each side of a window that show whether a series follows a step. */
export const NEARBY = 16

/** Decides all absences within the reach of what was read. */
export function decideAbsences(
  series: Series,
  reply: SeriesReply,
  stored: StoredCoverage,
  geos: readonly Geo[],
  isProof: (geo: Geo) => boolean,
): readonly Absence[] {
  const before = inWholePeriods(series, reply, stored.absences)
  if (!reply.window) return merged(endAbsences(series, reply, stored, before))
  const rows = addDismissed(reply)
  const judgement = { window: judgedWindow(series, reply.window), rows, geos, isProof }
  const after = judge(series, reply, stored, before, judgement)
  return merged(judgeAround(series, reply, stored, before, after, judgement))
}

/** Rule 17: a period belongs to the window in which it begins. */
export const judgedWindow = ({ periods }: Series, window: Interval): Interval =>
  periods ? wholePeriods(periods, window) : window

/** Whether a reply may show that values are missing beside its window, or end what was absent there. */
export const reachesOut = ({ rows, newGeos }: SeriesReply): boolean =>
  newGeos.length > 0 || (rows.size > 0 && [...rows.values()].reduce((sum, { at }) => sum + at.length, 0) <= FEW_VALUES)

/** Whether it depends on the values near the window whether something in it is absent. */
export const needsNear = (
  series: Series,
  reply: SeriesReply,
  geos: readonly Geo[],
  absences: readonly Absence[],
): boolean =>
  geos.some((geo) => {
    const window = judgedWindow(series, reply.window!)
    return missingIntervals(series, reply, window, reply.rows.get(geo), absences).length > 0
  })

/** The absences after the judgement of a window: those of its geos are replaced in it. */
function judge(
  series: Series,
  reply: SeriesReply,
  stored: StoredCoverage,
  before: readonly Absence[],
  { window, rows, geos, isProof }: Judgement,
): Absence[] {
  const inside = before.filter((row) => overlaps(row, window))
  const isForAll = reply.geos.includes(ALL_GEOS) || !reply.window
  const isSplit = isForAll && rows.size > 0
  // A reply without values, of which it is not known whether any should be there, was at least a new attempt.
  const judged = isForAll && !isSplit && !isProof(ALL_GEOS) ? inside.map(({ geo }) => geo) : geos
  const found = [...new Set(judged)].flatMap((geo) => {
    // An absence of all geos says nothing about a geo whose values came since.
    const isOfAll = isProof(geo) || (isSplit && !rows.has(geo) && !stored.valuesInWindow.has(geo))
    const isKnown = (row: Absence): boolean =>
      row.geo === geo || (isOfAll && (geo === ALL_GEOS || row.geo === ALL_GEOS))
    const known = inside.filter(isKnown)
    const missing = missingPeriods(series, reply, stored, window, geo, rows.get(geo), known, isProof(geo))
    return dated(geo, missing, known, reply.fetchedAt)
  })
  const isReplaced = ({ geo }: Absence): boolean =>
    judged.includes(geo) ||
    (isForAll && geo === ALL_GEOS) ||
    (isForAll && isProof(ALL_GEOS) && (!isSplit || !series.knownGeos.includes(geo)))
  return [...before.flatMap((row) => (isReplaced(row) ? cutAbsence(row, window) : row)), ...found]
}

/** Rule 18: the intervals of a window without values that are past revision, or were absent before. */
function missingIntervals(
  { periods }: Series,
  reply: SeriesReply,
  window: Interval,
  values: Values | undefined,
  known: readonly Interval[],
): readonly Interval[] {
  if (values && fills(window, values)) return []
  const over = Math.min(reply.settledBefore, reply.fetchedAt)
  const settled = { from: window.from, to: Math.min(window.to, periods?.floor(over) ?? over) }
  return intersect(findHoles(window, values), [settled, ...known])
}

/** Rules 18 and 19: the periods of a window that are missing of a geo. */
function missingPeriods(
  series: Series,
  reply: SeriesReply,
  stored: StoredCoverage,
  window: Interval,
  geo: Geo,
  values: Values | undefined,
  known: readonly Absence[],
  isProof: boolean,
): Hole[] {
  const holes = values && fills(window, values) ? [] : findHoles(window, values)
  const near = stored.near.get(geo === ALL_GEOS ? (series.knownGeos[0] ?? ALL_GEOS) : geo)
  const missing = isProof ? missingIntervals(series, reply, window, values, known) : intersect(holes, known)
  if (missing.length === 0 || (isProof && near && !isRegular(join(near.before, values, near.after)))) return []
  const [beside = null] = near ? stepsOf(join(near.before, undefined, near.after)) : []
  return missing.map((hole) => {
    const shown = [...holes, ...known].find(
      ({ from, to, step }) => step !== null && from <= hole.from && hole.from < to,
    )
    return inPeriods(hole, shown?.step ?? beside, series.periods)
  })
}

/** Rule 20: absences of a geo, checked now. Each is as old as what it continues, of this geo or of all. */
function dated(geo: Geo, missing: readonly Hole[], known: readonly Absence[], checked: Instant): Absence[] {
  const own = known.filter((row) => row.geo === geo)
  const others = known.filter((row) => row.geo !== geo).sort((a, b) => a.since - b.since)
  const older = [...own]
  for (const row of others) older.push(...subtract([row], older).map((part) => ({ ...row, ...part })))
  return missing.flatMap((hole) => {
    const absence = (part: Interval, since: Instant): Absence => {
      const { from, to } = part
      return { geo, from, to, step: hole.step, since: Math.min(since, checked), checked }
    }
    return [
      ...subtract([hole], older).map((part) => absence(part, checked)),
      ...older.flatMap((row) => intersect([hole], [row]).map((part) => absence(part, row.since))),
    ]
  })
}

/** Rules 18 and 19 beside the window, from 16 values before it to 16 after: an earlier reply may lack what its few values did not show. */
function judgeAround(
  series: Series,
  reply: SeriesReply,
  stored: StoredCoverage,
  before: readonly Absence[],
  judged: Absence[],
  { window, rows, geos, isProof }: Judgement,
): Absence[] {
  let after = judged
  for (const geo of geos) {
    const values = rows.get(geo)
    const near = stored.near.get(geo)
    if (!values || !near || !isProof(geo) || !reachesOut(reply)) continue
    const grid = join(near.before, values, near.after)
    if (reply.stepsGuessed && !isStepped(grid))
      after = intersect([findReach(near, values)], [stored.reach]).reduce(
        (rest, reach) =>
          rest.flatMap((row) => (row.geo === geo || row.geo === ALL_GEOS ? cutAbsence(row, reach) : row)),
        after,
      )
    for (const { missing, fetchedAt, lacking } of missingAround(series, stored, before, window, geo, values))
      if (!stored.rejectedWindows.some((one) => overlaps(one, missing))) {
        const known = before.filter((row) => overlaps(row, missing))
        const kept = after.flatMap((row) => (row.geo === lacking ? cutAbsence(row, missing) : row))
        after = [...kept, ...dated(lacking, [missing], known, fetchedAt)]
      }
  }
  return after
}

/** What an earlier reply lacked beside a window, when that was fetched, and the geo that lacks it. */
interface EarlierHole {
  readonly missing: Hole
  readonly fetchedAt: Instant
  readonly lacking: Geo
}

/** The holes between the values of a geo beside a window that earlier replies cover. */
function missingAround(
  series: Series,
  stored: StoredCoverage,
  absences: readonly Absence[],
  window: Interval,
  geo: Geo,
  values: Values,
): EarlierHole[] {
  const near = stored.near.get(geo)
  const grid = near && join(near.before, values, near.after)
  if (!grid || !isRegular(grid)) return []
  const known = absences.filter((row) => row.geo === geo || row.geo === ALL_GEOS)
  const own = stored.coverage.filter((row) => row.geo === geo)
  const trusted = stored.coverage.filter(
    (row) => row.state !== 'unverified' && (row.geo === geo || row.geo === ALL_GEOS),
  )
  return findHoles(findReach(near, values), grid).flatMap((hole) =>
    trusted.flatMap((row) => {
      const hidden = row.geo === ALL_GEOS ? [window, ...known, ...own] : [window, ...known]
      const settled = settledPart(row, series)
      const lacking = row.geo === ALL_GEOS && row.state === 'empty' ? ALL_GEOS : geo
      return subtract(intersect(intersect([hole], [settled.part]), [stored.reach]), hidden).flatMap(
        (rest): EarlierHole[] => {
          const part = series.periods ? wholePeriods(series.periods, rest, settled.over) : rest
          const from = hole.step === null || isLong(hole.step) ? part.from : firstDue(part.from, grid)
          if (from >= part.to) return []
          return [
            { missing: inPeriods({ from, to: part.to }, hole.step, series.periods), fetchedAt: row.fetchedAt, lacking },
          ]
        },
      )
    }),
  )
}

/** The holes of all geos that earlier replies cover beside the window of a reply. */
export const earlierHoles = (series: Series, reply: SeriesReply, stored: StoredCoverage): EarlierHole[] =>
  [...addDismissed(reply)].flatMap(([geo, values]) =>
    missingAround(series, stored, stored.absences, judgedWindow(series, reply.window!), geo, values),
  )

/** The part of a row that was past revision for the longest lookback, and before which instant a period must have ended. */
function settledPart(row: Coverage, { longestLookback, timeZone }: Series): { part: Interval; over?: Instant } {
  if (row.settledFor >= longestLookback) return { part: row }
  const over = floorTo(timeZone, row.fetchedAt - longestLookback, 'day')
  return { part: { from: row.from, to: Math.min(row.to, over) }, over }
}

/** The interval in which values of a reply and those beside its window are all that there are. */
export function findReach({ before, after }: { before: Values; after: Values }, values: Values): Interval {
  const { at } = join(before, values, after)
  return {
    // A single value does not show that there should be one before it.
    from: before.at.length < NEARBY && at.length > 1 ? 0 : at[0]!,
    to: after.at.length < NEARBY ? Number.MAX_SAFE_INTEGER : at.at(-1)!,
  }
}

/** A reply for one instant ends the absence of its period; of other geos the period stays absent. */
function endAbsences(
  series: Series,
  reply: SeriesReply,
  stored: StoredCoverage,
  before: readonly Absence[],
): Absence[] {
  const values = [...reply.rows].flatMap(([geo, rows]) =>
    rows.at.map((at, i) => ({ geo, at, step: stepsOf(rows)[i]! })),
  )
  let absences = [...before]
  for (const [at, together] of Map.groupBy(values, (value) => value.at)) {
    const to = Math.max(...together.map(({ step }) => at + step))
    const rows = new Map(together.map(({ geo, step }): [Geo, Values] => [geo, { at: [at], steps: step }]))
    const geos = [...new Set([...rows.keys(), ...series.knownGeos])]
    const window = judgedWindow(series, { from: at, to })
    absences = judge(series, reply, stored, absences, { window, rows, geos, isProof: () => false })
  }
  return absences
}

/** Absences from before the length of a period was known, moved to the borders of periods. */
function inWholePeriods({ periods }: Series, reply: SeriesReply, absences: readonly Absence[]): readonly Absence[] {
  if (!periods) return absences
  const over = Math.min(reply.settledBefore, reply.fetchedAt)
  return absences
    .map((row) => (row.step === null || isLong(row.step) ? { ...row, ...wholePeriods(periods, row, over) } : row))
    .filter(({ from, to }) => from < to)
}

/** The periods that begin in an interval. `over`: the last one only counts if it has ended by then. */
function wholePeriods(periods: Periods, { from, to }: Interval, over?: Instant): Interval {
  const end = periods.ceil(to)
  return { from: periods.ceil(from), to: over === undefined || end === to ? end : Math.min(end, periods.floor(over)) }
}

/** A hole with the length of its periods. A single calendar period is exactly as long as its interval. */
const inPeriods = ({ from, to }: Interval, step: number | null, periods: Periods | null): Hole => ({
  from,
  to,
  step: periods && periods.ceil(from + 1) === to ? to - from : step,
})

/** Whether an absence is not requested again, so that its exact age does not matter. */
const isGivenUp = ({ since, checked }: Absence): boolean => checked - since > GIVEN_UP

/** Rule 20: whether adjacent absences are requested again at about the same time, or both never. */
const canMerge = (a: Absence, b: Absence): boolean =>
  a.to === b.from &&
  a.geo === b.geo &&
  isSameStep(a.step, b.step) &&
  (isGivenUp(a)
    ? isGivenUp(b)
    : !isGivenUp(b) && Math.abs(a.since - b.since) < DAY && Math.abs(a.checked - b.checked) < DAY)

function merged(rows: readonly Absence[]): Absence[] {
  const all: Absence[] = []
  for (const row of [...rows].sort((a, b) => a.geo - b.geo || a.from - b.from)) {
    const last = all.at(-1)
    if (last && canMerge(last, row))
      all[all.length - 1] = {
        ...last,
        to: row.to,
        since: Math.min(last.since, row.since),
        checked: isGivenUp(row) ? Math.max(last.checked, row.checked) : Math.min(last.checked, row.checked),
      }
    else all.push(row)
  }
  return all
}

const overlaps = (a: Interval, b: Interval): boolean => a.from < b.to && a.to > b.from

const cutAbsence = (row: Absence, window: Interval): Absence[] =>
  subtract([row], [window]).map((part) => ({ ...row, ...part }))

const stepsOf = ({ at, steps }: Values): readonly number[] =>
  typeof steps === 'number' ? new Array<number>(at.length).fill(steps) : steps

/** Values of one geo one after the other. */
const join = (...all: readonly (Values | undefined)[]): Values => ({
  at: all.flatMap((values) => values?.at ?? []),
  steps: all.flatMap((values) => (values ? stepsOf(values) : [])),
})

/** The rows with the observations that dismissed rejects would have been, for geos that have rows. */
function addDismissed({ rows, dismissed }: SeriesReply): ReadonlyMap<Geo, Values> {
  const added = new Map(rows)
  for (const key of dismissed) {
    const values = key && added.get(key.geo)
    if (!values || values.at.includes(key.at)) continue
    const [at, steps] = [[...values.at], [...stepsOf(values)]]
    const next = at.findIndex((one) => one > key.at)
    const place = next === -1 ? at.length : next
    steps.splice(place, 0, steps[Math.max(0, place - 1)]!)
    at.splice(place, 0, key.at)
    added.set(key.geo, { at, steps })
  }
  return added
}

/** Whether values fill a window, each a step after the one before. Their number does not show it: a stray row may stand for a missing one. */
function fills({ from, to }: Interval, { at, steps }: Values): boolean {
  return typeof steps === 'number' && at.length * steps === to - from && at.every((one, i) => one === from + i * steps)
}

/**
 * When the first period begins in an interval: most values show where in a step periods begin. Calendar periods begin at the borders
 * of windows.
 */
function firstDue(from: Instant, values: Values): Instant {
  const step = stepsOf(values)[0]!
  if (step >= DAY - 3600 || (values.at[0]! - from) % step === 0) return from
  const counts = new Map<number, number>()
  for (const at of values.at) {
    const offset = (((at - from) % step) + step) % step
    counts.set(offset, (counts.get(offset) ?? 0) + 1)
  }
  const [offset, count] = [...counts].reduce((a, b) => (b[1] > a[1] ? b : a))
  return count * 2 > values.at.length ? from + offset : from
}

/** The intervals of a window that the periods of values do not cover; the whole window without values. */
function findHoles(window: Interval, values: Values | undefined): Hole[] {
  if (!values || values.at.length === 0) return [{ ...window, step: null }]
  const steps = stepsOf(values)
  const holes: Hole[] = []
  let reached = firstDue(window.from, values)
  for (const [i, at] of values.at.entries()) {
    if (at > reached) holes.push({ from: reached, to: at, step: steps[Math.max(0, i - 1)]! })
    reached = Math.max(reached, at + steps[i]!)
  }
  if (reached < window.to) holes.push({ from: reached, to: window.to, step: steps.at(-1)! })
  return holes
}

/** One distance in this many need not be a whole step: a stray row makes two that are none, a clock change by half an hour makes one. */
const ODD_ONE_IN = 8

/** Whether the distances between values are whole steps, but for a few; those of events are not. Calendar periods differ in length. */
function isStepped(values: Values): boolean {
  const steps = stepsOf(values)
  const odd = values.at.filter((at, i) => {
    if (i === 0) return false
    const [distance, step] = [at - values.at[i - 1]!, steps[i - 1]!]
    return distance < step || (step < DAY - 3600 && distance % step !== 0)
  })
  return odd.length * ODD_ONE_IN <= Math.max(0, values.at.length - 1)
}

/** Rule 19: whether values follow their step: at least half of them come directly after the one before. */
function isRegular(values: Values): boolean {
  const { at } = values
  const steps = stepsOf(values)
  const apart = at.filter((one, i) => i > 0 && one - at[i - 1]! > steps[i - 1]!).length
  return isStepped(values) && apart * 2 <= Math.max(0, at.length - 1)
}

/** Average lengths in seconds of periods whose length depends on the calendar. */
const CALENDAR_LENGTHS_S = [365.2425 * DAY, 30.436875 * DAY, DAY]

/** The number of periods in an absence; null if its step is not known. */
export function countPeriods({ from, to, step }: Absence): number | null {
  if (step === null) return null
  const unit = CALENDAR_LENGTHS_S.find((length) => Math.abs(step - length) <= length / 20) ?? step
  return Math.max(1, Math.round((to - from) / unit))
}
