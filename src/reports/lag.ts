import { GOOD_OUTCOMES } from '../db/queries/fetchOutcomes.ts'
import type { Reader } from '../db/store.ts'
import { epochSeconds } from '../db/tables/sql/expressions.ts'
import { DAY, floorToSecond, formatUtc, type Instant } from '../util/time/instant.ts'
import { quantile, roughDuration } from './rhythm.ts'
import { seriesName } from './seriesName.ts'

/** How many of the last answers of a series are used. */
const ANSWERS = 30
/** Seconds. A series that is further behind than usual by more than this has ended. */
const ENDED_AFTER_S = 60 * DAY
/** Seconds. Where the usual lag is not known, a series is behind when its last value is older than this and than three steps. */
const OLD_AFTER_S = 7 * DAY

/** For every series, the last answers that had values and whose window reached the present, the latest first. */
const answersOf = ({ kysely }: Reader) =>
  kysely
    .selectFrom('series as s')
    .innerJoin('_fetch as f', (join) =>
      join.on('f.id', 'in', (of) =>
        of
          .selectFrom('_fetch as l')
          .select('l.id')
          .whereRef('l.series_id', '=', 's.id')
          .where('l.outcome', 'in', GOOD_OUTCOMES)
          .where('l.last_at', 'is not', null)
          .where((eb) => eb('l.to_at', '>=', eb(epochSeconds(eb, 'l.finished_at'), '-', 3600)))
          .orderBy('l.finished_at', 'desc')
          .limit(ANSWERS),
      ),
    )
    .select(['s.id as series_id', 'f.finished_at', 'f.last_at', 'f.step_s', 'f.to_at'])
    .$narrowType<{ last_at: Instant; to_at: Instant }>()
    .orderBy('s.id')
    .orderBy('f.finished_at', 'desc')
    .execute()

type AnsweredFetch = Awaited<ReturnType<typeof answersOf>>[number]

/** A series that is further behind than usual. */
export interface Lag {
  readonly seriesId: number
  readonly what: string
}

/** How far a series reaches. Lags are in seconds since the end of the last period; negative where it is in the future. */
export interface Reach {
  readonly seriesId: number
  readonly indicatorId: number
  /** The last instant with a value of any geo; null without any. */
  readonly lastAt: Instant | null
  readonly behindS: number | null
  /** Its usual lag at the time of a request; null where too little is known. */
  readonly usualS: number | null
  /** When it was last answered (UTC); null where it never was. */
  readonly checkedAt: string | null
  /** A sentence when it is further behind than usual; null otherwise. */
  readonly late: string | null
}

/** The last instant with a value of any geo of every series. */
const ends = ({ kysely }: Reader) =>
  kysely
    .selectFrom('series_geo as g')
    .select('g.series_id')
    .select(({ fn, selectFrom }) =>
      fn
        .max<Instant | null>(
          selectFrom('observation as o')
            .select(({ fn }) => fn.max('o.at').as('at'))
            .whereRef('o.series_id', '=', 'g.series_id')
            .whereRef('o.geo_id', '=', 'g.geo_id'),
        )
        .as('last_at'),
    )
    .groupBy('g.series_id')
    .as('e')

/** Every series with its last value, and when it was last requested and up to where. */
const lagSeries = (db: Reader) =>
  db.kysely
    .selectFrom('series as s')
    .innerJoin(ends(db), 'e.series_id', 's.id')
    .select(['s.id as series_id', 's.kind', 's.indicator_id', 's.time_trunc', 's.geo_agg', 'e.last_at'])
    .select(({ exists, selectFrom }) => [
      exists(
        selectFrom('indicator as i')
          .select('i.id')
          .whereRef('i.kind', '=', 's.kind')
          .whereRef('i.id', '=', 's.indicator_id')
          .where('i.withdrawn_at', 'is not', null),
      ).as('withdrawn'),
      selectFrom('series_geo as g')
        .innerJoin('observation as o', (join) =>
          join.onRef('o.series_id', '=', 'g.series_id').onRef('o.geo_id', '=', 'g.geo_id'),
        )
        .select('o.step_s')
        .whereRef('g.series_id', '=', 's.id')
        .whereRef('o.at', '=', 'e.last_at')
        .limit(1)
        .as('step_s'),
      selectFrom('_fetch as f')
        .select('f.finished_at')
        .whereRef('f.series_id', '=', 's.id')
        .where('f.outcome', 'in', GOOD_OUTCOMES)
        .orderBy('f.finished_at', 'desc')
        .limit(1)
        .as('checked_at'),
      selectFrom('_coverage as c')
        .select(({ fn }) => fn.max('c.to_at').as('to_at'))
        .whereRef('c.series_id', '=', 's.id')
        .as('reach'),
    ])
    .orderBy('s.id')
    .execute()

/** How far a series reaches: `behind` are seconds since the end of its last period, negative for the future. */
const reachText = (behind: number): string =>
  behind < 0 ? `is ${roughDuration(behind)} in the future` : `ended ${roughDuration(behind)} ago`

/** Whether the job that last requested a series has run since without requesting it, and so does not want it any more. */
async function isAbandoned({ kysely }: Reader, seriesId: number, graceS: number): Promise<boolean> {
  const later = await kysely
    .selectFrom('_fetch as f')
    .innerJoin('_run as r', 'r.id', 'f.run_id')
    .innerJoin('_run as n', (join) => join.onRef('n.job', '=', 'r.job').onRef('n.command', '=', 'r.command'))
    .select('n.id')
    .where('f.id', '=', (of) =>
      of
        .selectFrom('_fetch as l')
        .select(({ fn }) => fn.max('l.id').as('id'))
        .where('l.series_id', '=', seriesId),
    )
    .whereRef('n.id', '>', 'r.id')
    .where('n.requests', '>', 0)
    .where((eb) => eb(epochSeconds(eb, 'n.started_at'), '>', eb(epochSeconds(eb, 'f.finished_at'), '+', graceS)))
    .limit(1)
    .executeTakeFirst()
  return later !== undefined
}

/** The usual lag of a series at the time of a request, and the largest that is normal before the next one; undefined where too little is known. */
function usualLag(
  answers: readonly AnsweredFetch[],
  now: Instant,
): { usual: number; allowed: number; interval: number } | undefined {
  if (answers.length < 3) return undefined
  // Where all windows have the same end and it is past, the requests were about the past.
  const ends = new Set(answers.map(({ to_at }) => to_at))
  if (ends.size === 1 && now > answers[0]!.to_at) return { usual: 0, allowed: Number.POSITIVE_INFINITY, interval: DAY }
  const times = answers.map(({ finished_at }) => floorToSecond(finished_at)).sort((a, b) => a - b)
  const lags = answers.map(({ finished_at, last_at, step_s }) => floorToSecond(finished_at) - last_at - (step_s ?? 0))
  const between = times
    .slice(1)
    .map((at, i) => at - times[i]!)
    .filter((seconds) => seconds > 60)
  const interval = between.length === 0 ? DAY : quantile(between, 0.5)
  const step = Math.max(...answers.map(({ step_s }) => step_s ?? 0))
  // The upper quartile, so that a few late answers of the source do not count as usual.
  const usual = quantile(lags, 0.75)
  const spread = usual - quantile(lags, 0.1)
  return { usual, allowed: usual + Math.max(interval * 1.25, step) + spread / 2, interval }
}

type LagSeries = Awaited<ReturnType<typeof lagSeries>>[number]

/** How far a series reaches, and whether that is less than usual. */
async function seriesReach(
  db: Reader,
  row: LagSeries,
  answers: readonly AnsweredFetch[],
  now: Instant,
): Promise<Reach> {
  const { series_id, indicator_id, withdrawn, last_at, checked_at, reach } = row
  const step = row.step_s ?? 0
  const behind = last_at === null ? null : now - last_at - step
  const stored = {
    seriesId: series_id,
    indicatorId: indicator_id,
    lastAt: last_at,
    behindS: behind,
    checkedAt: checked_at,
  }
  if (last_at === null || behind === null || checked_at === null) return { ...stored, usualS: null, late: null }
  const usual = usualLag(answers, now)
  const known = { ...stored, usualS: usual?.usual ?? null, late: null }
  if (withdrawn) return known
  const name = seriesName(row)
  if (usual) {
    if (behind <= usual.allowed || behind > usual.usual + ENDED_AFTER_S + 3 * step) return known
    // PostgreSQL adds whole seconds only.
    if (await isAbandoned(db, series_id, Math.max(7_200, Math.round(usual.interval * 1.5)))) return known
    const usually = usual.usual < 0 ? `it ${reachText(usual.usual)}` : `${roughDuration(usual.usual)} ago`
    return { ...known, late: `${name}: the last value ${reachText(behind)}; usually ${usually}` }
  }
  const requested = floorToSecond(checked_at)
  const late = requested - last_at - step
  if (reach === null || reach < requested || late <= Math.max(OLD_AFTER_S, 3 * step) || late > ENDED_AFTER_S + 3 * step)
    return known
  return {
    ...known,
    late: `${name}: the last value is from ${formatUtc(last_at)}, although data was requested up to ${formatUtc(requested)}`,
  }
}

/** How far every series reaches, in the order of their numbers. */
export async function reaches(db: Reader, now: Instant): Promise<Reach[]> {
  const answers = Map.groupBy(await answersOf(db), ({ series_id }) => series_id)
  const found: Reach[] = []
  for (const row of await lagSeries(db)) found.push(await seriesReach(db, row, answers.get(row.series_id) ?? [], now))
  return found
}

/** Series that are further behind now than they usually are, each in a sentence. */
export async function staleSeries(db: Reader, now: Instant): Promise<Lag[]> {
  return (await reaches(db, now)).flatMap(({ seriesId, late }) => (late === null ? [] : [{ seriesId, what: late }]))
}
