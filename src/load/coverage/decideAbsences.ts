import { ALL_GEOS } from '../../db/tables/codes.ts'
import { type Absence, GIVEN_UP } from '../../job/plannerState.ts'
import { DAY, type Instant } from '../../util/time/instant.ts'
import { type Interval, intersect, overlaps, subtract } from '../../util/time/interval.ts'
import { isLong, isSameStep, type Periods } from '../../util/time/periods.ts'
import { floorTo } from '../../util/time/zone.ts'
import type { Geo, Series, SeriesReply, StoredCoverage } from './coverageTypes.ts'
import {
  concat,
  findFirstPeriod,
  findHoles,
  type GeoValues,
  type Hole,
  isRegular,
  isStepped,
  listSteps,
} from './geoValues.ts'

/* Rules 17–21 (docs/decisions/001-coverage.md): the periods that the step of a series implies but replies lack. Pure. */

/** One window in which absences are decided. */
interface WindowCase {
  readonly series: Series
  readonly reply: SeriesReply
  readonly stored: StoredCoverage
  /** The absences before the decision. */
  readonly before: readonly Absence[]
  readonly window: Interval
  /** The values of the reply, including those of dismissed rejects. */
  readonly values: ReadonlyMap<Geo, GeoValues>
  readonly geos: readonly Geo[]
  /** Whether missing periods of a geo are absent. If not, the reply only ends absences. */
  readonly provesAbsence: (geo: Geo) => boolean
}

/** A reply with at most this many values does not show alone whether its series follows a step. */
const FEW_VALUES = 100
/** Number of values on each side of a window that show whether a series follows a step. */
export const NEARBY = 16

/** Decides all absences within the reach of the stored rows. */
export function decideAbsences(
  series: Series,
  reply: SeriesReply,
  stored: StoredCoverage,
  geos: readonly Geo[],
  provesAbsence: (geo: Geo) => boolean,
): readonly Absence[] {
  const before = moveToPeriods(series, reply, stored.absences)
  if (!reply.window) return mergeAbsences(endAbsences(series, reply, stored, before))
  const values = addDismissed(reply)
  const window = toWholeWindow(series, reply.window)
  const windowCase = { series, reply, stored, before, window, values, geos, provesAbsence }
  return mergeAbsences(decideAround(windowCase, decideWindow(windowCase)))
}

/** Rule 17: the whole periods that begin in a window. */
export const toWholeWindow = ({ periods }: Series, window: Interval): Interval =>
  periods ? toWholePeriods(periods, window) : window

/** Rule 21: whether a reply has few values or new geos, so that absences beside its window are decided too. */
export const decidesAround = ({ values, newGeos }: SeriesReply): boolean =>
  newGeos.length > 0 ||
  (values.size > 0 && [...values.values()].reduce((sum, { at }) => sum + at.length, 0) <= FEW_VALUES)

/** Rule 19: whether stored values near the window decide what is absent in it. */
export const needsNear = (series: Series, reply: SeriesReply, geos: readonly Geo[], absences: readonly Absence[]) => {
  const window = toWholeWindow(series, reply.window!)
  return geos.some(
    (geo) => keepSettled(series, reply, window, findHoles(window, reply.values.get(geo)), absences).length > 0,
  )
}

/** Rules 17–20: replaces the absences of a window. */
function decideWindow(windowCase: WindowCase): Absence[] {
  const { series, reply, stored, before, window, values, geos, provesAbsence } = windowCase
  const inside = before.filter((row) => overlaps(row, window))
  const isForAll = reply.geos.includes(ALL_GEOS) || !reply.window
  const hasGeos = isForAll && values.size > 0
  // Rule 20: an empty reply that proves nothing was still a check.
  const decided = isForAll && !hasGeos && !provesAbsence(ALL_GEOS) ? inside.map(({ geo }) => geo) : geos
  const absent = [...new Set(decided)].flatMap((geo) => {
    // Rule 20: an absence of all geos does not apply to a geo that has got values since.
    const continuesAll = provesAbsence(geo) || (hasGeos && !values.has(geo) && !stored.omittedGeos.has(geo))
    const earlier = inside.filter(
      (row) => row.geo === geo || (continuesAll && (geo === ALL_GEOS || row.geo === ALL_GEOS)),
    )
    return dateAbsences(geo, findMissingPeriods(windowCase, geo, earlier), earlier, reply.fetchedAt)
  })
  // Rule 20: only a reply for all geos replaces absences of all geos, and those of geos that it does not list.
  const isReplaced = ({ geo }: Absence): boolean =>
    decided.includes(geo) ||
    (isForAll && (geo === ALL_GEOS || (provesAbsence(ALL_GEOS) && (!hasGeos || !series.knownGeos.includes(geo)))))
  return [...before.flatMap((row) => (isReplaced(row) ? cutAbsence(row, window) : row)), ...absent]
}

/** Rule 18: the parts of holes that are settled, or were absent before. */
function keepSettled(
  { periods }: Series,
  reply: SeriesReply,
  window: Interval,
  holes: readonly Hole[],
  earlier: readonly Interval[],
): readonly Interval[] {
  const over = Math.min(reply.settledBefore, reply.fetchedAt)
  const settled = { from: window.from, to: Math.min(window.to, periods?.floor(over) ?? over) }
  return intersect(holes, [settled, ...earlier])
}

/** Rules 18 and 19: the periods of a geo that are missing in a window. `earlier`: its absences before. */
function findMissingPeriods(windowCase: WindowCase, geo: Geo, earlier: readonly Absence[]): Hole[] {
  const { series, reply, stored, window, provesAbsence } = windowCase
  const values = windowCase.values.get(geo)
  const holes = findHoles(window, values)
  const near = stored.near.get(geo === ALL_GEOS ? (series.knownGeos[0] ?? ALL_GEOS) : geo)
  const isProof = provesAbsence(geo)
  const missing = isProof ? keepSettled(series, reply, window, holes, earlier) : intersect(holes, earlier)
  // Rule 19: irregular series have no absences.
  if (missing.length === 0 || (isProof && near && !isRegular(concat(near.before, values, near.after)))) return []
  const [stepNearby = null] = near ? listSteps(concat(near.before, near.after)) : []
  return missing.map((part) => {
    const source = [...holes, ...earlier].find(
      ({ from, to, step }) => step !== null && from <= part.from && part.from < to,
    )
    return withStep(part, source?.step ?? stepNearby, series.periods)
  })
}

/** Rule 20: new absences of a geo. Each keeps the `sinceAt` of the earlier absence that it continues, first of this geo, then of all. */
function dateAbsences(geo: Geo, missing: readonly Hole[], earlier: readonly Absence[], checkedAt: Instant): Absence[] {
  const sources = earlier.filter((row) => row.geo === geo)
  for (const row of earlier.filter((row) => row.geo !== geo).sort((a, b) => a.sinceAt - b.sinceAt))
    sources.push(...subtract([row], sources).map((part) => ({ ...row, ...part })))
  return missing.flatMap(({ step, ...hole }) => {
    const absence = (part: Interval, sinceAt: Instant): Absence => ({ geo, ...part, step, sinceAt, checkedAt })
    return [
      ...subtract([hole], sources).map((part) => absence(part, checkedAt)),
      ...sources.flatMap((row) =>
        intersect([hole], [row]).map((part) => absence(part, Math.min(row.sinceAt, checkedAt))),
      ),
    ]
  })
}

/** Rule 21: decides absences beside the window, between 16 values before it and 16 after. */
function decideAround(windowCase: WindowCase, absences: readonly Absence[]): readonly Absence[] {
  const { reply, stored, before, geos, provesAbsence } = windowCase
  if (!decidesAround(reply)) return absences
  let after = absences
  const remove = (window: Interval, ...removed: readonly Geo[]): void => {
    after = after.flatMap((row) => (removed.includes(row.geo) ? cutAbsence(row, window) : row))
  }
  for (const geo of geos) {
    const values = windowCase.values.get(geo)
    const near = stored.near.get(geo)
    if (!values || !near || !provesAbsence(geo)) continue
    if (reply.isStepGuessed && !isStepped(concat(near.before, values, near.after)))
      for (const reach of intersect([findReach(near, values)], [stored.reach])) remove(reach, geo, ALL_GEOS)
    for (const { missing, fetchedAt, lacking } of findMissingAround(windowCase, geo, values)) {
      if (stored.rejectedWindows.some((window) => overlaps(window, missing))) continue
      const earlier = before.filter((row) => overlaps(row, missing))
      remove(missing, lacking)
      after = [...after, ...dateAbsences(lacking, [missing], earlier, fetchedAt)]
    }
  }
  return after
}

/** Rule 21: the holes between values of a geo beside a window that trusted earlier replies cover. `lacking`: the geo of the absence. */
function findMissingAround(
  { series, stored, before, window }: Pick<WindowCase, 'series' | 'stored' | 'before' | 'window'>,
  geo: Geo,
  values: GeoValues,
): { readonly missing: Hole; readonly fetchedAt: Instant; readonly lacking: Geo }[] {
  const { periods, longestLookback, timeZone } = series
  const near = stored.near.get(geo)
  const grid = near && concat(near.before, values, near.after)
  if (!grid || !isRegular(grid)) return []
  const hidden = [window, ...before.filter((row) => row.geo === geo || row.geo === ALL_GEOS)]
  const ofGeo = stored.coverage.filter((row) => row.geo === geo)
  const trusted = stored.coverage.filter(
    (row) => row.state !== 'unverified' && (row.geo === geo || row.geo === ALL_GEOS),
  )
  return findHoles(findReach(near, values), grid).flatMap((hole) =>
    trusted.flatMap((row) => {
      // Before this instant the values of the row were settled.
      const isSettled = row.settledFor >= longestLookback
      const over = isSettled ? undefined : floorTo(timeZone, row.fetchedAt - longestLookback, 'day')
      const settled = { from: row.from, to: Math.min(row.to, over ?? row.to) }
      const lacking = row.geo === ALL_GEOS && row.state === 'empty' ? ALL_GEOS : geo
      const covered = intersect(intersect([hole], [settled]), [stored.reach])
      return subtract(covered, row.geo === ALL_GEOS ? [...hidden, ...ofGeo] : hidden).flatMap((rest) => {
        const part = periods ? toWholePeriods(periods, rest, over) : rest
        const from = hole.step === null || isLong(hole.step) ? part.from : findFirstPeriod(part.from, grid)
        if (from >= part.to) return []
        return [{ missing: withStep({ from, to: part.to }, hole.step, periods), fetchedAt: row.fetchedAt, lacking }]
      })
    }),
  )
}

/** Whether a reply shows holes in earlier replies beside its window. */
export const showsEarlierHoles = (series: Series, reply: SeriesReply, stored: StoredCoverage): boolean => {
  const around = { series, stored, before: stored.absences, window: toWholeWindow(series, reply.window!) }
  return [...addDismissed(reply)].some(([geo, values]) => findMissingAround(around, geo, values).length > 0)
}

/** The interval in which the values of a reply and those near its window are all stored values. */
export function findReach({ before, after }: { before: GeoValues; after: GeoValues }, values: GeoValues): Interval {
  const { at } = concat(before, values, after)
  return {
    // A single value does not imply one before it.
    from: before.at.length < NEARBY && at.length > 1 ? 0 : at[0]!,
    to: after.at.length < NEARBY ? Number.MAX_SAFE_INTEGER : at.at(-1)!,
  }
}

/** Rule 13: a reply for one instant ends the absence of its period. For other geos the period stays absent. */
function endAbsences(
  series: Series,
  reply: SeriesReply,
  stored: StoredCoverage,
  absences: readonly Absence[],
): readonly Absence[] {
  const periods = [...reply.values].flatMap(([geo, sent]) =>
    sent.at.map((at, i) => ({ geo, at, step: listSteps(sent)[i]! })),
  )
  let before = absences
  for (const [at, together] of Map.groupBy(periods, (period) => period.at)) {
    const to = Math.max(...together.map(({ step }) => at + step))
    const values = new Map(together.map(({ geo, step }): [Geo, GeoValues] => [geo, { at: [at], steps: step }]))
    const geos = [...new Set([...values.keys(), ...series.knownGeos])]
    const window = toWholeWindow(series, { from: at, to })
    before = decideWindow({ series, reply, stored, before, window, values, geos, provesAbsence: () => false })
  }
  return before
}

/** Rule 17: moves absences to the borders of periods, which an earlier reply may not have shown. */
function moveToPeriods({ periods }: Series, reply: SeriesReply, absences: readonly Absence[]): readonly Absence[] {
  if (!periods) return absences
  const over = Math.min(reply.settledBefore, reply.fetchedAt)
  return absences
    .map((row) => (row.step === null || isLong(row.step) ? { ...row, ...toWholePeriods(periods, row, over) } : row))
    .filter(({ from, to }) => from < to)
}

/** The periods that begin in an interval. If `over` is given, the last one only counts if it ends by then. */
function toWholePeriods(periods: Periods, { from, to }: Interval, over?: Instant): Interval {
  const end = periods.ceil(to)
  return { from: periods.ceil(from), to: over === undefined || end === to ? end : Math.min(end, periods.floor(over)) }
}

/** An interval with the length of its periods. A single calendar period is exactly as long as its interval. */
const withStep = ({ from, to }: Interval, step: number | null, periods: Periods | null): Hole => ({
  from,
  to,
  step: periods && periods.ceil(from + 1) === to ? to - from : step,
})

/** Rule 25: whether an absence is not requested again. */
const isGivenUp = ({ sinceAt, checkedAt }: Absence): boolean => checkedAt - sinceAt > GIVEN_UP

/** Rule 20: merges adjacent absences that are requested again at about the same time, or never. */
const mergeAbsences = (rows: readonly Absence[]): readonly Absence[] =>
  mergeAdjacent(rows, (a, b) => {
    const ages = isGivenUp(a)
      ? isGivenUp(b)
      : !isGivenUp(b) && Math.abs(a.sinceAt - b.sinceAt) < DAY && Math.abs(a.checkedAt - b.checkedAt) < DAY
    if (!ages || !isSameStep(a.step, b.step)) return null
    const checkedAt = isGivenUp(b) ? Math.max(a.checkedAt, b.checkedAt) : Math.min(a.checkedAt, b.checkedAt)
    return { ...a, to: b.to, sinceAt: Math.min(a.sinceAt, b.sinceAt), checkedAt }
  })

/** Sorts rows and merges adjacent ones of a geo. `join` returns the merged row, or null to keep both. */
export function mergeAdjacent<T extends Interval & { readonly geo: Geo }>(
  rows: readonly T[],
  join: (a: T, b: T) => T | null,
): T[] {
  const merged: T[] = []
  for (const row of [...rows].sort((a, b) => a.geo - b.geo || a.from - b.from)) {
    const last = merged.at(-1)
    const joined = last && last.geo === row.geo && last.to === row.from ? join(last, row) : null
    if (joined) merged[merged.length - 1] = joined
    else merged.push(row)
  }
  return merged
}

const cutAbsence = (row: Absence, window: Interval): Absence[] =>
  subtract([row], [window]).map((part) => ({ ...row, ...part }))

/** Rule 18: adds the instants of dismissed rejects to the values of their geo. */
function addDismissed({ values, dismissed }: SeriesReply): ReadonlyMap<Geo, GeoValues> {
  const added = new Map(values)
  for (const key of dismissed) {
    const ofGeo = key && added.get(key.geo)
    if (!ofGeo || ofGeo.at.includes(key.at)) continue
    const [at, steps] = [[...ofGeo.at], [...listSteps(ofGeo)]]
    const next = at.findIndex((instant) => instant > key.at)
    const place = next === -1 ? at.length : next
    steps.splice(place, 0, steps[Math.max(0, place - 1)]!)
    at.splice(place, 0, key.at)
    added.set(key.geo, { at, steps })
  }
  return added
}

/** Average lengths in seconds of periods whose length depends on the calendar. */
const CALENDAR_LENGTHS_S = [365.2425 * DAY, 30.436875 * DAY, DAY]

/** The number of periods in an absence; null if its step is not known. */
export function countPeriods({ from, to, step }: Absence): number | null {
  if (step === null) return null
  const unit = CALENDAR_LENGTHS_S.find((length) => Math.abs(step - length) <= length / 20) ?? step
  return Math.max(1, Math.round((to - from) / unit))
}
