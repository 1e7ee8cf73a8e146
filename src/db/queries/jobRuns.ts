import type { ExpressionBuilder } from 'kysely'
import { shellWord } from '../../util/text.ts'
import type { Reader } from '../store.ts'
import type { Database } from '../tables/schema.ts'

/** The commands that run whole jobs, night after night. */
export const REGULAR_COMMANDS = ['sync', 'schedule']

/** The command of a run that records that a job was removed. */
export const FORGET = 'forget'

/** Whether the job of a run `r` was not removed after that run. */
export const isNotForgotten = (eb: ExpressionBuilder<Database & { r: Database['_run'] }, 'r'>) =>
  eb.not(
    eb.exists(
      eb
        .selectFrom('_run as later')
        .select('later.id')
        .whereRef('later.job', '=', 'r.job')
        .where((same) =>
          same(same.fn.coalesce('later.job_id', same.lit(0)), '=', same.fn.coalesce('r.job_id', same.lit(0))),
        )
        .whereRef('later.id', '>', 'r.id')
        .where('later.command', '=', FORGET),
    ),
  )

/** Reads the last file of each job, by job name; relative to the current folder of that run. */
export async function readJobFiles({ kysely }: Pick<Reader, 'kysely'>): Promise<Readonly<Record<string, string>>> {
  const rows = await kysely
    .selectFrom('_run')
    .select(['job', 'job_file'])
    .where('id', 'in', ({ selectFrom }) =>
      selectFrom('_run')
        .select(({ fn }) => fn.max('id').as('id'))
        .where('job_file', 'is not', null)
        .groupBy('job'),
    )
    .execute()
  return Object.fromEntries(rows.map(({ job, job_file }) => [job, job_file!]))
}

/** The file of a job for a command; a guess if the job was never run from a file. */
export const jobFile = (files: Readonly<Record<string, string>>, job: string): string =>
  shellWord(files[job] ?? `jobs/${job}.yaml`)
