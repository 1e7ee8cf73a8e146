import type { Reader } from '../../db/store.ts'
import { unknownNext } from '../../judge/distances.ts'
import { findOpenFailures, type OpenFailureRow } from '../../reports/failedRequests.ts'
import { readUnknown } from '../../reports/unknownItems.ts'
import type { AnyParams } from '../../service/routes.ts'
import { floorToSecond, formatUtc, type Instant } from '../../util/time/instant.ts'
import type { RejectedReply, Trouble } from '../trouble.ts'

/** The item of a request that the service does not know: `indicator 99999`. */
export const itemKey = ({ route, params }: Pick<OpenFailureRow, 'route' | 'params'>): string =>
  `${route} ${(JSON.parse(params) as AnyParams).id}`

/** Reads the last failure of every request that has not fully succeeded since, with its job and next request. */
export async function readFailures(db: Reader) {
  const unknown = await readUnknown(db)
  return (await findOpenFailures(db)).map((failure) => {
    const item = unknown.get(itemKey(failure))
    return { ...failure, next_at: item ? formatUtc(unknownNext(item)) : null }
  })
}

const about = (failures: readonly OpenFailureRow[]) => ({
  failures,
  sinceAt: Math.min(...failures.map(({ failed_at }) => floorToSecond(failed_at))),
  jobIds: [...new Set(failures.flatMap(({ jobId }) => jobId ?? []))],
  seriesIds: [...new Set(failures.flatMap(({ id }) => id ?? []))],
  cause: failures[0]!.code ?? failures[0]!.outcome,
})

/** Finds failed requests: those of one job with one error are one trouble, and so is an id that the service does not know. */
export async function findRequestTroubles(db: Reader): Promise<Trouble[]> {
  const unknown = await readUnknown(db)
  const failures = await findOpenFailures(db)
  const isUnknown = (failure: OpenFailureRow): boolean => unknown.has(itemKey(failure))
  const ofUnknown = failures.filter(isUnknown)
  const others = failures.filter((failure) => !isUnknown(failure))
  const byError = ({ jobId, job, code, outcome }: OpenFailureRow): string => `${jobId} ${job} ${code ?? outcome}`
  return [
    ...[...Map.groupBy(ofUnknown, itemKey)].map(
      ([key, failures]): Trouble => ({
        kind: 'unknown id',
        nextAt: unknownNext(unknown.get(key)!),
        ...about(failures),
      }),
    ),
    ...[...Map.groupBy(others, byError).values()].map((failures): Trouble => ({ kind: 'failure', ...about(failures) })),
  ]
}

/** Finds requests whose replies have data that could not be parsed. */
export async function findQuarantineTroubles({ kysely }: Reader): Promise<Trouble[]> {
  const rows = await kysely
    .selectFrom('_quarantine as q')
    .innerJoin('_fetch as f', 'f.id', 'q.fetch_id')
    .innerJoin('_run as r', 'r.id', 'f.run_id')
    .select(['q.fetch_id', 'q.path', 'q.reason', 'f.run_id', 'f.series_id', 'f.target', 'f.finished_at', 'r.job_id'])
    .select(({ selectFrom }) => [
      'f.rows_rejected',
      selectFrom('_quarantine as a')
        .select(({ fn }) => fn.countAll<number>().as('n'))
        .whereRef('a.fetch_id', '=', 'q.fetch_id')
        .as('stored'),
    ])
    .where('q.resolved_at', 'is', null)
    .orderBy('q.fetch_id')
    .orderBy('q.id')
    .execute()
  return [...Map.groupBy(rows, ({ target }) => target).values()].map((entries): Trouble => {
    const { fetch_id, run_id, series_id, target, job_id } = entries.at(-1)!
    const sinceAt: Instant = floorToSecond(entries[0]!.finished_at)
    // Each reply to the same request has entries of its own: the last one counts.
    const last = entries.filter((entry) => entry.fetch_id === fetch_id)
    // The first ones of a reply are stored, the others are only counted.
    const unlisted = Math.max(0, last[0]!.rows_rejected - Number(last[0]!.stored))
    const reply: RejectedReply = {
      fetchId: fetch_id,
      runId: run_id,
      seriesId: series_id,
      ...{ target, path: last[0]!.path, reason: last[0]!.reason, sinceAt, entries: last.length + unlisted },
    }
    const jobIds = job_id === null ? [] : [job_id]
    return { kind: 'quarantine', reply, sinceAt, jobIds, seriesIds: series_id === null ? [] : [series_id], cause: null }
  })
}
