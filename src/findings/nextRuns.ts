import { REGULAR_COMMANDS } from '../db/queries/jobRuns.ts'
import type { Reader } from '../db/store.ts'
import { type GapReason, isAbsence } from '../db/tables/codes.ts'
import { type CallLimit, callLimits } from '../fetch/budget.ts'
import type { Job } from '../job/job.ts'
import { findRhythms } from '../state/rhythm.ts'
import { readStoredJobs, type StoredJob } from '../state/storedJobs.ts'
import { quantity } from '../util/text.ts'
import { formatUtc, type Instant, MINUTE_MS } from '../util/time/instant.ts'

/** The next runs of a job, as far as they are known. */
export interface NextRuns {
  /** The file and schedule of its last run. */
  readonly file: string | null
  readonly schedule: string | null
  /** The next run by its schedule; null without one, and if it is due now. */
  readonly nextAt: Instant | null
  /** The limits of the job, if they ended its last run: what is due takes turns in the next ones. */
  readonly spent: readonly CallLimit[]
}

/** The limits by which a run may end. A run waits for the next minute. */
function budget({ definition }: StoredJob): readonly CallLimit[] {
  return definition === null ? [] : callLimits((JSON.parse(definition) as Job).pace).filter(({ ms }) => ms > MINUTE_MS)
}

/** Reads the next runs of every job by its id. */
export async function readNextRuns(db: Reader, now: Instant): Promise<ReadonlyMap<number, NextRuns>> {
  const last = db.kysely
    .selectFrom('_run')
    .select(({ fn }) => fn.max('id').as('id'))
    .where('command', 'in', REGULAR_COMMANDS)
    .groupBy('job_id')
  const runs = db.kysely.selectFrom('_run').select(['job_id', 'job_file', 'schedule', 'code']).where('id', 'in', last)
  const lastRuns = new Map((await runs.execute()).map((run) => [run.job_id, run]))
  const rhythms = new Map((await findRhythms(db, now)).map((rhythm) => [rhythm.jobId, rhythm]))
  return new Map(
    (await readStoredJobs(db)).map((job): [number, NextRuns] => {
      const { job_file: file = null, schedule = null, code = null } = lastRuns.get(job.id) ?? {}
      const { nextAt = null } = rhythms.get(job.id) ?? {}
      return [
        job.id,
        {
          file,
          schedule,
          nextAt: nextAt !== null && nextAt > now ? nextAt : null,
          spent: code === 'budget' ? budget(job) : [],
        },
      ]
    }),
  )
}

/** Whether the next runs request missing data in turn: as a small share of their requests, or because a budget may end them. */
export const takesTurns = (reason: GapReason | 'provisional', runs: Pick<NextRuns, 'spent'> | undefined): boolean =>
  (runs !== undefined && runs.spent.length > 0) ||
  reason === 'late' ||
  reason === 'no values' ||
  (reason !== 'provisional' && isAbsence(reason))

/** Says that requests take turns: `in turn, within the budget of 100 calls a day`. */
export function turnsText(runs: Pick<NextRuns, 'spent'> | undefined): string {
  const limits = (runs?.spent ?? []).map(
    ({ calls, word }) => `${quantity(calls, 'call')} ${word === 'hour' ? 'an' : 'a'} ${word}`,
  )
  return `in turn${limits.length === 0 ? '' : `, within the budget of ${limits.join(' and ')}`}`
}

/** Says when missing data is requested again, as the rest of a sentence. */
export function requestText(reason: GapReason, at: Instant, now: Instant, runs: NextRuns | undefined): string {
  if (at > now) return `from ${formatUtc(at)} on`
  const next = runs?.nextAt ? ` (next run: ${formatUtc(runs.nextAt)})` : ''
  return takesTurns(reason, runs) ? `by the next runs, ${turnsText(runs)}${next}` : `by the next run${next}`
}
