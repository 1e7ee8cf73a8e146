import { DEFAULT_DATABASE, isAddress, shownAddress } from '../db/address.ts'
import type { NamedSeries } from '../db/engine.ts'
import type { Reader } from '../db/store.ts'
import { ALL_GEOS, type GapReason, isAbsence } from '../db/tables/codes.ts'
import type { IncompleteRun } from '../state/lastRuns.ts'
import { forgetCommand, isGone, readStoredJobs, type StoredJob } from '../state/storedJobs.ts'
import { readUnknown } from '../state/unknownItems.ts'
import { parseNumbers } from '../util/json.ts'
import { shellWord } from '../util/text.ts'
import { DAY } from '../util/time/instant.ts'
import type { Interval } from '../util/time/interval.ts'
import { ceilTo, type LocalDate, localDate } from '../util/time/zone.ts'
import type { RootTrouble } from './causes.ts'
import type { RejectedReply, SeriesGaps } from './trouble.ts'

/* Commands, without the name of the program, that end findings and close gaps: the only place that decides them. */

/** The command that says whether the key is accepted. */
export const KEY_COMMAND = 'doctor --online'
/** The command that lists rows that could not be read. */
export const QUARANTINE_COMMAND = 'quarantine list'
/** The command that dismisses rejects of one series or listing. */
export const dismissCommand = ({ entryId }: Pick<RejectedReply, 'entryId'>): string =>
  `quarantine dismiss ${entryId} --alike --reason "known"`
/** Seconds. A command for a longer range would request much that is not missing: `gaps` lists one for each gap. */
const LONGEST_RANGE_S = 31 * DAY
/** Errors of requests that are refused again until somebody edits the job. */
const MISTAKES = ['bad-request']

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

/** A gap of a series and geo. */
export interface SeriesGap extends Pick<NamedSeries, 'series_id' | 'kind' | 'indicator_id'> {
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

/** Reads what decides the commands of a database. */
export async function readCommands(db: Reader) {
  const unknown = await readUnknown(db)
  const storedJobs = await readStoredJobs(db)
  const jobs = new Map(storedJobs.map((job) => [job.id, job]))
  const findJob = await createJobFinder(db, jobs)
  const repeatCommand = (await isKeyRefused(db)) ? KEY_COMMAND : 'retry'
  const unverified = await db.kysely
    .selectFrom('_span')
    .select('series_id')
    .distinct()
    .where('reason', '=', 'unverified')
    .execute()
  const retried = new Set(unverified.map(({ series_id }) => series_id))
  const withdrawals = await db.kysely
    .selectFrom('_withdrawal')
    .select('series_id')
    .distinct()
    .where('confirmed_by', 'is', null)
    .execute()
  const unconfirmed = new Set(withdrawals.map(({ series_id }) => series_id))

  /** A command with the file of a job. If the file is gone, the job must be forgotten. Null for a job without a file. */
  function jobCommand(job: StoredJob | undefined, command: (file: string) => string): string | null {
    if (!job) return null
    if (isGone(job)) return forgetCommand(job, storedJobs)
    return job.path === null ? null : command(shellWord(job.path))
  }

  const syncCommand = (jobId: number | undefined): string | null =>
    jobCommand(jobs.get(jobId ?? 0), (file) => `sync ${file}`)

  /** The command that finishes a run: the same command again. */
  function runCommand({ jobId, command, part }: IncompleteRun): string | null {
    if (!['sync', 'schedule', 'backfill', 'restate'].includes(command)) return command
    if (part === null) return syncCommand(jobId ?? undefined)
    // A program that uses the library describes the part in words.
    if (!/^\w+( --\w+ \S+)+$/.test(part)) return null
    return jobCommand(jobs.get(jobId ?? 0), (file) => part.replace(/^\w+/, (name) => `${name} ${file}`))
  }

  /** One command for several runs, if all of them were runs of whole jobs. */
  function runsCommand(runs: readonly IncompleteRun[]): string | null {
    const commands = [...new Set(runs.map(runCommand))]
    const files = commands.map((command) => /^sync (\S+)$/.exec(command ?? '')?.[1])
    return files.every((file) => file !== undefined) ? `sync ${files.join(' ')}` : (commands[0] ?? null)
  }

  /** The command that requests days of an indicator again; `isNew`: for the first time. */
  function rangeCommand(
    job: StoredJob,
    indicatorId: number,
    [from, to]: readonly [LocalDate, LocalDate],
    isNew: boolean,
  ): string | null {
    // A restate requests nothing outside the windows of its job.
    const command = isNew ? 'backfill' : 'restate'
    return jobCommand(job, (file) => `${command} ${file} --only ${indicatorId} --from ${from} --to ${to}`)
  }

  /**
   * The command that closes a gap. Null for a mistake of the job, such as an unknown id or a geo without values, and if no job with a
   * file selects the series and geo.
   */
  function gapCommand(gap: SeriesGap, days: readonly [from: LocalDate, to: LocalDate]): string | null {
    const { series_id, kind, indicator_id, geo_id, reason } = gap
    const selecting = gap.job_id === null ? undefined : jobs.get(gap.job_id)
    const job = selecting ?? findJob(series_id, geo_id)
    if (job === null || reason === 'no values' || reason === 'late' || unknown.has(`${kind} ${indicator_id}`))
      return null
    if (reason === 'failed') return repeatCommand
    if (reason === 'unverified' && !unconfirmed.has(series_id)) return 'retry'
    return rangeCommand(job, indicator_id, days, reason === 'never requested' || !selecting)
  }

  /** The command that ends a finding about gaps of a series. */
  function seriesCommand({
    series_id,
    indicator_id,
    geoIds,
    reason,
    range,
    timeZone,
    jobId,
  }: SeriesGaps): string | null {
    if (reason === 'never requested') return syncCommand(jobId ?? undefined)
    if (reason === 'failed') return 'retry'
    if (reason === 'unverified' && !unconfirmed.has(series_id)) return 'retry'
    if ((!isAbsence(reason) && reason !== 'unverified') || range.to - range.from > LONGEST_RANGE_S) return null
    const selecting = jobId === null ? undefined : jobs.get(jobId)
    const job = selecting ?? findJob(series_id, geoIds[0]!)
    return job && rangeCommand(job, indicator_id, localDays(timeZone, range), !selecting)
  }

  /** The command that ends a finding; null if only a person, or time, can. */
  function decideCommand({ trouble, consequences }: RootTrouble): string | null {
    switch (trouble.kind) {
      case 'job file':
        return forgetCommand(trouble.job, storedJobs)
      case 'same name': {
        const oldest = trouble.named.reduce((a, b) => ((a.lastRunAt ?? '') <= (b.lastRunAt ?? '') ? a : b))
        return forgetCommand(oldest, storedJobs)
      }
      case 'key':
      case 'service down':
        return runsCommand([
          ...trouble.runs,
          ...consequences.flatMap((other) => (other.kind === 'unfinished' ? other.run : [])),
        ])
      case 'last run':
        return runCommand(trouble.run)
      case 'unfinished':
        // No command helps before a budget is free.
        return trouble.cause === 'budget' && trouble.nextRunAt !== null ? null : runCommand(trouble.run)
      case 'never run':
        return syncCommand(trouble.job.id)
      case 'no run':
        return syncCommand(trouble.rhythm.jobId)
      case 'not judged':
        return 'migrate'
      case 'failure':
        return MISTAKES.includes(trouble.cause ?? '') ? syncCommand(trouble.jobIds[0]) : 'retry'
      // After somebody has corrected the job.
      case 'unknown id':
      case 'geo':
      case 'no values':
        return syncCommand(trouble.jobIds[0])
      case 'quarantine':
        // Another reply may be valid. If it was not, it will not be.
        if (trouble.reply.replies > 1) return dismissCommand(trouble.reply)
        return trouble.seriesIds.some((id) => retried.has(id)) ? 'retry' : null
      case 'gap':
        return seriesCommand(trouble.gaps[0]!)
      case 'overlap': {
        const { series_id, indicator_id, geoIds, days } = trouble.days
        const job = findJob(series_id, geoIds[0]!)
        const dayAfter = new Date(Date.parse(days[1]) + DAY * 1000).toISOString().slice(0, 10)
        const isLong = Date.parse(days[1]) - Date.parse(days[0]) > LONGEST_RANGE_S * 1000
        return job && !isLong ? rangeCommand(job, indicator_id, [days[0], dayAfter], false) : null
      }
      case 'ahead': {
        const { series_id, indicator_id, geoIds, range, timeZone } = trouble.ahead
        const job = findJob(series_id, geoIds[0]!)
        if (!job || range.to - range.from > LONGEST_RANGE_S) return null
        return rangeCommand(job, indicator_id, localDays(timeZone, range), false)
      }
      case 'daily totals':
        return 'replay'
      default:
        return null
    }
  }

  return { jobs, unknown, findJob, gapCommand, decideCommand }
}
