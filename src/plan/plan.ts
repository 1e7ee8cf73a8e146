import type { SeriesEntry } from '../job/job.ts'
import { ALL_GEOS, type PlannedRequest, seriesKey } from '../job/plannedRequest.ts'
import { planAbsences } from './absences.ts'
import { createAsked } from './asked.ts'
import { planCatalogue, planListings } from './listings.ts'
import { latestFirst } from './order.ts'
import type { Planning } from './planning.ts'
import { geosOf, identityOf } from './question.ts'
import { planSeries } from './series.ts'

/**
 * Job + what is held + clock → the requests that are needed, lazily: first the catalogue, then series, then the other
 * listings, then what was absent at the source and is due again.
 */
export function* plan(given: Omit<Planning, 'asked'> & Partial<Pick<Planning, 'asked'>>): Generator<PlannedRequest> {
  const planning = { ...given, asked: given.asked ?? createAsked() }
  const { job, options, asked } = planning
  const before = asked.calls()
  yield* planCatalogue(planning)
  const newestFirst = options.newestFirst || job.newestFirst
  if (newestFirst) yield* latestFirst(singles({ ...planning, options: { ...options, newestFirst } }))
  else for (const entry of inOrder(job.series)) yield* planSeries(planning, entry)
  yield* planListings(planning)
  yield* planAbsences(planning, asked.calls() - before)
}

/** The requests of every single indicator of a job. */
function* singles(planning: Planning): Generator<Generator<PlannedRequest>> {
  for (const entry of inOrder(planning.job.series))
    for (const id of entry.indicators) yield planSeries(planning, { ...entry, indicators: [id] })
}

/** Entries in the order of the job, but those of some geos of a series after those of all its geos, which bring them along. */
function inOrder(entries: readonly SeriesEntry[]): readonly SeriesEntry[] {
  const asksAll = (entry: SeriesEntry): boolean => geosOf(entry).includes(ALL_GEOS)
  if (entries.every(asksAll) || !entries.some(asksAll)) return entries
  const keysOf = (entry: SeriesEntry): string[] => entry.indicators.map((id) => seriesKey(identityOf(entry, id)))
  const whole = new Set(entries.filter(asksAll).flatMap(keysOf))
  const isPart = (entry: SeriesEntry): boolean => !asksAll(entry) && keysOf(entry).some((key) => whole.has(key))
  return [...entries.filter((entry) => !isPart(entry)), ...entries.filter(isPart)]
}
