import type { ExpressionBuilder } from 'kysely'
import type { Reader } from '../store.ts'
import type { Database } from '../tables/schema.ts'

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
        .whereRef('later.id', '>', 'r.id')
        .where('later.command', '=', FORGET),
    ),
  )

/** Reads the last file of each job, by job name; relative to the working directory of that run. */
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
