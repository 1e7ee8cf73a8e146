import type { Reader } from '../store.ts'

/** The file from which each job was last run, by the name of the job; relative to the working directory of that run. */
export async function readJobFiles({ kysely }: Pick<Reader, 'kysely'>): Promise<Readonly<Record<string, string>>> {
  const rows = await kysely
    .selectFrom('_run')
    .select(['job', 'job_file'])
    .where('id', 'in', (of) =>
      of
        .selectFrom('_run')
        .select(({ fn }) => fn.max('id').as('id'))
        .where('job_file', 'is not', null)
        .groupBy('job'),
    )
    .execute()
  return Object.fromEntries(rows.map(({ job, job_file }) => [job, job_file!]))
}
