import type { NamedSeries } from '../../db/engine.ts'
import type { Reader } from '../../db/store.ts'
import { unknownNext } from '../../judge/distances.ts'
import type { AnyParams } from '../../service/routes.ts'
import { findOpenFailures, type OpenFailureRow } from '../../state/failedRequests.ts'
import { readUnknown } from '../../state/unknownItems.ts'
import { floorToSecond, formatUtc } from '../../util/time/instant.ts'
import { countRejects, readOpenRejects } from '../openRejects.ts'
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

/** Finds data that could not be parsed: all open entries of one series or listing that have reasons of one kind. */
export async function findQuarantineTroubles(db: Reader): Promise<Trouble[]> {
  return [...Map.groupBy(await readOpenRejects(db), ({ key }) => key).values()].map((entries): Trouble => {
    const first = entries[0]!
    const { fetch_id, run_id, target, path, reason } = entries.at(-1)!
    const { series_id, kind, indicator_id, time_trunc, geo_agg } = first
    const reply: RejectedReply = {
      fetchId: fetch_id,
      runId: run_id,
      target,
      path,
      reason,
      series: series_id === null ? null : ({ series_id, kind, indicator_id, time_trunc, geo_agg } as NamedSeries),
      entryId: first.id,
      entries: countRejects(entries),
      replies: new Set(entries.map((entry) => entry.fetch_id)).size,
    }
    return {
      kind: 'quarantine',
      reply,
      sinceAt: floorToSecond(first.finished_at),
      jobIds: [...new Set(entries.flatMap(({ job_id }) => job_id ?? []))],
      seriesIds: series_id === null ? [] : [series_id],
      cause: null,
    }
  })
}
