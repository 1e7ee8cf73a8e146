import { ALL_GEOS, isAbsence } from '../db/tables/codes.ts'
import { borderUnit } from '../judge/finality.ts'
import { judgeAhead } from '../judge/judge.ts'
import type { Span } from '../judge/judgeTypes.ts'
import { type Interval, merge } from '../util/time/interval.ts'
import type { SelectedSeries } from './entries.ts'
import type { PlanContext } from './planning.ts'

/*
 * What of a series is due: the spans of its judgement whose next request has come. The planner decides nothing about stored data itself.
 * It judges what its own job requires, so that no job requests what only another one requires.
 */

/** Finds the due spans of what an entry requires of a series. */
export function findDueSpans({ service, now }: PlanContext, { entry, state, want, lookbackS }: SelectedSeries): Span[] {
  if (want.from >= want.to) return []
  const { timelines, coverage, absences, period = null } = state
  const stored = {
    ...{ timelines, coverage, absences, period, lookbackS },
    zone: service.timeZone,
    unit: borderUnit(entry.timeTrunc),
    failures: [],
    accepted: [],
    // An unknown id is skipped as a whole, with a notice.
    unknown: null,
    allowedLagS: null,
  }
  const isInWant = ({ from, to }: Span): boolean => from < want.to && to > want.from
  return judgeAhead([want], stored, now).filter((span) => span.nextAt !== null && span.nextAt <= now && isInWant(span))
}

/** Whether a due span is requested in full. */
export const isOrdinary = ({ state, reason }: Span): boolean =>
  reason === 'never requested' || reason === 'unverified' || (reason === null && state === 'provisional')

/** Rule 25: missing periods. */
export const isAbsent = ({ state, reason }: Span): boolean =>
  state === 'missing' && reason !== null && isAbsence(reason)

/** Rule 28: final data before the first or after the last value. */
export const isSilent = ({ state, reason }: Span): boolean => state === 'complete' && reason === null

/** Whether the service did not have the values of a due span: it is requested as a small share of a run. */
export const isRepeated = (span: Span): boolean => isAbsent(span) || isSilent(span)

/** The due intervals for a geo that is requested. A request for all geos is due if that for any geo is. */
export const dueIntervals = (spans: readonly Span[], geoId: number): Interval[] =>
  merge(spans.filter((span) => geoId === ALL_GEOS || span.geoId === geoId))
