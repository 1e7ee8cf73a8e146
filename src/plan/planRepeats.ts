import { ALL_GEOS } from '../db/tables/codes.ts'
import { type PlannedRequest, seriesKey } from '../job/plannedRequest.ts'
import type { Span } from '../judge/judgeTypes.ts'
import { EARLY_S } from '../judge/limits.ts'
import type { Service } from '../service/service.ts'
import type { Size } from '../service/windowSizes.ts'
import { DAY, type Instant } from '../util/time/instant.ts'
import { type Interval, merge, overlaps } from '../util/time/interval.ts'
import type { Periods } from '../util/time/periods.ts'
import { addUnits, floorTo, type Unit } from '../util/time/zone.ts'
import { dueIntervals, isAbsent, isSilent } from './due.ts'
import type { SelectedSeries } from './entries.ts'
import { isSkipped } from './freshness.ts'
import { type GeoGroup, groupHoles } from './geoGroups.ts'
import type { PlanContext } from './planning.ts'
import { createWindows } from './planSeries.ts'
import { chooseSize, smaller } from './sizes.ts'
import { widen } from './windows.ts'

/*
 * R4, R5 and R7 (docs/decisions/001-coverage.md): repeated requests for absent periods and silent ranges, for which the service had no
 * values. They are a small share of a run.
 */

/** A series with its due absent periods and silent ranges. */
export interface DueRepeats {
  readonly selected: SelectedSeries
  readonly spans: readonly Span[]
}

interface Candidate {
  readonly checks: number
  readonly dueAt: Instant
  /** Days with due spans, without others between them. */
  readonly window: Interval
  readonly unit: Unit
  /** Whether it is requested as a whole: the service probably has no values. */
  readonly isWhole: boolean
  readonly plan: (window: Interval) => PlannedRequest
}

/**
 * Plans the repeats that are due: those with the fewest checks first, then those due longest. `share`: the number of periods that they
 * may have. The first request of a day may have more, but then it is small; with `isFirstSmall` it always is.
 */
export function planRepeats(
  planning: PlanContext,
  dueRepeats: readonly DueRepeats[],
  share: number,
  isFirstSmall: boolean,
): PlannedRequest[] {
  const zone = planning.service.timeZone
  // Other jobs may request the candidates beyond the share, so all are noted in a copy.
  const tentative = { ...planning, requested: planning.requested.copy() }
  const candidates = dueRepeats.flatMap((series) => [...listCandidates(tentative, series)])
  candidates.sort((a, b) => a.checks - b.checks || a.dueAt - b.dueAt)
  const requests: PlannedRequest[] = []
  let left = share
  for (const candidate of candidates) {
    const isFirst = requests.length === 0
    const fitting = isFirst && isFirstSmall ? null : fitShare(zone, candidate, left)
    const planned = fitting ?? (isFirst && isRepeatDue(planning) ? planSmall(zone, candidate) : null)
    if (!planned) break
    left -= planned.periods!
    planning.requested.add(seriesKey(planned.series!), planned.geoIds, [planned.window!])
    requests.push(planned)
  }
  return requests
}

/** R5: a tenth of the other periods. */
export const calculateRepeatShare = (otherPeriods: number): number => Math.floor(otherPeriods / 10)

/** R5: whether a job may repeat a request beyond its share, once a day. */
export function isRepeatDue({ jobId, plannerState, now }: PlanContext): boolean {
  const last = jobId ? plannerState.repeatRequestedAt(jobId) : undefined
  return last === undefined || Math.abs(now - last) >= DAY - EARLY_S
}

/** Plans the smallest request for a candidate: one day, or one month or year of a series grouped by it. */
const planSmall = (zone: string, { window, unit, isWhole, plan }: Candidate): PlannedRequest =>
  plan(isWhole ? window : firstUnits(zone, window, unit, 1))

/** Plans as many whole days of a candidate as fit into a number of periods; null if none fits. */
function fitShare(zone: string, { window, unit, isWhole, plan }: Candidate, periods: number): PlannedRequest | null {
  const whole = plan(window)
  if (whole.periods! <= periods) return whole
  if (isWhole) return null
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

/** Lists windows in which values of a series are requested again, for the geos that lack them. */
function* listCandidates(planning: PlanContext, { selected, spans }: DueRepeats): Generator<Candidate> {
  const { service, requested } = planning
  const { entry, series, key, geoIds, finality } = selected
  if (isSkipped(planning, entry.path, entry.route, series.indicatorId)) return
  const { cut, request } = createWindows(planning, selected)
  const size = candidateSize(service, selected, geoIds)
  const absences = spans.filter(isAbsent)
  const silences = spans.filter(isSilent)
  for (const { lacking, groups, isWhole } of [
    { lacking: absences, groups: groupGeos(planning, selected, absences, geoIds), isWhole: false },
    { lacking: silences, groups: groupSilences(planning, selected, silences), isWhole: true },
  ])
    for (const group of groups)
      for (const window of cut(group.holes, size)) {
        const parts = group.geoIds.map((geoId) => ({ geoId, inside: findInside(selected, lacking, geoId, window) }))
        const dueGeoIds = parts.flatMap(({ geoId, inside }) => (inside.length > 0 ? [geoId] : []))
        if (dueGeoIds.length === 0) continue
        const inside = parts.flatMap((part) => part.inside)
        requested.add(key, dueGeoIds, [window])
        yield {
          checks: Math.min(...inside.map(countChecks)),
          dueAt: Math.min(...inside.map(({ nextAt }) => nextAt!)),
          window,
          unit: finality.unit,
          isWhole,
          plan(part) {
            const planned = request(part, { geoIds: dueGeoIds, reason: 'absent' })
            // A reply without values is small: each day counts as one period.
            return isWhole ? { ...planned, periods: Math.round((part.to - part.from) / DAY) } : planned
          },
        }
      }
}

/** Groups geos by the days of their spans that are not requested yet. */
const groupGeos = (
  { service, requested }: PlanContext,
  { key, finality: { unit } }: SelectedSeries,
  spans: readonly Span[],
  geoIds: readonly number[],
): GeoGroup[] =>
  groupHoles(
    geoIds.map((geoId) => {
      const days = merge(dueIntervals(spans, geoId).map((interval) => widen(service.timeZone, interval, unit)))
      return { geoId, holes: requested.findUnrequested(key, geoId, days) }
    }),
  )

/** Groups the geos without values. If an entry requires all geos, those are requested by name, unless no known one has values. */
function groupSilences(planning: PlanContext, selected: SelectedSeries, silences: readonly Span[]): GeoGroup[] {
  const { geoIds, entry, state } = selected
  if (!geoIds.includes(ALL_GEOS)) return groupGeos(planning, selected, silences, geoIds)
  const silent = [...new Set(silences.map(({ geoId }) => geoId))]
  return groupGeos(planning, selected, silences, silent).map((group) => {
    const isWhole = entry.geoAgg !== null || state.timelines.every(({ geoId }) => group.geoIds.includes(geoId))
    return isWhole ? { ...group, geoIds: [ALL_GEOS] } : group
  })
}

/** The spans of a geo in a window. M2: a reply contains a period only if it begins in the window. */
const findInside = (
  { finality: { periods } }: SelectedSeries,
  spans: readonly Span[],
  geoId: number,
  window: Interval,
): Span[] =>
  spans.filter(
    (span) =>
      (geoId === ALL_GEOS || span.geoId === geoId) &&
      overlaps(span, window) &&
      (!periods || periodBeginsIn(periods, span, window)),
  )

/** The number of requests in vain, at distances of 1, 2, 4 … days. */
function countChecks({ nextAt, sinceAt, reply }: Span): number {
  const at = nextAt! + EARLY_S
  const waited = reply ? at - reply.fetchedAt : (at - sinceAt! + DAY) / 2
  return Math.round(Math.log2(Math.max(DAY, waited) / DAY))
}

/** The window size for repeats. A `chunk` of the job does not exceed the learned size, because a candidate counts as one request. */
function candidateSize(service: Service, { entry, state }: SelectedSeries, geoIds: readonly number[]): Size {
  const size = chooseSize(service, entry, state, geoIds)
  return state.windowS === null ? size : smaller(size, chooseSize(service, { ...entry, chunk: null }, state, []))
}

/** Whether a period of an interval begins in a window. */
function periodBeginsIn(periods: Periods, interval: Interval, window: Interval): boolean {
  const first = periods.ceil(Math.max(interval.from, window.from))
  return first < Math.min(interval.to, window.to)
}
