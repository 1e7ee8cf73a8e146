import type { Finding } from '../../findings/finding.ts'
import type { Job } from '../../job/job.ts'
import { createUnreachedError } from '../../sync/runJobs.ts'
import type { Summary } from '../../sync/sync.ts'
import type { SyncError } from '../../util/errors.ts'
import type { Notifier } from './notify.ts'

/** Why a job did not run: the error of its command, or that another job ended it. `endedBy`: null if no job did. */
export const unstartedError = <T>(job: Job, error: T, endedBy: Job | null): T | SyncError =>
  endedBy === null || endedBy === job ? error : createUnreachedError(endedBy.name)

/** Follows the jobs of a command, so that each is notified and recorded however the command ends. */
export function trackJobs(jobs: readonly Job[], notifier: Notifier) {
  const unfinished = new Set(jobs)
  const unrecorded = new Set(jobs)
  let planned: Job | null = null
  return {
    /** A job is being planned: its mistakes end the command. */
    planning(job: Job): void {
      planned = job
    },
    /** The run of a job is recorded. */
    started(job: Job): void {
      unrecorded.delete(job)
      notifier.started(job)
    },
    /** `readFindings`: reads what is wrong, apart from some jobs that are still to run. */
    async ended(
      job: Job,
      summary: Summary,
      readFindings: (toRun: readonly Job[]) => Promise<readonly Finding[]>,
    ): Promise<void> {
      unfinished.delete(job)
      unrecorded.delete(job)
      await notifier.ended(job, summary, () => readFindings([...unfinished]))
    },
    /** An error ended the command. Returns the jobs whose runs are not recorded, and the one whose planning failed. */
    broke(error: unknown): { readonly unrecorded: readonly Job[]; readonly endedBy: Job | null } {
      const endedBy = planned && unfinished.has(planned) ? planned : null
      for (const job of unfinished) notifier.broke(job, unstartedError(job, error, endedBy))
      return { unrecorded: [...unrecorded], endedBy }
    },
  }
}
