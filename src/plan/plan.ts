import type { Ask } from '../job/ask.ts'
import { planCatalogue, planListings } from './listings.ts'
import type { Planning } from './planning.ts'
import { planSeries } from './series.ts'

/** Job + what is held + clock → the requests that are needed, lazily: first the catalogue, then series, then the other listings. */
export function* plan(planning: Planning): Generator<Ask> {
  yield* planCatalogue(planning)
  for (const entry of planning.job.series) yield* planSeries(planning, entry)
  yield* planListings(planning)
}
