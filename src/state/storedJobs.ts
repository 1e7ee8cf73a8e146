import { statSync } from 'node:fs'
import { hostname } from 'node:os'
import type { Reader } from '../db/store.ts'
import { shellWord } from '../util/text.ts'

/** A job as it is stored. */
export interface StoredJob {
  readonly id: number
  readonly name: string
  /** The host and the real path of its file; null for callers of the library. */
  readonly host: string | null
  readonly file: string | null
  /** Its file as commands name it: as given to its last run, else the real path; null for callers of the library. */
  readonly path: string | null
  readonly definition: string | null
  readonly definitionAt: string
  readonly formerDefinition: string | null
  readonly returns: number
  readonly lastRunAt: string | null
  readonly usualS: number | null
  readonly forgottenAt: string | null
}

/** Whether a file exists, or cannot be looked up. */
export function fileExists(file: string): boolean {
  try {
    statSync(file)
    return true
  } catch (error) {
    return !['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')
  }
}

/** Reads the jobs, by name and age. Forgotten ones only on request. */
export async function readStoredJobs(
  { kysely }: Pick<Reader, 'kysely'>,
  { includesForgotten = false } = {},
): Promise<StoredJob[]> {
  const rows = await kysely
    .selectFrom('_job as j')
    .selectAll('j')
    .select(({ selectFrom }) =>
      selectFrom('_run as r')
        .select('r.job_file')
        .whereRef('r.job_id', '=', 'j.id')
        .where('r.job_file', 'is not', null)
        .orderBy('r.id', 'desc')
        .limit(1)
        .as('path'),
    )
    .$if(!includesForgotten, (jobs) => jobs.where('j.forgotten_at', 'is', null))
    .orderBy('j.name')
    .orderBy('j.id')
    .execute()
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    host: row.host,
    file: row.file,
    path: row.path ?? row.file,
    definition: row.definition,
    definitionAt: row.definition_at,
    formerDefinition: row.former_definition,
    returns: row.returns,
    lastRunAt: row.last_run_at,
    usualS: row.usual_s,
    forgottenAt: row.forgotten_at,
  }))
}

/** Whether the file of a job no longer exists. Files of other hosts cannot be looked up. */
export const isGone = ({ host, file }: Pick<StoredJob, 'host' | 'file'>): boolean =>
  host === hostname() && file !== null && !fileExists(file)

/** The name by which `prune --job NAME --file` distinguishes jobs of one name. */
export function sourceName({ host, file }: Pick<StoredJob, 'host' | 'file'>): string {
  if (file === null) return 'none'
  return host === hostname() ? file : `${host}:${file}`
}

/** The command that forgets a job, without the name of the program. `jobs`: all jobs. */
export function forgetCommand(job: StoredJob, jobs: readonly StoredJob[]): string {
  const isAlone = jobs.every(({ id, name }) => id === job.id || name !== job.name)
  return `prune --job ${shellWord(job.name)}${isAlone ? '' : ` --file ${shellWord(sourceName(job))}`}`
}
