import type { SeriesEntry } from '../job/job.ts'
import type { PlannedRequest } from '../job/plannedRequest.ts'
import { coversAllGeos, keysOf } from './entries.ts'
import { planInstants } from './instants.ts'
import { planCatalogue, planListings } from './listings.ts'
import type { Planning } from './planning.ts'
import { createRequested } from './requested.ts'
import { planAbsences } from './series/absences.ts'
import type { MissingLater } from './series/missing.ts'
import { createMissingLater } from './series/missingLater.ts'
import { latestFirst } from './series/order.ts'
import { planSeries, type SeriesRequests } from './series/seriesRequests.ts'

/**
 * Job + planner state + clock → the requests that are needed, lazily: first the catalogue, then series, then the other
 * listings, then absences that are due.
 */
export function* plan(
  given: Omit<Planning, 'requested'> & Partial<Pick<Planning, 'requested'>>,
): Generator<PlannedRequest> {
  const { options, requested = createRequested() } = given
  const job = { ...given.job, series: inOrder(given.job.series) }
  const planning = { ...given, job, requested }
  const before = requested.requests()
  const missingLater = createMissingLater(planning)
  yield* planCatalogue(planning)
  for (const entry of job.series) yield* planInstants(planning, entry)
  const newestFirst = options.newestFirst || job.newestFirst
  const series = seriesRequests({ ...planning, options: { ...options, newestFirst } }, missingLater)
  if (newestFirst) yield* latestFirst(series)
  else for (const { requests } of series) yield* requests
  yield* planListings(planning)
  yield* planAbsences(planning, requested.requests() - before, missingLater)
}

/** The requests of every series of a job. */
function* seriesRequests(planning: Planning, missingLater: MissingLater): Generator<SeriesRequests> {
  for (const entry of planning.job.series) yield* planSeries(planning, entry, missingLater)
}

/** Entries in the order of the job, except that entries for some geos come after entries for all geos of the same series, which cover them. */
function inOrder(entries: readonly SeriesEntry[]): readonly SeriesEntry[] {
  if (entries.every(coversAllGeos) || !entries.some(coversAllGeos)) return entries
  const whole = new Set(entries.filter(coversAllGeos).flatMap(keysOf))
  const isPart = (entry: SeriesEntry): boolean => !coversAllGeos(entry) && keysOf(entry).some((key) => whole.has(key))
  return [...entries.filter((entry) => !isPart(entry)), ...entries.filter(isPart)]
}
