import { findSeries } from '../db/queries/seriesLookup.ts'
import type { Reader } from '../db/store.ts'
import { type PlannedRequest, toIdentityRow } from '../job/plannedRequest.ts'

/** Selects recorded requests for a part of a planned one: of its series in its window, or of its path and query. */
async function selectEarlier({ kysely }: Pick<Reader, 'kysely'>, { series, window, http }: PlannedRequest) {
  const requests = kysely.selectFrom('_fetch as f')
  const stored = series && window ? await findSeries(kysely, toIdentityRow(series)) : undefined
  return stored && window
    ? requests
        .where('f.series_id', '=', stored.id)
        .where('f.from_at', '<', window.to)
        .where('f.to_at', '>', window.from)
    : requests.where('f.target', '=', http.target)
}

/** Sorts planned requests by the last attempt at a part of them, the oldest first. */
export async function sortByLastAttempt(
  db: Pick<Reader, 'kysely'>,
  requests: Iterable<PlannedRequest>,
): Promise<PlannedRequest[]> {
  const attempts: { readonly planned: PlannedRequest; readonly last: number }[] = []
  for (const planned of requests) {
    const earlier = await selectEarlier(db, planned)
    const row = await earlier.select(({ fn }) => fn.max('f.id').as('last')).executeTakeFirst()
    attempts.push({ planned, last: row?.last ?? 0 })
  }
  return attempts.sort((a, b) => a.last - b.last).map(({ planned }) => planned)
}

/** Reads the ids of the stored jobs that requested a part of planned requests. */
export async function readRequestingJobs(
  db: Pick<Reader, 'kysely'>,
  requests: Iterable<PlannedRequest>,
): Promise<ReadonlySet<number>> {
  const jobs = new Set<number>()
  for (const planned of requests) {
    const earlier = await selectEarlier(db, planned)
    const runs = earlier.innerJoin('_run as r', 'r.id', 'f.run_id').where('r.job_id', 'is not', null)
    for (const { job_id } of await runs.select('r.job_id').distinct().execute()) jobs.add(job_id!)
  }
  return jobs
}
