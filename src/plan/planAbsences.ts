import { ALL_GEOS } from '../db/tables/codes.ts'
import type { SeriesEntry } from '../job/job.ts'
import { type PlannedRequest, seriesKey } from '../job/plannedRequest.ts'
import { absentNext, EARLY_S } from '../job/plannerState.ts'
import type { Service } from '../service/service.ts'
import type { Size } from '../service/windowSizes.ts'
import { DAY, type Instant, isFuture } from '../util/time/instant.ts'
import { hull, type Interval, intersect, overlaps, subtract } from '../util/time/interval.ts'
import type { Periods } from '../util/time/periods.ts'
import { addUnits } from '../util/time/zone.ts'
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
}
interface Candidate {
  readonly dueAt: Instant
  readonly planned: PlannedRequest
}

/** Plans requests for absences that are due, those due longest first. `otherRequests`: their number in the run without these. */
export function* planAbsences(planning: PlanContext, otherRequests: number): Generator<PlannedRequest> {
  const share = planning.options.restate ? 0 : calculateAbsentBudget(planning, otherRequests)
  if (share === 0) return
  // Other jobs may request the candidates beyond the share, so all are noted in a copy.
  const tentative = { ...planning, requested: planning.requested.copy() }
  const candidates = planning.job.series.flatMap((entry) => [...listCandidates(tentative, entry)])
  candidates.sort((a, b) => a.dueAt - b.dueAt)
  for (const { planned } of candidates.slice(0, share)) {
    planning.requested.add(seriesKey(planned.series!), planned.geoIds, [planned.window!])
    yield planned
  }
}

/** Rule 26: a tenth of the other requests. */
export const calculateAbsentShare = (otherRequests: number): number => Math.floor(otherRequests / 10)

/** Rule 26: the share, or one request a day for each job. */
function calculateAbsentBudget({ job, plannerState, now }: PlanContext, otherRequests: number): number {
  const tenth = calculateAbsentShare(otherRequests)
  if (tenth > 0) return tenth
  const last = plannerState.absentRequestedAt(job.name)
  return last === undefined || Math.abs(now - last) >= DAY - EARLY_S ? 1 : 0
}

/** Lists windows of an entry in which absences are due, for the geos that have them. */
function* listCandidates(planning: PlanContext, entry: SeriesEntry): Generator<Candidate> {
  const { service, now, requested } = planning
  const zone = service.timeZone
  for (const selected of listSelectedSeries(planning, entry)) {
    const { series, key, state } = selected
    const { unit, periods } = selected.freshness
    if (state.absences.length === 0) continue
    const due = new Map(selected.geoIds.map((geoId) => [geoId, findDue(selected, geoId, now)]))
    const geoIds = [...due].flatMap(([geoId, absences]) => (absences.length > 0 ? [geoId] : []))
    if (geoIds.length === 0 || isSkipped(planning, entry.path, entry.route, series.indicatorId)) continue
    const size = candidateSize(service, selected, geoIds)
    const intervals = joinNearby(
      [...due.values()].flat().map((absence) => widen(zone, absence, unit)),
      (at) => addUnits(zone, at, size.unit, size.count),
    )
    const groups = groupHoles(
      geoIds.map((geoId) => ({ geoId, holes: requested.findUnrequested(key, geoId, intervals) })),
    )
    const { cut, request } = createWindows(planning, selected)
    for (const group of groups)
      for (const part of cut(group.holes, size)) {
        // Rule 17: a reply contains a period only if it begins in the window.
        const isInPart = (absence: DueAbsence): boolean =>
          overlaps(absence, part) && (!periods || periodBeginsIn(periods, absence, part))
        const dueGeoIds = group.geoIds.filter((geoId) => due.get(geoId)!.some(isInPart))
        if (dueGeoIds.length === 0) continue
        const inside = dueGeoIds.flatMap((geoId) => due.get(geoId)!.filter(isInPart))
        // The window begins and ends with a due absence, although the joined interval may not.
        const window = intersect([part], [widen(zone, hull(inside), unit)])[0]!
        requested.add(key, dueGeoIds, [window])
        const planned = request(window, { geoIds: dueGeoIds, reason: 'absent' })
        yield { dueAt: Math.min(...inside.map(({ dueAt }) => dueAt)), planned }
      }
  }
}

/** Rule 25: the absences of a geo that are due. Absences of all geos do not count in the geo's own coverage. */
function findDue(
  { state: { coverage, absences }, selectedRange }: SelectedSeries,
  geoId: number,
  now: Instant,
): DueAbsence[] {
  const ofGeo = coverage.filter((row) => row.geo === geoId)
  return absences.flatMap((absence): DueAbsence[] => {
    const dueAt = isFuture(absence.checkedAt, now) ? now : absentNext(absence)
    if (dueAt === null || dueAt - EARLY_S > now) return []
    if (geoId !== ALL_GEOS && absence.geo !== ALL_GEOS && absence.geo !== geoId) return []
    const parts = geoId === ALL_GEOS || absence.geo === geoId ? [absence] : subtract([absence], ofGeo)
    return intersect(parts, [selectedRange]).map((part) => ({ ...part, dueAt }))
  })
}

/** The window size for absences. A `chunk` of the job does not exceed the learned size, because a candidate counts as one request. */
function candidateSize(service: Service, { entry, state }: SelectedSeries, geoIds: readonly number[]): Size {
  const size = chooseSize(service, entry, state, geoIds)
  return state.windowS === null ? size : smaller(size, chooseSize(service, { ...entry, chunk: null }, state, []))
}

/** Joins intervals that fit into one window. `windowEnd`: the end of a window that begins at an instant. */
function joinNearby(intervals: readonly Interval[], windowEnd: (from: Instant) => Instant): Interval[] {
  const joined: Interval[] = []
  for (const { from, to } of [...intervals].sort((a, b) => a.from - b.from)) {
    const last = joined.at(-1)
    if (last && to <= windowEnd(last.from)) joined[joined.length - 1] = { from: last.from, to: Math.max(last.to, to) }
    else joined.push({ from, to })
  }
  return joined
}

/** Whether a period of an interval begins in a window. */
function periodBeginsIn(periods: Periods, interval: Interval, window: Interval): boolean {
  const first = periods.ceil(Math.max(interval.from, window.from))
  return first < Math.min(interval.to, window.to)
}
