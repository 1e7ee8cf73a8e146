import { type ExpressionBuilder, sql } from 'kysely'
import type { NamedSeries } from '../db/engine.ts'
import type { Reader } from '../db/store.ts'
import { GAP_REASONS, type GapReason } from '../db/tables/codes.ts'
import type { Database } from '../db/tables/schema.ts'
import { coverageSql, gapsSql, selectsGeo, selectsPart } from '../db/tables/sql/coverageViews.ts'
import type { ViewRows } from '../db/tables/sql/views.ts'
import type { Job, UserRange } from '../job/job.ts'
import { unknownNext } from '../judge/distances.ts'
import { isGone, type StoredJob } from '../state/storedJobs.ts'
import { quantity, shellWord } from '../util/text.ts'
import { formatUtc, type Instant, parseInstant, toInstant } from '../util/time/instant.ts'
import { addUnits, ceilTo, floorTo, formatLocal, localDate } from '../util/time/zone.ts'
import { databaseCommand, gapCommand, readCommandFacts } from './commands.ts'
import { type NextRuns, readNextRuns, takesTurns, turnsText } from './nextRuns.ts'

/** A gap in the range that was requested of a series or that a job selects. */
export interface Gap extends NamedSeries {
  /** The geo; 0 if the series has none. */
  readonly geo_id: number
  /** First instant of the gap, local with offset. */
  readonly from: string
  /** First instant after the gap, local with offset. */
  readonly to: string
  /** Why the values are missing. */
  readonly reason: GapReason
  /** Seconds of a period; null if no value shows the step. */
  readonly step_s: number | null
  /** Number of missing periods; null if no value shows the step. */
  readonly missing: number | null
  /** Number of periods of the local day in which the gap begins: 23, 24 or 25 hours, 92, 96 or 100 quarter-hours. */
  readonly expected_in_day: number | null
  /**
   * The earliest time (UTC) at which a sync requests it again. Null if no sync will, because no job selects it or its periods have been
   * missing for 255 days; also null for `never requested` and `failed`, which the next run of the job requests.
   */
  readonly next_at: string | null
  /** The first job that selects it; null if none does. */
  readonly job: string | null
  /** Whether it is one of a few lost values of a day, at steps below 15 minutes: it is listed, but is not a finding. */
  readonly tolerated: boolean
  /** The next run that fetches it, for people: the job's schedule, or the command that runs it; null if none will. */
  readonly next: string | null
  /**
   * The command that requests it at once, or shows why it stays open. Null if that needs a job and none selects it, and if the
   * service does not know its id or geo.
   */
  readonly command: string | null
}

/** A gap, or missing data in a response that may still be revised. */
export interface ListedGap extends Omit<Gap, 'reason'> {
  readonly reason: GapReason | 'provisional'
}

/** A gap as the view `gaps` has it. */
interface GapRow extends Pick<Gap, keyof NamedSeries | 'geo_id' | 'step_s' | 'missing' | 'next_at' | 'job'> {
  readonly job_id: number | null
  readonly time_zone: string
  readonly tolerated: 0 | 1
  readonly from_at: number
  readonly to_at: number
  readonly reason: ListedGap['reason']
}

/** Reasons of gaps without a time of the next request: each run of the job requests them. */
const UNTIMED_REASONS: readonly ListedGap['reason'][] = ['never requested', 'failed', 'provisional']

/** Names the next run of every job whose file exists, for people: its schedule, or the command that runs it. */
const nameRuns = (db: Reader, jobs: readonly StoredJob[], nextRuns: ReadonlyMap<number, NextRuns>) =>
  new Map(
    jobs.flatMap((job): [number, string][] => {
      const { id, name } = job
      const { file, schedule } = nextRuns.get(id)!
      if (isGone(job)) return []
      if (schedule !== null) return [[id, `the schedule of ${name} (${schedule})`]]
      return [[id, file === null ? `the next sync of ${name}` : databaseCommand(db, `sync ${shellWord(file)}`)]]
    }),
  )

/** Adds local times and the next run that fetches each gap. */
async function listGaps(db: Reader, rows: readonly GapRow[], now: Instant): Promise<ListedGap[]> {
  if (rows.length === 0) return []
  const facts = await readCommandFacts(db)
  const { jobs, unknown } = facts
  const nextRuns = await readNextRuns(db, now)
  const runs = nameRuns(db, [...jobs.values()], nextRuns)
  const nextRun = ({ kind, indicator_id, job_id, reason, next_at }: GapRow): string | null => {
    const run = job_id === null ? undefined : runs.get(job_id)
    const isLeft = next_at === null && !UNTIMED_REASONS.includes(reason)
    if (run === undefined || isLeft) return null
    const item = unknown.get(`${kind} ${indicator_id}`)
    const at = next_at === null ? item && unknownNext(item) : parseInstant(next_at)
    if (at !== undefined && at > now) return `${run}, from ${formatUtc(at)} on`
    const next = nextRuns.get(job_id!)
    return takesTurns(reason, next) ? `${run}, ${turnsText(next)}` : run
  }
  return rows.map((row) => {
    const { series_id, kind, indicator_id, time_trunc, geo_agg, geo_id, time_zone, from_at, step_s } = row
    const day = floorTo(time_zone, from_at, 'day')
    const length = addUnits(time_zone, day, 'day', 1) - day
    const end = localDate(time_zone, ceilTo(time_zone, row.to_at, 'day'))
    const command = gapCommand(facts, row, [localDate(time_zone, from_at), end])
    return {
      series_id,
      kind,
      indicator_id,
      time_trunc,
      geo_agg,
      geo_id,
      from: formatLocal(time_zone, from_at),
      to: formatLocal(time_zone, row.to_at),
      reason: row.reason,
      step_s,
      missing: row.missing,
      expected_in_day: step_s === null ? null : Math.max(1, Math.round(length / step_s)),
      next_at: row.next_at,
      job: row.job,
      tolerated: row.tolerated === 1,
      next: nextRun(row),
      command: command && databaseCommand(db, command),
    }
  })
}

/**
 * Whether a row of the view `gaps` is missing data: some job selects its series and geo. A range that was never requested is missing
 * only if a job selects the range, too.
 */
export const isMissed = (eb: ExpressionBuilder<Database & { gaps: Database['gaps'] }, 'gaps'>) =>
  eb.and([
    eb.exists(
      eb
        .selectFrom('_duty as w')
        .select('w.job_id')
        .where(sql.raw<boolean>(selectsGeo('gaps'))),
    ),
    eb.or([eb('gaps.job', 'is not', null), eb('gaps.reason', '<>', 'never requested')]),
  ])

/** The rows of the view `gaps` as of an instant; with `isAccepted`, those that somebody accepted instead. */
export const gapsAt = (now: Instant, { isAccepted = false } = {}) =>
  sql<ViewRows['gaps']>`(${sql.raw(gapsSql(String(now), isAccepted ? 1 : 0))})`.as('gaps')

/** The rows of the view `coverage` as of an instant. */
export const coverageAt = (now: Instant) =>
  sql<ViewRows['coverage']>`(${sql.raw(coverageSql(String(now)))})`.as('coverage')

const currentTime = (): Instant => toInstant(Date.now())

/** Finds every gap of every series, in order. Values that may still be published are not gaps, and accepted ones only with `isAccepted`. */
export async function findGaps(
  db: Reader,
  now: Instant = currentTime(),
  options: { readonly isAccepted?: boolean } = {},
): Promise<Gap[]> {
  const rows = await db.kysely
    .selectFrom(gapsAt(now, options))
    .where(isMissed)
    .innerJoin('series as s', 's.id', 'gaps.series_id')
    .selectAll('gaps')
    .select(['s.time_zone', 's.geo_agg'])
    .orderBy('gaps.series_id')
    .orderBy('gaps.geo_id')
    .orderBy('gaps.from_at')
    .orderBy('gaps.to_at')
    .execute()
  return (await listGaps(db, rows, now)) as Gap[]
}

/** The gaps in what a job selects, or in a range for which it was run. */
export interface JobGaps {
  /** Whether the windows of the job were searched, or the range of the user. */
  readonly within: 'job' | 'range'
  /** The number of missing ranges. */
  readonly ranges: number
  /** The earliest time (UTC) at which a sync requests one of them again; null if no sync waits for such a time. */
  readonly nextAt: string | null
  /** Whether that time has come: the next runs request them in turn. */
  readonly isDue: boolean
}

/**
 * Counts the gaps in what a job selects, or in the range of the user and the indicators of `--only`: after a sync, what the service
 * did not deliver. `jobId`: null for a job that is not stored, which has none.
 */
export async function countJobGaps(
  { kysely }: Reader,
  jobId: number | null,
  job: Job,
  now: Instant,
  range?: UserRange,
): Promise<JobGaps> {
  const only = range && job.fullJob && job.series.flatMap(({ indicators }) => indicators)
  const { ranges, nextAt } = await kysely
    .selectFrom(gapsAt(now))
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('_duty as w')
          .select('w.job_id')
          .where('w.job_id', '=', jobId)
          .where(sql.raw<boolean>(range?.how === 'replace' ? selectsGeo('gaps') : selectsPart('gaps'))),
      ),
    )
    .$if(range !== undefined, (gaps) =>
      gaps.where('from_at', '<', range!.interval.to).where('to_at', '>', range!.interval.from),
    )
    .$if(only !== undefined, (gaps) => gaps.where(({ eb, or }) => or(only!.map((id) => eb('indicator_id', '=', id)))))
    .select(({ fn }) => [fn.countAll<number>().as('ranges'), fn.min('next_at').as('nextAt')])
    .executeTakeFirstOrThrow()
  return {
    within: range ? 'range' : 'job',
    ranges: Number(ranges),
    nextAt,
    isDue: nextAt !== null && parseInstant(nextAt) <= now,
  }
}

/** Describes the gaps of a job; empty without any. */
export function jobGapsText({ within, ranges, nextAt, isDue }: JobGaps): string {
  if (ranges === 0) return ''
  const parts = quantity(ranges, within === 'job' ? 'range' : 'part')
  const due = `; the next runs request ${ranges === 1 ? 'it' : 'them'} in turn`
  const later = nextAt === null ? '' : `; the next request is after ${nextAt}`
  const next = isDue ? due : later
  return `${parts} of the ${within} ${ranges === 1 ? 'has' : 'have'} missing data${next} (list: indicator-sync gaps)`
}

/** Missing periods that may still be published: those of the provisional spans. */
const selectProvisional = ({ kysely }: Reader) =>
  kysely
    .selectFrom('_span as p')
    .where('p.state', '=', 'provisional')
    .where('p.reason', '<>', 'stored')
    .where('p.accepted', '=', 0)

/** Finds missing data in responses that may still be revised. */
export async function findProvisional(db: Reader, now: Instant): Promise<ListedGap[]> {
  const rows = await selectProvisional(db)
    .innerJoin('series as s', 's.id', 'p.series_id')
    .select(['p.series_id', 's.kind', 's.indicator_id', 's.time_trunc', 's.geo_agg', 's.time_zone', 'p.geo_id'])
    .select(['p.from_at', 'p.to_at', 'p.step_s', 'p.missing', 'p.job', 'p.job_id', 'p.tolerated'])
    .$narrowType<{ to_at: Instant }>()
    .orderBy('p.series_id')
    .orderBy('p.geo_id')
    .orderBy('p.from_at')
    .execute()
  return listGaps(
    db,
    rows.map((row): GapRow => ({ ...row, reason: 'provisional', next_at: null })),
    now,
  )
}

/** Missing values that may still be published, and the number of their series. */
export interface ProvisionalCounts {
  readonly values: number
  readonly series: number
}

/** Counts missing values in responses that may still be revised. */
export async function countProvisional(db: Reader): Promise<ProvisionalCounts> {
  const { values, series } = await selectProvisional(db)
    .select(({ fn }) => [
      fn.sum<number | null>('p.missing').as('values'),
      fn.count<number>('p.series_id').distinct().as('series'),
    ])
    .executeTakeFirstOrThrow()
  return { values: Number(values), series: Number(series) }
}

/** Describes missing values that may still be published; empty without any. */
export const provisionalText = ({ values, series }: ProvisionalCounts): string =>
  values === 0
    ? ''
    : `${quantity(values, 'value')} in ${series} series ${values === 1 ? 'has' : 'have'} not been published yet; every sync requests ${values === 1 ? 'it' : 'them'} again (list: indicator-sync gaps --provisional)`

/** Counts gaps by reason, tolerated ones included. */
export async function countGaps({ kysely }: Reader, now: Instant): Promise<Readonly<Record<GapReason, number>>> {
  const rows = await kysely
    .selectFrom(gapsAt(now))
    .select(({ fn }) => ['reason', fn.countAll<number>().as('count')])
    // A condition on the view would make SQLite read whole tables.
    .select((eb) => isMissed(eb).as('isGap'))
    .groupBy(['reason', 'isGap'])
    .execute()
  const counts = new Map(rows.flatMap(({ reason, count, isGap }) => (isGap ? [[reason, Number(count)]] : [])))
  return Object.fromEntries(GAP_REASONS.map((reason) => [reason, counts.get(reason) ?? 0])) as Record<GapReason, number>
}

/** Counts the series whose last value is older than usual. */
export async function countLateSeries({ kysely }: Reader, now: Instant): Promise<number> {
  const { count } = await kysely
    .selectFrom(gapsAt(now))
    .select(({ fn }) => fn.count<number>('series_id').distinct().as('count'))
    .where('reason', '=', 'late')
    .executeTakeFirstOrThrow()
  return Number(count)
}
