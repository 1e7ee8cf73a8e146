import { DEFAULT_DATABASE, isAddress, shownAddress } from '../db/address.ts'
import type { NamedSeries } from '../db/engine.ts'
import type { Reader } from '../db/store.ts'
import { ALL_GEOS, type GapReason } from '../db/tables/codes.ts'
import type { IncompleteRun } from '../state/lastRuns.ts'
import { forgetCommand, isGone, readStoredJobs, type StoredJob } from '../state/storedJobs.ts'
import { readUnknown } from '../state/unknownItems.ts'
import { parseNumbers } from '../util/json.ts'
import { shellWord } from '../util/text.ts'
import { DAY } from '../util/time/instant.ts'
import type { Interval } from '../util/time/interval.ts'
import { ceilTo, type LocalDate, localDate } from '../util/time/zone.ts'
import type { MissingData } from './trouble.ts'

/* Commands, without the name of the program, that close gaps and end several kinds of findings. */

/** The command that says whether the key is accepted. */
export const KEY_COMMAND = 'doctor --online'
/** The command that lists rows that could not be read. */
export const QUARANTINE_COMMAND = 'quarantine list'
/** Seconds. A command for a longer range would request much that is not missing: `gaps` lists one for each gap. */
export const LONGEST_RANGE_S = 31 * DAY

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

/** A gap of a series and geo, to decide the command that closes it. */
export interface GapToClose extends Pick<NamedSeries, 'series_id' | 'kind' | 'indicator_id'> {
  readonly geo_id: number
  readonly reason: GapReason | 'provisional'
  /** The id of a job whose window has the gap; null if none has. */
  readonly job_id: number | null
}

/** The local days of an interval, the end exclusive: commands take whole days. */
const localDays = (zone: string, { from, to }: Interval): readonly [from: LocalDate, to: LocalDate] => [
  localDate(zone, from),
  localDate(zone, ceilTo(zone, to, 'day')),
]

/** The facts that decide which command ends a finding. */
export interface CommandFacts {
  /** The jobs that are not forgotten, in order, and by their ids. */
  readonly storedJobs: readonly StoredJob[]
  readonly jobs: ReadonlyMap<number, StoredJob>
  /** The items that the service does not know. */
  readonly unknown: Awaited<ReturnType<typeof readUnknown>>
  /** The first job that selects a geo of a series, in any range. */
  readonly findJob: (seriesId: number, geo: number) => StoredJob | null
  readonly isKeyRefused: boolean
  /** The series with unverified data, which `retry` requests. */
  readonly unverified: ReadonlySet<number>
  /** The series that lack stored values in one response: another request decides whether they were withdrawn. */
  readonly unconfirmed: ReadonlySet<number>
}

/** Reads what decides the commands of a database. */
export async function readCommandFacts(db: Reader): Promise<CommandFacts> {
  const storedJobs = await readStoredJobs(db)
  const jobs = new Map(storedJobs.map((job) => [job.id, job]))
  const { kysely } = db
  const unverified = kysely.selectFrom('_span').select('series_id').distinct().where('reason', '=', 'unverified')
  const unconfirmed = kysely.selectFrom('_withdrawal').select('series_id').distinct().where('confirmed_by', 'is', null)
  return {
    storedJobs,
    jobs,
    unknown: await readUnknown(db),
    findJob: await createJobFinder(db, jobs),
    isKeyRefused: await isKeyRefused(db),
    unverified: new Set((await unverified.execute()).map(({ series_id }) => series_id)),
    unconfirmed: new Set((await unconfirmed.execute()).map(({ series_id }) => series_id)),
  }
}

/** A command with the file of a job. If the file is gone, the job must be forgotten. Null for a job without a file. */
function jobCommand(
  { storedJobs }: CommandFacts,
  job: StoredJob | undefined,
  command: (file: string) => string,
): string | null {
  if (!job) return null
  if (isGone(job)) return forgetCommand(job, storedJobs)
  return job.path === null ? null : command(shellWord(job.path))
}

/** The command that runs a job. */
export const syncCommand = (facts: CommandFacts, jobId: number | null | undefined): string | null =>
  jobCommand(facts, facts.jobs.get(jobId ?? 0), (file) => `sync ${file}`)

/** The command that finishes a run: the same command again. */
export function finishRunCommand(facts: CommandFacts, { jobId, command, part }: IncompleteRun): string | null {
  if (!['sync', 'schedule', 'backfill', 'restate'].includes(command)) return command
  if (part === null) return syncCommand(facts, jobId)
  // A program that uses the library describes the part in words.
  if (!/^\w+( --\w+ \S+)+$/.test(part)) return null
  return jobCommand(facts, facts.jobs.get(jobId ?? 0), (file) => part.replace(/^\w+/, (name) => `${name} ${file}`))
}

/** The command that requests days of an indicator again; `isNew`: for the first time. */
export function daysCommand(
  facts: CommandFacts,
  job: StoredJob,
  indicatorId: number,
  [from, to]: readonly [from: LocalDate, to: LocalDate],
  isNew: boolean,
): string | null {
  // A restate requests nothing outside the windows of its job.
  const command = isNew ? 'backfill' : 'restate'
  return jobCommand(facts, job, (file) => `${command} ${file} --only ${indicatorId} --from ${from} --to ${to}`)
}

/** As `daysCommand`, for the local days of a range. Null without a job, and for a long range. */
export const rangeCommand = (
  facts: CommandFacts,
  job: StoredJob | null,
  { indicator_id, timeZone, range }: Pick<MissingData, 'indicator_id' | 'timeZone' | 'range'>,
  isNew: boolean,
): string | null =>
  job && range.to - range.from <= LONGEST_RANGE_S
    ? daysCommand(facts, job, indicator_id, localDays(timeZone, range), isNew)
    : null

/**
 * The command that closes a gap of some local days, the end exclusive. Null for a mistake of the job, such as an unknown id or a geo
 * without values, and if no job with a file selects the series and geo.
 */
export function gapCommand(
  facts: CommandFacts,
  gap: GapToClose,
  days: readonly [from: LocalDate, to: LocalDate],
): string | null {
  const { series_id, kind, indicator_id, geo_id, reason } = gap
  const selecting = gap.job_id === null ? undefined : facts.jobs.get(gap.job_id)
  const job = selecting ?? facts.findJob(series_id, geo_id)
  if (job === null || reason === 'no values' || reason === 'late' || facts.unknown.has(`${kind} ${indicator_id}`))
    return null
  if (reason === 'failed') return facts.isKeyRefused ? KEY_COMMAND : 'retry'
  if (reason === 'unverified' && !facts.unconfirmed.has(series_id)) return 'retry'
  return daysCommand(facts, job, indicator_id, days, reason === 'never requested' || !selecting)
}
