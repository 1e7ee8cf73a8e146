import { type Executed, ingestAll, type SyncContext } from './ingestAll.ts'
import type { Job } from './job/job.ts'
import type { PlannedRequest } from './job/plannedRequest.ts'
import { applySelectors, needsCatalogue, resolveSelectors } from './job/select.ts'
import { namesGeos } from './plan/entries.ts'
import { planSelection } from './plan/listings.ts'
import type { JobWithOptions, Planning } from './plan/planning.ts'
import { createRequested } from './plan/requested.ts'
import { readCatalogue } from './state/catalogue.ts'

/** What a job selects, and the run that requested the catalogue for that; `selected` is null where that run did not get it. */
type Selection =
  | { readonly first: Executed; readonly selected: null }
  | {
      /** Null where the catalogue was not needed, or was there. */
      readonly first: Executed | null
      /** The job and those after it, with the indicators that they select by number. */
      readonly selected: { readonly job: Job; readonly later: readonly JobWithOptions[] }
    }

/** Selecting indicators by their catalogue entries needs the catalogue in the database: where it is missing, it is requested first. */
export async function selectIndicators(
  context: SyncContext,
  job: Job,
  command: string,
  planningOf: (job: Job) => Promise<Planning>,
): Promise<Selection> {
  const { store, later = [] } = context
  const jobs = namesGeos(job) ? [job, ...later.map((one) => one.job)] : [job]
  const readListed = async () => (jobs.some(needsCatalogue) ? await readCatalogue(store) : [])
  // While there is no catalogue, request it again even if an earlier job of the same command did so without success.
  const again = (await readListed()).length > 0 ? {} : { requested: createRequested() }
  const missing: PlannedRequest[] = []
  for (const one of jobs.filter(needsCatalogue))
    missing.push(...planSelection({ ...(await planningOf(one)), ...again }))
  const first = missing.length > 0 ? await ingestAll(context, job, command, missing, missing.length) : null
  const catalogue = await readListed()
  if (first && (first.stop || (needsCatalogue(job) && catalogue.length === 0))) return { first, selected: null }
  const selected = {
    job: resolveSelectors(job, catalogue),
    later: later.map((one) => ({ ...one, job: applySelectors(one.job, catalogue) })),
  }
  return { first, selected }
}
