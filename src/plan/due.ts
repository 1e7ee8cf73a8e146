import { ALL_GEOS, isAbsence } from '../db/tables/codes.ts'
import { borderUnit } from '../judge/finality.ts'
import { judge } from '../judge/judge.ts'
import type { Span } from '../judge/judgeTypes.ts'
import { type Interval, merge } from '../util/time/interval.ts'
import type { SelectedSeries } from './entries.ts'
import type { SeriesState } from './plannerState.ts'
import type { PlanContext } from './planning.ts'

/*
 * The due parts of a series: the spans of its judgement whose next request has come. The planner decides nothing about stored data itself.
 * It judges the requirements of its own job, so that no job sends requests that only another one requires.
 */

/** Finds the due spans of what an entry requires of a series. */
export function findDueSpans(
  { service, now }: PlanContext,
  { entry, state, requirement, longestLookbackS }: SelectedSeries,
): Span[] {
  if (requirement.from >= requirement.to) return []
  const { timelines, coverage, absences, period = null } = state
  const stored = {
    timelines,
    absences,
    period,
    lookbackS: longestLookbackS,
    zone: service.timeZone,
    unit: borderUnit(entry.timeTrunc),
    failures: [],
    accepted: [],
    // An unknown id is skipped as a whole, with a notice.
    unknown: null,
    allowedLagS: null,
  }
  const judgeDue = (rows: SeriesState['coverage']): Span[] =>
    judge([requirement], { ...stored, coverage: rows }, now).filter(
      ({ from, to, nextAt }) => nextAt !== null && nextAt <= now && from < requirement.to && to > requirement.from,
    )
  const due = judgeDue(coverage)
  // A reply for all geos need not renew verified replies for single geos, so these do not make it due.
  const ofAll = coverage.filter(({ geo, state }) => geo === ALL_GEOS || state === 'unverified')
  if (requirement.geoIds !== null || ofAll.length === coverage.length) return due
  return [...judgeDue(ofAll).filter(isOrdinary), ...due.filter(isRepeated)]
}

/** Whether a due span is requested in full. */
export const isOrdinary = ({ state, reason }: Span): boolean =>
  reason === 'never requested' || reason === 'unverified' || (reason === null && state === 'provisional')

/** R4: missing periods. */
export const isAbsent = ({ state, reason }: Span): boolean =>
  state === 'missing' && reason !== null && isAbsence(reason)

/** R7: final data before the first or after the last value. */
export const isSilent = ({ state, reason }: Span): boolean => state === 'complete' && reason === null

/** Whether a due span is requested by repeats, which are a small share of a run: the service had no values for it. */
export const isRepeated = (span: Span): boolean => isAbsent(span) || isSilent(span)

/** The due intervals for a geo that is requested. A request for all geos is due if that for any geo is. */
export const dueIntervals = (spans: readonly Span[], geoId: number): Interval[] =>
  merge(spans.filter((span) => geoId === ALL_GEOS || span.geoId === geoId))
