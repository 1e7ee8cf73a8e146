import type { Reader } from '../../db/store.ts'
import { withDeadRuns } from '../../reports/lastRuns.ts'

/** Runs that one page shows. */
const RUNS_A_PAGE = 50

/** A run as a list shows it; `seconds` is null while it runs, or after a crash. */
export type RunRow = Awaited<ReturnType<typeof readRuns>>['runs'][number]

/** The latest runs, or those before one; `older` is the number with which to request the next ones. */
export async function readRuns(db: Reader, before: number | null) {
  const rows = await db.kysely
    .selectFrom('_run')
    .select(['id', 'command', 'job', 'started_at', 'finished_at', 'outcome', 'requests', 'failed', 'bytes', 'message'])
    .select(['rows_new', 'rows_unchanged', 'rows_revised', 'rows_withdrawn', 'rows_rejected'])
    .$if(before !== null, (of) => of.where('id', '<', before!))
    .orderBy('id', 'desc')
    .limit(RUNS_A_PAGE + 1)
    .execute()
  const shown = await withDeadRuns(db, rows.slice(0, RUNS_A_PAGE))
  const runs = shown.map((run) => ({ ...run, seconds: secondsOf(run) }))
  return { runs, older: rows.length > RUNS_A_PAGE ? runs.at(-1)!.id : null }
}

/** How long a run took. */
export const secondsOf = ({ started_at, finished_at }: { started_at: string; finished_at: string | null }) =>
  finished_at === null ? null : Math.round(Date.parse(finished_at) - Date.parse(started_at)) / 1000
