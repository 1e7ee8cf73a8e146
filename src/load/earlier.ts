import type { Transaction } from 'kysely'
import type { Instant } from '../base/instant.ts'
import { type Interval, intersect, subtract } from '../base/interval.ts'
import type { Periods } from '../base/periods.ts'
import { floorTo } from '../base/zone.ts'
import { prepared } from '../db/prepared.ts'
import { ALL_GEOS } from '../job/plannedRequest.ts'
import type { Database } from '../tables/schema.ts'
import { type Answer, absent, missingIn, place, rowsIn, seriesPeriods, wholePeriods } from './absent.ts'
import { followsStep, NEARBY, nearby } from './held.ts'
import { type Grid, type Group, gridOf, groupsOf, holesOf, isStepped } from './regular.ts'

/* What an answer tells of windows that were answered before it. */

/** So many values in an answer are too few to tell by themselves what their series promises. */
const SMALL = 100

const coveredIn = prepared((db, of: Interval & { seriesId: number }) =>
  db
    .selectFrom('_coverage')
    .select(['geo_id as geoId', 'from_at as from', 'to_at as to', 'state', 'fetched_at as fetchedAt'])
    .select('settled_s as settledS')
    .where('series_id', '=', of.seriesId)
    .where('from_at', '<', of.to)
    .where('to_at', '>', of.from),
)

// What was dismissed may be any of what is missing beside it.
const rejectIn = prepared((db, of: Interval & { seriesId: number }) =>
  db
    .selectFrom('_quarantine as q')
    .innerJoin('_fetch as f', 'f.id', 'q.fetch_id')
    .select('q.id')
    .where('f.series_id', '=', of.seriesId)
    .where('f.from_at', '<', of.to)
    .where('f.to_at', '>', of.from)
    .limit(1),
)

/** Values that lie around a window, with those of a geo that came in it; and the stretch of which they are all that is held. */
async function gridAround(
  tx: Transaction<Database>,
  { series, window, rows }: Answer,
  geoId: number,
  group: Group,
): Promise<{ readonly grid: Grid; readonly reach: Interval }> {
  const around = await nearby(tx, series.id, geoId, window)
  const before = around.at.filter((at) => at < window.from).length
  const own = gridOf(rows, group)
  const join = (key: keyof Grid) => [...around[key].slice(0, before), ...own[key], ...around[key].slice(before)]
  const grid = { at: join('at'), steps: join('steps') }
  const reach = {
    // One value alone promises none before it.
    from: before < NEARBY && grid.at.length > 1 ? 0 : grid.at[0]!,
    to: around.at.length - before < NEARBY ? Number.MAX_SAFE_INTEGER : grid.at.at(-1)!,
  }
  return { grid, reach }
}

/** A stretch without values that was answered once. */
interface Unjudged extends Interval {
  readonly fetchedAt: Instant
  /** The geo that lacks it; all where nothing came for any. */
  readonly lacking: number
}

/** What of a stretch without values of a geo was answered and past revision, and is neither in doubt nor known to be absent: whole periods. */
async function unjudgedIn(
  tx: Transaction<Database>,
  { series: { id: seriesId }, planned: { timeZone } }: Answer,
  geoId: number,
  stretch: Interval,
  lookbackS: number,
  periods: Periods | undefined,
): Promise<Unjudged[]> {
  const covered = await coveredIn.all(tx, { seriesId, ...stretch })
  if (covered.length === 0) return []
  const absences = await rowsIn.all(tx, { seriesId, ...stretch })
  const known = absences.filter((row) => row.geoId === geoId || row.geoId === ALL_GEOS)
  const own = covered.filter((row) => row.geoId === geoId)
  return covered.flatMap((row): Unjudged[] => {
    if (row.state === 'doubt' || (row.geoId !== geoId && row.geoId !== ALL_GEOS)) return []
    const isSettled = row.settledS >= lookbackS
    const over = floorTo(timeZone, row.fetchedAt - lookbackS, 'day')
    const settled = { from: row.from, to: isSettled ? row.to : Math.min(row.to, over) }
    // What was answered of one geo by itself stands above what was answered of all.
    const parts = subtract(intersect([stretch], [settled]), row.geoId === ALL_GEOS ? [...known, ...own] : known)
    const lacking = row.geoId === ALL_GEOS && row.state === 'empty' ? ALL_GEOS : geoId
    return parts
      .map((part) => (periods ? wholePeriods(periods, part, isSettled ? undefined : over) : part))
      .filter(({ from, to }) => from < to)
      .map((part) => ({ ...part, fetchedAt: row.fetchedAt, lacking }))
  })
}

/** Forgets what was taken to be absent in a stretch before anybody saw that events come when they come. */
async function forget(tx: Transaction<Database>, answer: Answer, geoId: number, stretch: Interval): Promise<void> {
  const absences = await rowsIn.all(tx, { seriesId: answer.series.id, ...stretch })
  for (const lacking of [geoId, ALL_GEOS]) {
    const known = absences.filter((row) => row.geoId === lacking)
    await place(tx, { ...answer, window: stretch }, lacking, known, [], known)
  }
}

/**
 * Judges again what was missing beside a window before it was answered. Few values do not tell whether they follow a step: what
 * was missing among them is not known to be absent until others tell it. And what was answered for all geos before some were
 * born, which nobody knew, was answered without them.
 */
export async function absentBeside(
  tx: Transaction<Database>,
  answer: Answer,
  born: readonly number[],
  lookbackS: number,
): Promise<void> {
  const { series, window, rows, doubted } = answer
  const seriesId = series.id
  const isSmall = rows.at.length <= SMALL
  if (rows.at.length === 0 || !(isSmall || born.length > 0) || doubted.has(ALL_GEOS)) return
  const periods = await seriesPeriods(tx, answer)
  for (const [geoId, group] of groupsOf(rows)) {
    if (doubted.has(geoId) || !(isSmall || born.includes(geoId))) continue
    const { grid, reach } = await gridAround(tx, answer, geoId, group)
    if (!isStepped(grid)) {
      if (rows.guessed) await forget(tx, answer, geoId, reach)
      continue
    }
    for (const { step, ...hole } of holesOf(reach, grid))
      for (const beside of subtract([hole], [window]))
        for (const { fetchedAt, lacking, ...part } of await unjudgedIn(tx, answer, geoId, beside, lookbackS, periods)) {
          if (!(await followsStep(tx, seriesId, geoId, part))) continue
          if ((await rejectIn.first(tx, { seriesId, ...part })) !== undefined) continue
          const around = (await rowsIn.all(tx, { seriesId, ...part })).filter(
            (row) => [lacking, ALL_GEOS].includes(row.geoId) || lacking === ALL_GEOS,
          )
          const missing = [missingIn(part, step, periods)]
          await place(tx, { ...answer, window: part, now: fetchedAt }, lacking, around, missing, around)
        }
  }
}

/** Where a value came that was asked for by its instant alone, it is absent no more: the whole of its period. */
export async function absentNoMore(
  tx: Transaction<Database>,
  answer: Pick<Answer, 'series' | 'planned' | 'rows' | 'now'>,
): Promise<void> {
  const { series, planned, rows } = answer
  const stepOf = (i: number): number => (typeof rows.steps === 'number' ? rows.steps : rows.steps[i]!)
  const came = rows.at.map((from, i) => ({ geoId: rows.geoIds[i]!, from, to: from + stepOf(i) }))
  for (const [from, together] of Map.groupBy(came, (row) => row.from)) {
    const window = { from, to: Math.max(...together.map(({ to }) => to)) }
    const beside = await rowsIn.all(tx, { seriesId: series.id, ...window })
    if (!beside.some((row) => row.from < window.to && row.to > from)) continue
    const geoIds = together.map(({ geoId }) => geoId)
    const one = {
      ...{ geoIds, at: geoIds.map(() => from), values: geoIds.map(() => null) },
      steps: together.map(({ to }) => to - from),
    }
    await absent(tx, {
      ...{ ...answer, planned: { ...planned, geoIds: [ALL_GEOS] }, window, rows: one },
      ...{ doubted: new Set<number>(), isPartial: true },
    })
  }
}
