import type { Job } from '../job/job.ts'
import { NOT_REACHED } from '../state/lastRuns.ts'
import { SyncError } from '../util/errors.ts'
import { redact } from '../util/redact.ts'
import type { RunSpec, SyncContext } from './context.ts'
import { registerUnread, type UnreadJob } from './jobIdentity.ts'
import { endRun, openRun } from './record.ts'
import { createUnreachedError } from './runJobs.ts'
import { storeDefinition } from './sync.ts'

/** A run that did not start: of a job, or of a file that cannot be read. */
export type UnstartedRun = (Pick<RunSpec, 'job' | 'source'> | UnreadJob) & {
  /** Null if the first job with an error ended the command. */
  readonly error: SyncError | null
}

/** Mistakes of a job file that a record repeats. `validate` lists all. */
const MAX_LINES = 3

/** The message and the hint of an error in one line, without secrets. */
function recordedText({ message, hint }: SyncError, secrets: readonly string[]): string {
  const lines = message.split('\n')
  const more = lines.length > MAX_LINES ? `; and ${lines.length - MAX_LINES} more` : ''
  const text = `${lines.slice(0, MAX_LINES).join('; ')}${more}`
  return redact(hint ? `${text.replace(/\.?$/, '.')} ${hint}` : text, secrets)
}

/** The last known schedule of a stored job, which says when its next run is due. */
function lastSchedule(definition: string | null): Partial<Pick<Job, 'schedule' | 'timeZone'>> {
  if (definition === null) return {}
  const { schedule, timeZone } = JSON.parse(definition) as Job
  return { schedule, timeZone }
}

/** Finds or stores the job of a run that did not start. */
async function registerUnstarted(
  context: Pick<SyncContext, 'store' | 'service' | 'nowMs'>,
  unstarted: UnstartedRun,
): Promise<{ readonly job: Parameters<typeof openRun>[1]['job']; readonly jobId: number | null }> {
  if ('job' in unstarted) return { job: unstarted.job, jobId: await storeDefinition(context, unstarted) }
  const { id, name, definition } = await registerUnread(context.store, unstarted, context.nowMs())
  return { job: { name, file: unstarted.file, ...lastSchedule(definition) }, jobId: id }
}

/**
 * Records runs that did not start as failed, or as stopped if another job ended the command. `check` reports them until a run of the same
 * job file succeeds. `secrets`: texts that the records must not contain.
 */
export async function recordUnstarted(
  context: Pick<SyncContext, 'store' | 'service' | 'nowMs' | 'onEvent'>,
  runs: readonly UnstartedRun[],
  { command, part, secrets }: Pick<RunSpec, 'command' | 'part'> & { readonly secrets: readonly string[] },
): Promise<void> {
  let endedBy = ''
  // Records the jobs that ended the command first, because the others name one.
  for (const unstarted of runs.toSorted((a, b) => Number(a.error === null) - Number(b.error === null))) {
    const { job, jobId } = await registerUnstarted(context, unstarted)
    endedBy ||= job.name
    const error = unstarted.error ?? createUnreachedError(endedBy)
    const run = await openRun(context, { job, command, part }, { jobId })
    const recorded = new SyncError(recordedText(error, secrets), { code: error.code })
    await endRun(run, error.code === NOT_REACHED ? 'stopped' : 'failed', recorded)
  }
}
