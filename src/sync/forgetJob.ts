import { FORGET } from '../db/queries/jobRuns.ts'
import type { Store } from '../db/store.ts'
import { NO_COUNTS } from '../load/counts.ts'
import { recordSpans } from '../load/spans/recordSpans.ts'
import { formatMillis } from '../util/time/instant.ts'

/**
 * Forgets a job that no longer exists: its ranges are no longer gaps, and its last run is no longer a finding. Values and history
 * stay. Returns whether the database knew the job.
 */
export function forgetJob(
  store: Store,
  { job, version, nowMs }: { readonly job: string; readonly version: string; readonly nowMs: number },
): Promise<boolean> {
  return store.write(async (tx) => {
    const last = await tx
      .selectFrom('_run')
      .select('command')
      .where('job', '=', job)
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirst()
    const ranges = await tx.deleteFrom('_job_range').where('job', '=', job).returning('series_id').execute()
    for (const id of new Set(ranges.map(({ series_id }) => series_id)))
      await recordSpans(tx, id, Math.floor(nowMs / 1000))
    if (ranges.length === 0 && (last === undefined || last.command === FORGET)) return false
    const at = formatMillis(nowMs)
    await tx
      .insertInto('_run')
      .values({ command: FORGET, job, version, started_at: at, finished_at: at, outcome: 'done', ...NO_COUNTS })
      .execute()
    return true
  })
}
