import { GOOD_OUTCOMES } from '../../db/queries/fetchOutcomes.ts'
import { readUnjudged } from '../../db/queries/seriesLookup.ts'
import type { Reader } from '../../db/store.ts'
import { JUDGEMENT } from '../../judge/version.ts'
import { DAY, floorToSecond, formatMillis, type Instant } from '../../util/time/instant.ts'
import { overlaps } from '../../util/time/interval.ts'
import { dayNumber, localDay } from '../../util/time/localDay.ts'
import { localDate } from '../../util/time/zone.ts'
import type { CadenceChange, Trouble } from '../trouble.ts'

/** Nobody can end these findings, so they end after a while; the tables keep what they are about. */
const REPORTED_S = 31 * DAY
/** Seconds. A change that lies further back than this before its reply is history, such as that of a backfill. */
const RECENT_S = 62 * DAY
/** Seconds. A shorter stretch between two equal ones is rewritten history, and not a resolution that was given up. */
const SHORT_STRETCH_S = 31 * DAY

/** Reads the series with coverage, whose spans other rules decided. */
async function readCovered({ kysely }: Reader): Promise<number[]> {
  const rows = await kysely.selectFrom('_coverage').select('series_id').distinct().execute()
  return rows.map(({ series_id }) => series_id)
}

/** Finds series that this version has not judged: an earlier one loaded them, so nothing is known to be missing of them. */
export async function findUnjudged(db: Reader): Promise<Trouble[]> {
  const judged = await db.kysely.selectFrom('_judged').select('rules').executeTakeFirst()
  const seriesIds = judged?.rules === JUDGEMENT ? await readUnjudged(db) : await readCovered(db)
  if (seriesIds.length === 0) return []
  return [{ kind: 'not judged', series: seriesIds.length, sinceAt: null, jobIds: [], seriesIds, cause: null }]
}

/** The columns that name a series. */
const SERIES_NAME = ['s.kind', 's.indicator_id', 's.time_trunc', 's.geo_agg', 's.time_zone'] as const

/** Reads the windows of the requests since an instant that stored values of a series, by series. */
async function readNewWindows({ kysely }: Reader, since: Instant, series: readonly number[]) {
  const rows = await kysely
    .selectFrom('_fetch')
    .select(['series_id', 'from_at as from', 'to_at as to'])
    .where('series_id', 'in', series)
    .where('outcome', 'in', GOOD_OUTCOMES)
    .where('finished_at', '>', formatMillis(since * 1000))
    .where(({ eb }) => eb(eb('rows_new', '+', eb.ref('rows_revised')), '>', 0))
    .execute()
  return Map.groupBy(
    rows.flatMap(({ series_id, from, to }) => (from === null || to === null ? [] : [{ series_id, from, to }])),
    ({ series_id }) => series_id,
  )
}

/** Finds regular series with values between their periods, in days that were loaded lately. */
export async function findStrayValues(db: Reader, now: Instant): Promise<Trouble[]> {
  const rows = await db.kysely
    .selectFrom('_day as d')
    .innerJoin('series_geo as g', (join) =>
      join.onRef('g.series_id', '=', 'd.series_id').onRef('g.geo_id', '=', 'd.geo_id'),
    )
    .innerJoin('series as s', 's.id', 'd.series_id')
    .select(['d.series_id', 'd.geo_id', 'd.month', 'd.day', 'd.step_s', 'd.strays', ...SERIES_NAME])
    .where('d.strays', '>', 0)
    .where('g.kind', '=', 'regular')
    .$narrowType<{ strays: number }>()
    .orderBy('d.series_id')
    .orderBy('d.month')
    .orderBy('d.day')
    .execute()
  if (rows.length === 0) return []
  const seriesIds = [...new Set(rows.map(({ series_id }) => series_id))]
  const windows = await readNewWindows(db, now - REPORTED_S, seriesIds)
  const stretches = Map.groupBy(
    await db.kysely
      .selectFrom('_cadence')
      .select(['series_id', 'geo_id', 'from_at', 'step_s'])
      .where('series_id', 'in', seriesIds)
      .orderBy('from_at')
      .execute(),
    ({ series_id, geo_id }) => `${series_id} ${geo_id}`,
  )
  const days = rows
    .map((row) => ({ ...row, ...localDay(row.time_zone, dayNumber({ month: row.month, dayOfMonth: row.day })) }))
    .filter(({ series_id, geo_id, from, to, step_s }) => {
      const isNew = windows.get(series_id)?.some((window) => overlaps(window, { from, to })) ?? false
      const ofGeo = stretches.get(`${series_id} ${geo_id}`) ?? []
      // On the day of a change, both steps are native. A thinned day has a step of its own.
      const isChange = ofGeo.some(({ from_at }) => from_at > from && from_at < to)
      const stretch = ofGeo.findLast(({ from_at }) => from_at <= from) ?? ofGeo[0]
      return isNew && !isChange && stretch?.step_s === step_s
    })
  return [...Map.groupBy(days, ({ series_id }) => series_id).values()].map((group): Trouble => {
    const { series_id, kind, indicator_id, time_trunc, geo_agg, time_zone, from } = group[0]!
    return {
      kind: 'off the grid',
      days: {
        series_id,
        kind,
        indicator_id,
        time_trunc,
        geo_agg,
        geoIds: [...new Set(group.map(({ geo_id }) => geo_id))],
        days: [localDate(time_zone, from), localDate(time_zone, group.at(-1)!.from)],
        count: group.reduce((total, { strays }) => total + strays, 0),
      },
      sinceAt: from,
      jobIds: [],
      seriesIds: [series_id],
      cause: null,
    }
  })
}

/** Finds series that publish longer periods since lately: the stretch of the last cadence is coarser than the one before. */
export async function findCadenceChanges(db: Reader, now: Instant): Promise<Trouble[]> {
  const rows = await db.kysely
    .selectFrom('_cadence as c')
    .innerJoin('series as s', 's.id', 'c.series_id')
    .leftJoin('_fetch as f', 'f.id', 'c.fetch_id')
    .select(['c.series_id', 'c.geo_id', 'c.from_at', 'c.step_s', 'f.finished_at', ...SERIES_NAME])
    .orderBy('c.series_id')
    .orderBy('c.geo_id')
    .orderBy('c.from_at')
    .execute()
  const changes = [...Map.groupBy(rows, ({ series_id, geo_id }) => `${series_id} ${geo_id}`).values()].flatMap(
    (stretches) => {
      const [last, before, earlier] = stretches.toReversed()
      if (!last || !before || last.step_s === null || before.step_s === null || last.step_s <= before.step_s) return []
      if (earlier?.step_s === last.step_s && last.from_at - before.from_at < SHORT_STRETCH_S) return []
      const shownAt = last.finished_at === null ? null : floorToSecond(last.finished_at)
      if (shownAt === null || shownAt <= now - REPORTED_S || last.from_at < shownAt - RECENT_S) return []
      return [{ ...last, oldStepS: before.step_s, newStepS: last.step_s, sinceAt: last.from_at }]
    },
  )
  return [...Map.groupBy(changes, ({ series_id }) => series_id).values()].map((group): Trouble => {
    const { series_id, kind, indicator_id, time_trunc, geo_agg, time_zone, ...first } = group[0]!
    const { oldStepS, newStepS, sinceAt } = first
    const change: CadenceChange = {
      series_id,
      kind,
      indicator_id,
      time_trunc,
      geo_agg,
      oldStepS,
      newStepS,
      sinceAt,
      geoIds: group.map(({ geo_id }) => geo_id),
      at: localDate(time_zone, sinceAt),
    }
    return { kind: 'cadence changed', change, sinceAt, jobIds: [], seriesIds: [series_id], cause: null }
  })
}
