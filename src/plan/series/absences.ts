import { ALL_GEOS } from '../../db/tables/codes.ts'
import type { SeriesEntry } from '../../job/job.ts'
import { type PlannedRequest, seriesKey } from '../../job/plannedRequest.ts'
import { absentNext, EARLY_S } from '../../job/plannerState.ts'
import type { Service } from '../../service/service.ts'
import type { Size } from '../../service/windowSizes.ts'
import { DAY, type Instant, isFuture } from '../../util/time/instant.ts'
import { type Interval, intersect, subtract } from '../../util/time/interval.ts'
import type { Periods } from '../../util/time/periods.ts'
import { isSkipped } from '../freshness.ts'
import type { Planning } from '../planning.ts'
import { sizeFor, smaller } from '../sizes.ts'
import { addSize, widen } from '../windows.ts'
import { type EntrySeries, seriesOf } from './entrySeries.ts'
import { groupHoles } from './groups.ts'
import type { MissingLater } from './missing.ts'
import { splitIntoWindows } from './seriesWindows.ts'

interface Due extends Interval {
  readonly dueAt: Instant
}
interface Candidate {
  readonly dueAt: Instant
  readonly planned: PlannedRequest
}

/** Joins intervals that are so near to each other that one window holds them. */
function joinNearby(intervals: readonly Interval[], near: (at: Instant) => Instant): Interval[] {
  const joined: Interval[] = []
  for (const { from, to } of [...intervals].sort((a, b) => a.from - b.from)) {
    const last = joined.at(-1)
    if (last && to <= near(last.from)) joined[joined.length - 1] = { from: last.from, to: Math.max(last.to, to) }
    else joined.push({ from, to })
  }
  return joined
}

/** Whether a period of an interval begins in a window. */
function periodBeginsIn(periods: Periods, interval: Interval, window: Interval): boolean {
  const first = periods.ceil(Math.max(interval.from, window.from))
  return first < Math.min(interval.to, window.to)
}

/** The absences of a geo that are due. Where the geo was answered by itself, absences of all geos do not count. */
function findDue({ state: { coverage, absences }, wanted }: EntrySeries, geoId: number, now: Instant): Due[] {
  const own = coverage.filter((row) => row.geo === geoId)
  return absences.flatMap((absence): Due[] => {
    const dueAt = isFuture(absence.checked, now) ? now : absentNext(absence)
    if (dueAt === null || dueAt - EARLY_S > now) return []
    if (geoId !== ALL_GEOS && absence.geo !== ALL_GEOS && absence.geo !== geoId) return []
    const left = geoId === ALL_GEOS || absence.geo === geoId ? [absence] : subtract([absence], own)
    return intersect(left, [wanted]).map((part) => ({ ...part, dueAt }))
  })
}

/** The window size of a series; a `chunk` of the job does not exceed the learned size here, because a candidate counts as one call. */
function sizeOfOne(service: Service, { entry, state }: EntrySeries, geoIds: readonly number[]): Size {
  const size = sizeFor(service, entry, state, geoIds)
  return state.windowS === null ? size : smaller(size, sizeFor(service, { ...entry, chunk: null }, state, []))
}

/** The windows of one entry in which absences are due, each once, for the geos that have absences due in it. */
function* candidates(planning: Planning, entry: SeriesEntry, missingLater: MissingLater): Generator<Candidate> {
  const { service, now, requested } = planning
  const zone = service.timeZone
  for (const one of seriesOf(planning, entry)) {
    const { series, key, state } = one
    const { unit, periods } = one.freshness
    if (state.absences.length === 0) continue
    const due = new Map(one.geoIds.map((geoId) => [geoId, findDue(one, geoId, now)]))
    const geoIds = [...due].flatMap(([geoId, some]) => (some.length > 0 ? [geoId] : []))
    if (geoIds.length === 0 || isSkipped(planning, entry.path, entry.route, series.indicatorId)) continue
    const size = sizeOfOne(service, one, geoIds)
    const intervals = joinNearby(
      [...due.values()].flat().map((absence) => widen(zone, absence, unit)),
      (at) => addSize(zone, at, size),
    )
    // What a later job requests for all geos covers it, too.
    const rest = subtract(intervals, missingLater(key))
    const groups = groupHoles(geoIds.map((geoId) => ({ geoId, holes: requested.untouched(key, geoId, rest) })))
    const own = splitIntoWindows(planning, one)
    for (const group of groups)
      for (const piece of own.cut(group.holes, size)) {
        // An answer contains a period only if the period begins in the window.
        const isFetched = (absence: Due): boolean =>
          absence.from < piece.to && absence.to > piece.from && (!periods || periodBeginsIn(periods, absence, piece))
        const dueGeoIds = group.geoIds.filter((geoId) => due.get(geoId)!.some(isFetched))
        if (dueGeoIds.length === 0) continue
        const inside = dueGeoIds.flatMap((geoId) => due.get(geoId)!.filter(isFetched))
        // The window begins and ends with an absence that is due, wherever the joined interval was cut.
        const reach = { from: Math.min(...inside.map(({ from }) => from)), to: Math.max(...inside.map(({ to }) => to)) }
        const window = intersect([piece], [widen(zone, reach, unit)])[0]!
        requested.add(key, dueGeoIds, [window])
        const planned = own.request(window, { geoIds: dueGeoIds, reason: 'absent' })
        yield { dueAt: Math.min(...inside.map(({ dueAt }) => dueAt)), planned }
      }
  }
}

/** How many requests for absences a run sends beside so many others: a tenth. */
export const absentShare = (others: number): number => Math.floor(others / 10)

/** How many requests of a run are for absences; where a tenth is less than one, one a day. */
function absentBudget({ job, plannerState, now }: Planning, others: number): number {
  const tenth = absentShare(others)
  if (tenth > 0) return tenth
  const last = plannerState.absentRequestedAt(job.name)
  return last === undefined || Math.abs(now - last) >= DAY - EARLY_S ? 1 : 0
}

/** Plans requests for absences that are due, those due longest first, as a small share of the run's other requests. */
export function* planAbsences(
  planning: Planning,
  others: number,
  missingLater: MissingLater,
): Generator<PlannedRequest> {
  const share = planning.options.restate ? 0 : absentBudget(planning, others)
  if (share === 0) return
  // Candidates beyond the share are not requested, so they are noted in a copy: other jobs may request them.
  const tentative = { ...planning, requested: planning.requested.copy() }
  const found = planning.job.series.flatMap((entry) => [...candidates(tentative, entry, missingLater)])
  found.sort((a, b) => a.dueAt - b.dueAt)
  for (const { planned } of found.slice(0, share)) {
    planning.requested.add(seriesKey(planned.series!), planned.geoIds, [planned.window!])
    yield planned
  }
}
