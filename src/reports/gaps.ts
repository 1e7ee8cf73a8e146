import type { ExpressionBuilder } from 'kysely'
import type { NamedSeries } from '../db/engine.ts'
import type { Reader } from '../db/store.ts'
import { ALL_GEOS, GAP_REASONS, type GapReason } from '../db/tables/codes.ts'
import type { Database } from '../db/tables/schema.ts'
import { unknownNext } from '../job/plannerState.ts'
import { shellWord } from '../util/text.ts'
import { formatUtc } from '../util/time/instant.ts'
import { addUnits, floorTo, formatLocal } from '../util/time/zone.ts'
import { pendingRanges } from './pending.ts'
import { seriesName } from './seriesName.ts'
import { readUnknown } from './unknownItems.ts'

/** A gap in the range that was requested of a series or that a job wants. */
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
  /** How many periods the local day in which the gap begins has in all: 23, 24 or 25 hours, 92, 96 or 100 quarter-hours. */
  readonly expected_in_day: number | null
  /**
   * The earliest time (UTC) at which a sync requests it again, for the reasons `absent` and `unverified`; null if no sync will, because no
   * job wants it any more, or because it has been absent for half a year. Also null for `never requested` and `failed`.
   */
  readonly next_at: string | null
  /** The first job that wants it; null if none does. */
  readonly job: string | null
  /** The next run that fetches it, for people: the job's schedule, or the command that runs it; null if none will. */
  readonly next: string | null
}

/** The next run of every job, by the name of the job: its schedule, or the command that runs it. */
async function nextRuns({ kysely }: Reader): Promise<ReadonlyMap<string, string>> {
  const last = await kysely
    .selectFrom('_run')
    .select(['job', 'job_file', 'schedule'])
    .where('id', 'in', (of) =>
      of
        .selectFrom('_run')
        .select(({ fn }) => fn.max('id').as('id'))
        .where('command', 'in', ['sync', 'schedule'])
        .groupBy('job'),
    )
    .execute()
  return new Map(
    last.map(({ job, job_file, schedule }) => {
      if (schedule !== null) return [job, `the schedule of ${job} (${schedule})`]
      return [job, job_file === null ? `the next sync of ${job}` : `indicator-sync sync ${shellWord(job_file)}`]
    }),
  )
}

/** The reason of missing data that is no gap: its answer may still be revised. */
type ListedReason = GapReason | 'provisional'

/** A gap, or missing data in an answer that may still be revised. */
export interface ListedGap extends Omit<Gap, 'reason'> {
  readonly reason: ListedReason
}

/** The columns of a gap from which its list entry is made. */
interface GapRow<Reason extends ListedReason> extends NamedSeries {
  readonly geo_id: number
  readonly time_zone: string
  readonly from_at: number
  readonly to_at: number
  readonly reason: Reason
  readonly step_s: number | null
  readonly missing: number | null
  readonly next_at: string | null
  readonly job: string | null
}

/** Gaps with local times and the next run that fetches each. */
async function listGaps<Reason extends ListedReason>(
  db: Reader,
  rows: readonly GapRow<Reason>[],
): Promise<(Omit<Gap, 'reason'> & { readonly reason: Reason })[]> {
  if (rows.length === 0) return []
  const [runs, unknown] = [await nextRuns(db), await readUnknown(db)]
  const nextRun = ({ kind, indicator_id, job, reason, next_at }: GapRow<Reason>): string | null => {
    const isLeft = next_at === null && (reason === 'absent' || reason === 'unverified')
    if (job === null || isLeft) return null
    const item = unknown.get(`${kind} ${indicator_id}`)
    const at = next_at ?? (item ? formatUtc(unknownNext(item)) : null)
    const run = runs.get(job) ?? `the next sync of ${job}`
    return at === null ? run : `${run}, from ${at} on`
  }
  return rows.map((row) => {
    const { series_id, kind, indicator_id, time_trunc, geo_agg, geo_id, time_zone, from_at, step_s } = row
    const day = floorTo(time_zone, from_at, 'day')
    const length = addUnits(time_zone, day, 'day', 1) - day
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
      next: nextRun(row),
    }
  })
}

/**
 * Whether a row of the view `gaps` is missing data. A range that was never requested is not if no job selects it: it lies
 * between a backfill and the windows of the jobs, and no run would fetch it.
 */
export const isMissed = (of: ExpressionBuilder<{ gaps: Database['gaps'] }, 'gaps'>) =>
  of.or([of('gaps.job', 'is not', null), of('gaps.reason', '<>', 'never requested')])

/** Finds every gap of every series, in order: the rows of the view `gaps` without ranges that no job selects. Values that may still be published are not gaps. */
export async function findGaps(db: Reader): Promise<Gap[]> {
  const rows = await db.kysely
    .selectFrom('gaps')
    .where(isMissed)
    .innerJoin('series as s', 's.id', 'gaps.series_id')
    .selectAll('gaps')
    .select(['s.time_zone', 's.geo_agg'])
    .orderBy('gaps.series_id')
    .orderBy('gaps.geo_id')
    .orderBy('gaps.from_at')
    .orderBy('gaps.to_at')
    .execute()
  return listGaps(db, rows)
}

/** Missing data in answers that may still be revised, as gaps with the reason `provisional`. */
export async function findProvisional(db: Reader): Promise<ListedGap[]> {
  const series = await db.kysely
    .selectFrom('series as s')
    .select(['s.id', 's.kind', 's.indicator_id', 's.time_trunc', 's.geo_agg', 's.time_zone'])
    .select((of) =>
      of
        .selectFrom('_job_range as w')
        .select(({ fn }) => fn.min('w.job').as('job'))
        .whereRef('w.series_id', '=', 's.id')
        .as('job'),
    )
    .execute()
  const byId = new Map(series.map((row) => [row.id, row]))
  const rows: GapRow<'provisional'>[] = []
  for await (const { seriesId, geoId, from, to, step, missing } of pendingRanges(db)) {
    const { id, ...named } = byId.get(seriesId)!
    const range = { geo_id: geoId, from_at: from, to_at: to, step_s: step, missing }
    rows.push({ ...named, ...range, series_id: id, reason: 'provisional', next_at: null })
  }
  return listGaps(db, rows)
}

/** A gap in a sentence, with the next run that fetches it. */
export function gapText(gap: Gap): string {
  const { geo_id, from, to, job, next } = gap
  const geos = geo_id === ALL_GEOS ? 'all geos' : `geo ${geo_id}`
  const end =
    next !== null
      ? `next: ${next}`
      : job === null
        ? 'no job selects it any more'
        : 'fetch it with `indicator-sync restate`'
  return `${seriesName(gap)}, ${geos}: ${from} to ${to}; ${end}`
}

/** How many gaps there are for each reason. */
export const gapCounts = (gaps: readonly Gap[]): Readonly<Record<GapReason, number>> =>
  Object.fromEntries(
    GAP_REASONS.map((reason) => [reason, gaps.filter((gap) => gap.reason === reason).length]),
  ) as unknown as Record<GapReason, number>
