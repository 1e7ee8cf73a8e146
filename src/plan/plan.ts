import type { SeriesEntry } from '../job/job.ts'
import type { PlannedRequest } from '../job/plannedRequest.ts'
import { planAbsences } from './absences.ts'
import { createAsked } from './asked.ts'
import { planInstants } from './instants.ts'
import { planCatalogue, planListings } from './listings.ts'
import { latestFirst } from './order.ts'
import type { Planning } from './planning.ts'
import { asksAll, keysOf } from './question.ts'
import { type Lane, planLanes } from './series.ts'
import { createWhole, type Whole } from './whole.ts'

/**
 * Job + what is held + clock → the requests that are needed, lazily: first the catalogue, then series, then the other
 * listings, then what was absent at the source and is due again.
 */
export function* plan(given: Omit<Planning, 'asked'> & Partial<Pick<Planning, 'asked'>>): Generator<PlannedRequest> {
  const { options, asked = createAsked() } = given
  const job = { ...given.job, series: inOrder(given.job.series) }
  const planning = { ...given, job, asked }
  const before = asked.calls()
  const whole = createWhole(planning)
  yield* planCatalogue(planning)
  for (const entry of job.series) yield* planInstants(planning, entry)
  const newestFirst = options.newestFirst || job.newestFirst
  const lanes = lanesOf({ ...planning, options: { ...options, newestFirst } }, whole)
  if (newestFirst) yield* latestFirst(lanes)
  else for (const { requests } of lanes) yield* requests
  yield* planListings(planning)
  yield* planAbsences(planning, asked.calls() - before, whole)
}

/** What is asked of every series of a job. */
function* lanesOf(planning: Planning, whole: Whole): Generator<Lane> {
  for (const entry of planning.job.series) yield* planLanes(planning, entry, whole)
}

/** Entries in the order of the job, but those of some geos of a series after those of all its geos, which bring them along. */
function inOrder(entries: readonly SeriesEntry[]): readonly SeriesEntry[] {
  if (entries.every(asksAll) || !entries.some(asksAll)) return entries
  const whole = new Set(entries.filter(asksAll).flatMap(keysOf))
  const isPart = (entry: SeriesEntry): boolean => !asksAll(entry) && keysOf(entry).some((key) => whole.has(key))
  return [...entries.filter((entry) => !isPart(entry)), ...entries.filter(isPart)]
}
