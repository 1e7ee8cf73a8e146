import type { Transaction } from 'kysely'
import type { Instant } from '../../base/time/instant.ts'
import { type Interval, intersect, subtract } from '../../base/time/interval.ts'
import { isLong, type Periods } from '../../base/time/periods.ts'
import { floorTo } from '../../base/time/zone.ts'
import { prepared } from '../../db/prepared.ts'
import type { GeoRange } from '../../tables/rows.ts'
import type { Database } from '../../tables/schema.ts'
import { ALL_GEOS } from '../../tables/sql/allGeos.ts'
import {
  type AnsweredWindow,
  absencesIn,
  missingIn,
  recordAbsences,
  replaceAbsences,
  seriesPeriods,
  wholePeriods,
} from './absent.ts'
import { followsStep, NEARBY, nearbyValues } from './held.ts'
import { type Grid, gridOf, holesOf, isStepped, rangesByGeo } from './regular.ts'

/* An answer may show that values are missing in windows that were answered before it. */

/** Up to this many values, an answer alone does not show whether its series follows a step. */
const FEW_VALUES = 100

const coveredIn = prepared((db, of: Interval & { seriesId: number }) =>
  db
    .selectFrom('_coverage')
    .select(['geo_id as geoId', 'from_at as from', 'to_at as to', 'state', 'fetched_at as fetchedAt'])
    .select('settled_s as settledS')
    .where('series_id', '=', of.seriesId)
    .where('from_at', '<', of.to)
    .where('to_at', '>', of.from),
)

// A reject, even a dismissed one, may be one of the values that are missing near it.
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

/** The values of a geo in an answer and those stored next to its window, and the interval in which these are all that there are. */
async function gridAround(
  tx: Transaction<Database>,
  { series, window, rows }: AnsweredWindow,
  geoId: number,
  group: GeoRange,
): Promise<{ readonly grid: Grid; readonly reach: Interval }> {
  const nearby = await nearbyValues(tx, series.id, geoId, window)
  const before = nearby.at.filter((at) => at < window.from).length
  const own = gridOf(rows, group)
  const join = (key: keyof Grid) => [...nearby[key].slice(0, before), ...own[key], ...nearby[key].slice(before)]
  const grid = { at: join('at'), steps: join('steps') }
  const reach = {
    // A single value does not show that there should be one before it.
    from: before < NEARBY && grid.at.length > 1 ? 0 : grid.at[0]!,
    to: nearby.at.length - before < NEARBY ? Number.MAX_SAFE_INTEGER : grid.at.at(-1)!,
  }
  return { grid, reach }
}

/** An interval without values that was answered, and may be absent. */
interface PossibleAbsence extends Interval {
  readonly fetchedAt: Instant
  /** The geo without values; `ALL_GEOS` where no geo has any. */
  readonly lacking: number
}

/** The whole periods of an interval without values that were answered and past revision, and are neither in doubt nor known to be absent. */
async function possibleAbsences(
  tx: Transaction<Database>,
  { series: { id: seriesId }, planned: { timeZone } }: AnsweredWindow,
  geoId: number,
  interval: Interval,
  lookbackS: number,
  periods: Periods | undefined,
): Promise<PossibleAbsence[]> {
  const covered = await coveredIn.all(tx, { seriesId, ...interval })
  if (covered.length === 0) return []
  const absences = await absencesIn.all(tx, { seriesId, ...interval })
  const known = absences.filter((row) => row.geoId === geoId || row.geoId === ALL_GEOS)
  const own = covered.filter((row) => row.geoId === geoId)
  return covered.flatMap((row): PossibleAbsence[] => {
    if (row.state === 'doubt' || (row.geoId !== geoId && row.geoId !== ALL_GEOS)) return []
    const isSettled = row.settledS >= lookbackS
    const over = floorTo(timeZone, row.fetchedAt - lookbackS, 'day')
    const settled = { from: row.from, to: isSettled ? row.to : Math.min(row.to, over) }
    // An answer for this geo alone goes before an answer for all geos.
    const parts = subtract(intersect([interval], [settled]), row.geoId === ALL_GEOS ? [...known, ...own] : known)
    const lacking = row.geoId === ALL_GEOS && row.state === 'empty' ? ALL_GEOS : geoId
    return parts
      .map((part) => (periods ? wholePeriods(periods, part, isSettled ? undefined : over) : part))
      .filter(({ from, to }) => from < to)
      .map((part) => ({ ...part, fetchedAt: row.fetchedAt, lacking }))
  })
}

/** Deletes absences that were recorded before it was known that the series holds events, which follow no step. */
async function forgetAbsences(
  tx: Transaction<Database>,
  answer: AnsweredWindow,
  geoId: number,
  interval: Interval,
): Promise<void> {
  const absences = await absencesIn.all(tx, { seriesId: answer.series.id, ...interval })
  for (const lacking of [geoId, ALL_GEOS]) {
    const known = absences.filter((row) => row.geoId === lacking)
    await replaceAbsences(tx, { ...answer, window: interval }, lacking, known, [], known)
  }
}

/**
 * A border of periods beside a hole: the nearest value after it, else before it, that is a whole number of steps from the next one in
 * that direction. A stray row, which may end a hole or begin it, is not.
 */
function borderBeside(hole: Interval, step: number, { at }: Grid): Instant {
  const after = at.find((one, i) => one >= hole.to && i + 1 < at.length && (at[i + 1]! - one) % step === 0)
  const before = at.findLast((one, i) => one < hole.to && i > 0 && (one - at[i - 1]!) % step === 0)
  return after ?? before ?? (hole.to === Number.MAX_SAFE_INTEGER ? hole.from : hole.to)
}

/**
 * A part of a hole from the first period on that begins in it; null where none does. What was answered may begin within a period: that
 * one is absent where it begins. `step` is that of the hole.
 */
function fromFirstPeriod(part: Interval, hole: Interval, step: number | null, grid: Grid): Interval | null {
  if (step === null || isLong(step)) return part
  const border = borderBeside(hole, step, grid)
  const from = border - Math.floor((border - part.from) / step) * step
  return from < part.to ? { from, to: part.to } : null
}

/**
 * Looks again for missing values near a window. Few values do not show whether they follow a step, so what is missing among
 * them is recorded as absent only when further values show the step. Answers for all geos from before a geo was first seen did
 * not have it either.
 */
export async function recordEarlierAbsences(
  tx: Transaction<Database>,
  answer: AnsweredWindow,
  newGeoIds: readonly number[],
  lookbackS: number,
): Promise<void> {
  const { series, window, rows, doubted } = answer
  const seriesId = series.id
  const isSmall = rows.at.length <= FEW_VALUES
  if (rows.at.length === 0 || !(isSmall || newGeoIds.length > 0) || doubted.has(ALL_GEOS)) return
  const periods = await seriesPeriods(tx, answer)
  for (const [geoId, group] of rangesByGeo(rows)) {
    if (doubted.has(geoId) || !(isSmall || newGeoIds.includes(geoId))) continue
    const { grid, reach } = await gridAround(tx, answer, geoId, group)
    if (!isStepped(grid)) {
      if (rows.guessed) await forgetAbsences(tx, answer, geoId, reach)
      continue
    }
    for (const { step, ...hole } of holesOf(reach, grid))
      for (const beside of subtract([hole], [window]))
        for (const { fetchedAt, lacking, ...possible } of await possibleAbsences(
          tx,
          answer,
          geoId,
          beside,
          lookbackS,
          periods,
        )) {
          const part = fromFirstPeriod(possible, hole, step, grid)
          if (part === null) continue
          if (!(await followsStep(tx, seriesId, geoId, part))) continue
          if ((await rejectIn.first(tx, { seriesId, ...part })) !== undefined) continue
          const nearby = (await absencesIn.all(tx, { seriesId, ...part })).filter(
            (row) => [lacking, ALL_GEOS].includes(row.geoId) || lacking === ALL_GEOS,
          )
          const missing = [missingIn(part, step, periods)]
          await replaceAbsences(tx, { ...answer, window: part, now: fetchedAt }, lacking, nearby, missing, nearby)
        }
  }
}

/** Ends the absence of periods whose value came in an answer for a single instant. */
export async function endAbsences(
  tx: Transaction<Database>,
  answer: Pick<AnsweredWindow, 'series' | 'planned' | 'rows' | 'now'>,
): Promise<void> {
  const { series, planned, rows } = answer
  const stepOf = (i: number): number => (typeof rows.steps === 'number' ? rows.steps : rows.steps[i]!)
  const came = rows.at.map((from, i) => ({ geoId: rows.geoIds[i]!, from, to: from + stepOf(i) }))
  for (const [from, together] of Map.groupBy(came, (row) => row.from)) {
    const window = { from, to: Math.max(...together.map(({ to }) => to)) }
    const beside = await absencesIn.all(tx, { seriesId: series.id, ...window })
    if (!beside.some((row) => row.from < window.to && row.to > from)) continue
    const geoIds = together.map(({ geoId }) => geoId)
    const one = {
      geoIds,
      at: geoIds.map(() => from),
      values: geoIds.map(() => null),
      steps: together.map(({ to }) => to - from),
    }
    await recordAbsences(tx, {
      ...answer,
      planned: { ...planned, geoIds: [ALL_GEOS] },
      window,
      rows: one,
      doubted: new Set<number>(),
      isPartial: true,
    })
  }
}
