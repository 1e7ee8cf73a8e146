import type { Reader } from '../../db/store.ts'
import { findFailedRuns, findUnfinishedRuns, type IncompleteRun } from '../../reports/lastRuns.ts'
import { findRhythms } from '../../reports/rhythm.ts'
import { floorToSecond, type Instant } from '../../util/time/instant.ts'
import type { Trouble } from '../trouble.ts'

/** Why all runs fail, as long as the last request failed like this: the outcome of requests, and the code of runs. */
const COMMON_CAUSES = [
  { kind: 'key', outcome: 'key', code: 'key-refused' },
  { kind: 'service down', outcome: 'transient', code: 'unavailable' },
] as const

/** Reads how the last request ended. */
async function readLastOutcome({ kysely }: Reader): Promise<string | undefined> {
  const last = kysely.selectFrom('_fetch').select('outcome').orderBy('id', 'desc').limit(1)
  return (await last.executeTakeFirst())?.outcome
}

const startOf = ({ startedAt }: IncompleteRun): Instant => floorToSecond(startedAt)
const jobIdsOf = (runs: readonly IncompleteRun[]): number[] => runs.flatMap(({ jobId }) => jobId ?? [])

/**
 * Finds jobs whose last run failed or did not finish. Runs that failed because the service refuses the key or is down are one trouble,
 * until a request succeeds.
 */
export async function findRunTroubles(db: Reader, now: Instant): Promise<Trouble[]> {
  const failed = await findFailedRuns(db)
  const unfinished = await findUnfinishedRuns(db)
  const lastOutcome = failed.length === 0 ? undefined : await readLastOutcome(db)
  const common = COMMON_CAUSES.find(({ outcome }) => outcome === lastOutcome)
  const runs = failed.filter(({ code }) => code === common?.code)
  const rhythms = new Map((await findRhythms(db, now)).map((rhythm) => [rhythm.jobId, rhythm]))
  /** The next run by the schedule of a job continues a run of the whole job. */
  const nextRunAt = ({ jobId, part }: IncompleteRun): Instant | null => {
    const { nextAt = null, missedFrom = 0 } = rhythms.get(jobId ?? 0) ?? {}
    return part === null && now <= missedFrom ? nextAt : null
  }
  const ofRun = (kind: 'last run' | 'unfinished', run: IncompleteRun): Trouble => ({
    kind,
    run,
    nextRunAt: nextRunAt(run),
    sinceAt: startOf(run),
    jobIds: jobIdsOf([run]),
    seriesIds: [],
    cause: run.code,
  })
  return [
    ...(common && runs.length > 0
      ? [
          {
            kind: common.kind,
            runs,
            sinceAt: Math.min(...runs.map(startOf)),
            jobIds: jobIdsOf(runs),
            seriesIds: [],
            cause: common.code,
          },
        ]
      : []),
    ...failed.filter((run) => !runs.includes(run)).map((run) => ofRun('last run', run)),
    ...unfinished.map((run) => ofRun('unfinished', run)),
  ]
}
