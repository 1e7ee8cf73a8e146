import type { Reader } from '../../db/store.ts'
import { findFailedRuns, findUnfinishedRuns, type IncompleteRun } from '../../state/lastRuns.ts'
import { findOutageRun } from '../../state/outage.ts'
import { findRhythms } from '../../state/rhythm.ts'
import { CLOCK_ERROR_S, floorToSecond, formatMillis, type Instant } from '../../util/time/instant.ts'
import type { Trouble } from '../trouble.ts'

/** Why all runs fail, and the code of these runs. */
const COMMON_CAUSES = { key: 'key-refused', 'service down': 'unavailable' } as const

/** Finds why all runs fail now, as the last requests show, and the first run of which this may be true; null if they do not. */
async function findCommonCause(db: Reader): Promise<{ kind: keyof typeof COMMON_CAUSES; from: number } | null> {
  const last = db.kysely.selectFrom('_fetch').select('outcome').orderBy('id', 'desc').limit(1)
  if ((await last.executeTakeFirst())?.outcome === 'key') return { kind: 'key', from: 0 }
  const from = await findOutageRun(db)
  return from === null ? null : { kind: 'service down', from }
}

/** Finds runs with times in the future: the clock of this machine is behind now, or was ahead then. */
export async function findFutureRuns({ kysely }: Reader, now: Instant): Promise<Trouble[]> {
  const limit = formatMillis((now + CLOCK_ERROR_S) * 1000)
  const found = await kysely
    .selectFrom('_run')
    .select(({ fn }) => [
      fn.countAll<number>().as('runs'),
      fn.max('started_at').as('started'),
      fn.max('finished_at').as('finished'),
    ])
    .where((run) => run.or([run('started_at', '>', limit), run('finished_at', '>', limit)]))
    .executeTakeFirstOrThrow()
  const times = [found.started, found.finished].flatMap((at) => (at === null ? [] : floorToSecond(at)))
  if (times.length === 0) return []
  const latest = Math.max(...times)
  return [{ kind: 'clock', runs: Number(found.runs), latest, sinceAt: null, jobIds: [], seriesIds: [], cause: null }]
}

const sinceOf = ({ sinceAt }: IncompleteRun): Instant => floorToSecond(sinceAt)
const jobIdsOf = (runs: readonly IncompleteRun[]): number[] => runs.flatMap(({ jobId }) => jobId ?? [])

/**
 * Finds jobs whose last run failed or did not finish. Runs that failed because the service refuses the key or is down are one trouble,
 * until a request succeeds.
 */
export async function findRunTroubles(db: Reader, now: Instant): Promise<Trouble[]> {
  const failed = await findFailedRuns(db)
  const unfinished = await findUnfinishedRuns(db)
  const common = failed.length === 0 ? null : await findCommonCause(db)
  const runs = failed.filter(({ code, run }) => common && code === COMMON_CAUSES[common.kind] && run >= common.from)
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
    sinceAt: sinceOf(run),
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
            sinceAt: Math.min(...runs.map(sinceOf)),
            jobIds: jobIdsOf(runs),
            seriesIds: [],
            cause: COMMON_CAUSES[common.kind],
          },
        ]
      : []),
    ...failed.filter((run) => !runs.includes(run)).map((run) => ofRun('last run', run)),
    ...unfinished.map((run) => ofRun('unfinished', run)),
  ]
}
