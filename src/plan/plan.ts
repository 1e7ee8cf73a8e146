import type { SeriesEntry } from '../job/job.ts'
import type { PlannedRequest } from '../job/plannedRequest.ts'
import { planAbsences } from './absences.ts'
import { createAsked } from './asked.ts'
import { planCatalogue, planListings } from './listings.ts'
import { latestFirst } from './order.ts'
import type { Planning } from './planning.ts'
import { asksAll, keysOf } from './question.ts'
import { planSeries } from './series.ts'
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
  const newestFirst = options.newestFirst || job.newestFirst
  if (newestFirst) yield* latestFirst(singles({ ...planning, options: { ...options, newestFirst } }, whole))
  else for (const entry of job.series) yield* planSeries(planning, entry, whole)
  yield* planListings(planning)
  yield* planAbsences(planning, asked.calls() - before, whole)
}

/** The requests of every single indicator of a job. */
function* singles(planning: Planning, whole: Whole): Generator<Generator<PlannedRequest>> {
  for (const entry of planning.job.series)
    for (const id of entry.indicators) yield planSeries(planning, { ...entry, indicators: [id] }, whole)
}

/** Entries in the order of the job, but those of some geos of a series after those of all its geos, which bring them along. */
function inOrder(entries: readonly SeriesEntry[]): readonly SeriesEntry[] {
  if (entries.every(asksAll) || !entries.some(asksAll)) return entries
  const whole = new Set(entries.filter(asksAll).flatMap(keysOf))
  const isPart = (entry: SeriesEntry): boolean => !asksAll(entry) && keysOf(entry).some((key) => whole.has(key))
  return [...entries.filter((entry) => !isPart(entry)), ...entries.filter(isPart)]
}
