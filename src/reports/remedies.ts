import { DEFAULT_DATABASE, isAddress, shownAddress } from '../db/address.ts'
import type { NamedSeries } from '../db/engine.ts'
import { jobFile, readJobFiles } from '../db/queries/jobRuns.ts'
import type { Reader } from '../db/store.ts'
import { ALL_GEOS, type GapReason } from '../db/tables/codes.ts'
import { parseNumbers } from '../util/json.ts'
import { shellWord } from '../util/text.ts'
import type { LocalDate } from '../util/time/zone.ts'
import type { OpenFailureRow } from './failedRequests.ts'
import { findLackingGeos, type LackingGeos, readNamedGeos } from './lackingGeos.ts'
import type { IncompleteRun } from './lastRuns.ts'
import { forgetCommand, isGone, readStoredJobs, type StoredJob } from './storedJobs.ts'
import { readUnknown } from './unknownItems.ts'

/* Commands, without the name of the program, that repair what failed or is missing. */

/** The command after a refused key: it says what is wrong and how to set it. */
export const KEY_COMMAND = 'doctor --online'
/** The command that lists rows that could not be read. */
export const QUARANTINE_COMMAND = 'quarantine list'

/** A command as the user types it for a database. */
export function databaseCommand({ file }: Pick<Reader, 'file'>, words: string): string {
  const name = isAddress(file) ? shownAddress(file) : file
  return `indicator-sync ${words}${name === DEFAULT_DATABASE ? '' : ` --database ${shellWord(name)}`}`
}

/** True if the last request failed because its key was refused. */
async function isKeyRefused({ kysely }: Reader): Promise<boolean> {
  const last = kysely.selectFrom('_fetch').select('outcome').orderBy('id', 'desc').limit(1)
  return (await last.executeTakeFirst())?.outcome === 'key'
}

/** A gap of a series and geo. */
interface SeriesGap extends Pick<NamedSeries, 'series_id' | 'kind' | 'indicator_id'> {
  readonly geo_id: number
  readonly reason: GapReason | 'provisional'
  /** The id of a job whose window has the gap; null if none has. */
  readonly job_id: number | null
}

/** Finds the first job that selects a geo of a series, in any range; for all geos, preferably one that selects all. */
async function createJobFinder(
  { kysely }: Reader,
  jobs: ReadonlyMap<number, StoredJob>,
): Promise<(seriesId: number, geo: number) => StoredJob | null> {
  const duties = await kysely.selectFrom('_duty').select(['series_id', 'job_id', 'geo_ids']).distinct().execute()
  // The jobs are in order.
  const order = new Map([...jobs.keys()].map((id, i) => [id, i]))
  const rows = duties
    .map(({ geo_ids, ...row }) => ({ ...row, geoIds: parseNumbers(geo_ids || null) }))
    .sort((a, b) => order.get(a.job_id)! - order.get(b.job_id)!)
  const bySeries = Map.groupBy(rows, ({ series_id }) => series_id)
  return (seriesId, geo) => {
    const ofSeries = bySeries.get(seriesId) ?? []
    const selecting = ofSeries.find(({ geoIds }) => geoIds?.includes(geo) ?? true)
    const found = geo === ALL_GEOS ? (selecting ?? ofSeries[0]) : selecting
    return (found && jobs.get(found.job_id)) ?? null
  }
}

/** Reads what decides how gaps are closed. */
export async function readRemedies(db: Reader) {
  const [files, unknown] = [await readJobFiles(db), await readUnknown(db)]
  const storedJobs = await readStoredJobs(db)
  const jobs = new Map(storedJobs.map((job) => [job.id, job]))
  const lacking = await findLackingGeos(db, await readNamedGeos(db))
  const rejects = await db.kysely
    .selectFrom('_quarantine as q')
    .innerJoin('_fetch as f', 'f.id', 'q.fetch_id')
    .select(({ fn }) => ['f.series_id', fn.countAll<number>().as('count')])
    .where('q.resolved_at', 'is', null)
    .groupBy('f.series_id')
    .execute()
  const unreadRows = new Map(rejects.map(({ series_id, count }) => [series_id, Number(count)]))
  const findJob = await createJobFinder(db, jobs)
  const repeatCommand = (await isKeyRefused(db)) ? KEY_COMMAND : 'retry'

  /** A command with the file of a job. If the file is gone, the job must be forgotten or its file restored. */
  const jobCommand = (job: StoredJob, command: (file: string) => string): string =>
    isGone(job) ? forgetCommand(job, storedJobs) : command(shellWord(job.path))

  /** As `jobCommand`, for the job of a run, which may not be stored. */
  function runCommand({ jobId, job }: Pick<IncompleteRun, 'jobId' | 'job'>, command: (file: string) => string): string {
    const stored = jobId === null ? undefined : jobs.get(jobId)
    return stored ? jobCommand(stored, command) : command(jobFile(files, job))
  }

  /** The command that repairs a failed request, or explains the failure. */
  function failureCommand({ id, code, jobId, job }: Pick<OpenFailureRow, 'id' | 'code' | 'job' | 'jobId'>): string {
    if (code === 'bad-request' && job !== null) return runCommand({ jobId, job }, (file) => `plan ${file} --json`)
    // The catalogue lists series only.
    return code === 'not-found' && id !== null ? 'discover' : repeatCommand
  }

  /** The mistake of a job that causes a gap, if any: an id that the service does not know, or geos without any value. */
  function findMistake({ kind, indicator_id, geo_id, reason }: SeriesGap): 'unknown id' | LackingGeos | null {
    if (unknown.has(`${kind} ${indicator_id}`)) return 'unknown id'
    if (reason !== 'no values') return null
    const ofIndicator = lacking.find((geos) => geos.kind === kind && geos.indicatorId === indicator_id)
    const { geoIds = [] } = ofIndicator ?? {}
    return ofIndicator && (geoIds.length === 0 || geoIds.includes(geo_id)) ? ofIndicator : null
  }

  /**
   * The command that closes a gap. Without `days`, it is for all gaps of the series for that reason, or shows why they stay open. Null
   * for a mistake of the job, and if no job selects the series and geo.
   */
  function gapCommand(gap: SeriesGap, days?: readonly [from: LocalDate, to: LocalDate]): string | null {
    const { series_id, indicator_id, geo_id, reason } = gap
    const selecting = gap.job_id === null ? undefined : jobs.get(gap.job_id)
    const job = selecting ?? findJob(series_id, geo_id)
    if (job === null || findMistake(gap) !== null) return null
    if (reason === 'failed') return repeatCommand
    if (reason === 'unverified') return !days && unreadRows.has(series_id) ? QUARANTINE_COMMAND : 'retry'
    const isNew = reason === 'never requested'
    if (!days) return isNew && selecting ? jobCommand(job, (file) => `sync ${file}`) : 'gaps'
    const [from, to] = days
    // A restate requests nothing outside the windows of its job.
    const command = isNew || !selecting ? 'backfill' : 'restate'
    return jobCommand(job, (file) => `${command} ${file} --only ${indicator_id} --from ${from} --to ${to}`)
  }

  return { files, jobs, unknown, lacking, unreadRows, findJob, findMistake, runCommand, failureCommand, gapCommand }
}

export type Remedies = Awaited<ReturnType<typeof readRemedies>>
