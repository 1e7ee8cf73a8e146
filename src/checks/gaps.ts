import { formatUtc } from '../base/time/instant.ts'
import { addUnits, floorTo } from '../base/time/zone.ts'
import { shellWord } from '../base/visible.ts'
import type { NamedSeries } from '../db/engine.ts'
import type { Reader } from '../db/store.ts'
import { unknownNext } from '../job/again.ts'
import { readUnknown } from '../state/unknown.ts'
import { ALL_GEOS } from '../tables/sql/allGeos.ts'
import { GAP_REASONS, type GapReason } from '../tables/sql/gapReason.ts'
import { seriesName } from './seriesName.ts'

/** A gap in the range that was requested of a series or that a job wants. */
export interface Gap extends NamedSeries {
  readonly geo_id: number
  /** First instant of the gap and first instant after it, local with offset. */
  readonly from: string
  readonly to: string
  readonly reason: GapReason
  /** Seconds of a period, and how many periods are missing; null where no value shows the step. */
  readonly step_s: number | null
  readonly missing: number | null
  /** How many periods the local day in which the gap begins has in all: 23, 24 or 25 hours, 92, 96 or 100 quarter-hours. */
  readonly expected_in_day: number | null
  /**
   * The earliest time (UTC) at which a sync requests it again, for the reasons `absent` and `doubt`; null if no sync will, because no
   * job wants it any more, or because it has been absent for half a year. Also null for `never requested` and `failed`.
   */
  readonly next_at: string | null
  /** The first job that wants it; null if none does. */
  readonly job: string | null
  /** The next run that fetches it, for people: the job's schedule, or the command that runs it; null if none will. */
  readonly next: string | null
}

/** The next run of every job with a schedule, by the name of the job. */
async function schedules({ kysely }: Reader): Promise<ReadonlyMap<string, string>> {
  const last = await kysely
    .selectFrom('_run')
    .select(['job', 'schedule'])
    .where('id', 'in', (of) =>
      of
        .selectFrom('_run')
        .select(({ fn }) => fn.max('id').as('id'))
        .where('command', 'in', ['sync', 'schedule'])
        .groupBy('job'),
    )
    .where('schedule', 'is not', null)
    .execute()
  return new Map(last.map(({ job, schedule }) => [job, `the schedule of ${job} (${schedule})`]))
}

/** Every gap of every series, in order: the rows of the view `gaps`. Values that may still come are not gaps. */
export async function findGaps(db: Reader): Promise<Gap[]> {
  const { kysely } = db
  const rows = await kysely
    .selectFrom('gaps as g')
    .innerJoin('series as s', 's.id', 'g.series_id')
    .selectAll('g')
    .select(['s.time_zone', 's.geo_agg'])
    .orderBy('g.series_id')
    .orderBy('g.geo_id')
    .orderBy('g.from_at')
    .orderBy('g.to_at')
    .execute()
  if (rows.length === 0) return []
  const [scheduled, unknown] = [await schedules(db), await readUnknown(db)]
  const nextRun = ({ kind, indicator_id, job, reason, next_at }: (typeof rows)[number]): string | null => {
    const isLeft = next_at === null && (reason === 'absent' || reason === 'doubt')
    if (job === null || isLeft) return null
    const item = unknown.get(`${kind} ${indicator_id}`)
    const at = next_at ?? (item ? formatUtc(unknownNext(item)) : null)
    const run = scheduled.get(job) ?? `indicator-sync sync ${shellWord(`jobs/${job}.yaml`)}`
    return at === null ? run : `${run}, from ${at} on`
  }
  return rows.map((row) => {
    const { from_local, to_local, from_at, time_zone, ...gap } = row
    const day = floorTo(time_zone, from_at, 'day')
    const length = addUnits(time_zone, day, 'day', 1) - day
    return {
      series_id: gap.series_id,
      kind: gap.kind,
      indicator_id: gap.indicator_id,
      time_trunc: gap.time_trunc,
      geo_agg: gap.geo_agg,
      geo_id: gap.geo_id,
      from: from_local,
      to: to_local,
      reason: gap.reason,
      step_s: gap.step_s,
      missing: gap.missing,
      expected_in_day: gap.step_s === null ? null : Math.max(1, Math.round(length / gap.step_s)),
      next_at: gap.next_at,
      job: gap.job,
      next: nextRun(row),
    }
  })
}

/** A gap in a sentence, with the next run that fetches it. */
export function gapText(gap: Gap): string {
  const { geo_id, from, to, job, next } = gap
  const geos = geo_id === ALL_GEOS ? 'all geos' : `geo ${geo_id}`
  const end = next !== null ? `next: ${next}` : job === null ? 'no job wants it' : 'only restate fetches it'
  return `${seriesName(gap)}, ${geos}: ${from} to ${to}; ${end}`
}

/** How many gaps there are for each reason. */
export const gapCounts = (gaps: readonly Gap[]): Readonly<Record<GapReason, number>> =>
  Object.fromEntries(
    GAP_REASONS.map((reason) => [reason, gaps.filter((gap) => gap.reason === reason).length]),
  ) as unknown as Record<GapReason, number>
