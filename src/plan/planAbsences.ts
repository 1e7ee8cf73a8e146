import { ALL_GEOS } from '../db/tables/codes.ts'
import type { SeriesEntry } from '../job/job.ts'
import { type PlannedRequest, seriesKey } from '../job/plannedRequest.ts'
import { type Absence, absentNext, countChecks, EARLY_S, toleratedNext } from '../job/plannerState.ts'
import type { Service } from '../service/service.ts'
import type { Size } from '../service/windowSizes.ts'
import { DAY, type Instant, isFuture } from '../util/time/instant.ts'
import { type Interval, intersect, merge, overlaps, subtract } from '../util/time/interval.ts'
import type { Periods } from '../util/time/periods.ts'
import { addUnits, floorTo, type Unit } from '../util/time/zone.ts'
import { listSelectedSeries, type SelectedSeries } from './entries.ts'
import { isSkipped } from './freshness.ts'
import { groupHoles } from './missing.ts'
import type { PlanContext } from './planning.ts'
import { createWindows } from './planSeries.ts'
import { chooseSize, smaller } from './sizes.ts'
import { widen } from './windows.ts'

/* Rules 25 and 26 (docs/decisions/001-coverage.md): requests for absent data, as a small share of a run. */

interface DueAbsence extends Interval {
  readonly dueAt: Instant
  readonly checks: number
}
interface Candidate {
  readonly checks: number
  readonly dueAt: Instant
  /** Days with due absences, without others between them. */
  readonly window: Interval
  readonly unit: Unit
  readonly plan: (window: Interval) => PlannedRequest
}

/**
 * Plans requests for absences that are due: those with the fewest checks first, then those due longest. `share`: the number of periods
 * that they may have by now. The first request of a day may have more, but then it is small.
 */
export function* planAbsences(planning: PlanContext, share: () => number): Generator<PlannedRequest> {
  if (planning.options.restate) return
  const zone = planning.service.timeZone
  // Other jobs may request the candidates beyond the share, so all are noted in a copy.
  const tentative = { ...planning, requested: planning.requested.copy() }
  const candidates = planning.job.series.flatMap((entry) => [...listCandidates(tentative, entry)])
  candidates.sort((a, b) => a.checks - b.checks || a.dueAt - b.dueAt)
  let used = 0
  for (const candidate of candidates) {
    const mayExceed = used === 0 && isAbsenceDue(planning)
    const planned = fitShare(zone, candidate, share() - used) ?? (mayExceed ? planSmall(zone, candidate) : null)
    if (!planned) return
    used += planned.periods!
    planning.requested.add(seriesKey(planned.series!), planned.geoIds, [planned.window!])
    yield planned
  }
}

/** Rule 26: a tenth of the other periods. */
export const calculateAbsentShare = (otherPeriods: number): number => Math.floor(otherPeriods / 10)

/** Rule 26: whether a job may request an absence beyond its share, once a day. */
export function isAbsenceDue({ job, plannerState, now }: PlanContext): boolean {
  const last = plannerState.absentRequestedAt(job.name)
  return last === undefined || Math.abs(now - last) >= DAY - EARLY_S
}

/** Plans the smallest request for a candidate: one day, or one month or year of a series grouped by it. */
const planSmall = (zone: string, { window, unit, plan }: Candidate): PlannedRequest =>
  plan(firstUnits(zone, window, unit, 1))

/** Plans as many whole days of a candidate as fit into a number of periods; null if none fits. */
function fitShare(zone: string, { window, unit, plan }: Candidate, periods: number): PlannedRequest | null {
  const whole = plan(window)
  if (whole.periods! <= periods) return whole
  let count = Math.floor(periods / plan(firstUnits(zone, window, unit, 1)).periods!)
  for (; count > 0; count--) {
    const planned = plan(firstUnits(zone, window, unit, count))
    // A day of 25 hours has more periods than others.
    if (planned.periods! <= periods) return planned
  }
  return null
}

const firstUnits = (zone: string, window: Interval, unit: Unit, count: number): Interval => ({
  from: window.from,
  to: Math.min(window.to, addUnits(zone, floorTo(zone, window.from, unit), unit, count)),
})

/** Lists windows of an entry in which absences are due, for the geos that have them. */
function* listCandidates(planning: PlanContext, entry: SeriesEntry): Generator<Candidate> {
  const { service, now, requested } = planning
  const zone = service.timeZone
  for (const selected of listSelectedSeries(planning, entry)) {
    const { series, key, state } = selected
    const { unit, periods } = selected.freshness
    if (state.absences.length === 0) continue
    const isTolerated = createTolerance(zone, state.absences)
    const due = new Map(selected.geoIds.map((geoId) => [geoId, findDue(selected, geoId, now, isTolerated)]))
    const geoIds = [...due].flatMap(([geoId, absences]) => (absences.length > 0 ? [geoId] : []))
    if (geoIds.length === 0 || isSkipped(planning, entry.path, entry.route, series.indicatorId)) continue
    const groups = groupHoles(
      geoIds.map((geoId) => {
        const days = merge(due.get(geoId)!.map((absence) => widen(zone, absence, unit)))
        return { geoId, holes: requested.findUnrequested(key, geoId, days) }
      }),
    )
    const { cut, request } = createWindows(planning, selected)
    const size = candidateSize(service, selected, geoIds)
    for (const group of groups)
      for (const window of cut(group.holes, size)) {
        // Rule 17: a reply contains a period only if it begins in the window.
        const findInside = (geoId: number): DueAbsence[] =>
          due
            .get(geoId)!
            .filter((absence) => overlaps(absence, window) && (!periods || periodBeginsIn(periods, absence, window)))
        const dueGeoIds = group.geoIds.filter((geoId) => findInside(geoId).length > 0)
        if (dueGeoIds.length === 0) continue
        const inside = dueGeoIds.flatMap(findInside)
        requested.add(key, dueGeoIds, [window])
        yield {
          checks: Math.min(...inside.map(({ checks }) => checks)),
          dueAt: Math.min(...inside.map(({ dueAt }) => dueAt)),
          window,
          unit,
          plan: (part) => request(part, { geoIds: dueGeoIds, reason: 'absent' }),
        }
      }
  }
}

/** Rule 25: the absences of a geo that are due. Absences of all geos do not count in the geo's own coverage. */
function findDue(
  { state: { coverage, absences }, selectedRange }: SelectedSeries,
  geoId: number,
  now: Instant,
  isTolerated: (absence: Absence) => boolean,
): DueAbsence[] {
  const ofGeo = coverage.filter((row) => row.geo === geoId)
  return absences.flatMap((absence): DueAbsence[] => {
    const nextAt = isTolerated(absence) ? toleratedNext(absence) : absentNext(absence)
    const dueAt = isFuture(absence.checkedAt, now) ? now : nextAt
    if (dueAt === null || dueAt - EARLY_S > now) return []
    if (geoId !== ALL_GEOS && absence.geo !== ALL_GEOS && absence.geo !== geoId) return []
    const parts = geoId === ALL_GEOS || absence.geo === geoId ? [absence] : subtract([absence], ofGeo)
    const checks = countChecks(absence)
    return intersect(parts, [selectedRange]).map((part) => ({ ...part, dueAt, checks }))
  })
}

/** Steps below this, in seconds, lose a few values every day for ever. */
const TOLERANT_BELOW_S = 900
/** The share of a day that may be absent without being requested as often as other absences. */
const TOLERATED_SHARE = 0.02

/** Rule 25: returns whether an absence is of a short step, on a day that lacks little for its geo. */
function createTolerance(zone: string, absences: readonly Absence[]): (absence: Absence) => boolean {
  const isShort = ({ step }: Absence): boolean => step !== null && step < TOLERANT_BELOW_S
  const short = absences.filter(isShort)
  if (short.length === 0) return () => false
  const dayKey = (absence: Absence): string => `${absence.geo} ${floorTo(zone, absence.from, 'day')}`
  const lost = new Map<string, number>()
  for (const absence of short) lost.set(dayKey(absence), (lost.get(dayKey(absence)) ?? 0) + absence.to - absence.from)
  return (absence) => isShort(absence) && lost.get(dayKey(absence))! <= TOLERATED_SHARE * DAY
}

/** The window size for absences. A `chunk` of the job does not exceed the learned size, because a candidate counts as one request. */
function candidateSize(service: Service, { entry, state }: SelectedSeries, geoIds: readonly number[]): Size {
  const size = chooseSize(service, entry, state, geoIds)
  return state.windowS === null ? size : smaller(size, chooseSize(service, { ...entry, chunk: null }, state, []))
}

/** Whether a period of an interval begins in a window. */
function periodBeginsIn(periods: Periods, interval: Interval, window: Interval): boolean {
  const first = periods.ceil(Math.max(interval.from, window.from))
  return first < Math.min(interval.to, window.to)
}
