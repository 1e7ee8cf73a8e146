import type { SeriesEntry } from '../job/job.ts'
import type { PlannedRequest } from '../job/plannedRequest.ts'
import { planAbsences } from './absences.ts'
import { coversAllGeos, keysOf } from './entries.ts'
import { planInstants } from './instants.ts'
import { planCatalogue, planListings } from './listings.ts'
import { createMissingLater, type MissingLater } from './missingLater.ts'
import { latestFirst } from './order.ts'
import type { Planning } from './planning.ts'
import { createRequested } from './requested.ts'
import { type Lane, planLanes } from './series.ts'

/**
 * Job + what is held + clock → the requests that are needed, lazily: first the catalogue, then series, then the other
 * listings, then what was absent at the source and is due again.
 */
export function* plan(
  given: Omit<Planning, 'requested'> & Partial<Pick<Planning, 'requested'>>,
): Generator<PlannedRequest> {
  const { options, requested = createRequested() } = given
  const job = { ...given.job, series: inOrder(given.job.series) }
  const planning = { ...given, job, requested }
  const before = requested.calls()
  const whole = createMissingLater(planning)
  yield* planCatalogue(planning)
  for (const entry of job.series) yield* planInstants(planning, entry)
  const newestFirst = options.newestFirst || job.newestFirst
  const lanes = lanesOf({ ...planning, options: { ...options, newestFirst } }, whole)
  if (newestFirst) yield* latestFirst(lanes)
  else for (const { requests } of lanes) yield* requests
  yield* planListings(planning)
  yield* planAbsences(planning, requested.calls() - before, whole)
}

/** What is requested of every series of a job. */
function* lanesOf(planning: Planning, whole: MissingLater): Generator<Lane> {
  for (const entry of planning.job.series) yield* planLanes(planning, entry, whole)
}

/** Entries in the order of the job, but those of some geos of a series after those of all its geos, which bring them along. */
function inOrder(entries: readonly SeriesEntry[]): readonly SeriesEntry[] {
  if (entries.every(coversAllGeos) || !entries.some(coversAllGeos)) return entries
  const whole = new Set(entries.filter(coversAllGeos).flatMap(keysOf))
  const isPart = (entry: SeriesEntry): boolean => !coversAllGeos(entry) && keysOf(entry).some((key) => whole.has(key))
  return [...entries.filter((entry) => !isPart(entry)), ...entries.filter(isPart)]
}
