import type { Transaction } from 'kysely'
import { DAY, type Instant } from '../../base/time/instant.ts'
import { type Interval, intersect, subtract } from '../../base/time/interval.ts'
import { isLong, isSameStep, type Periods, periodsOf } from '../../base/time/periods.ts'
import { prepared, preparedInsert } from '../../db/prepared.ts'
import { GIVEN_UP } from '../../job/again.ts'
import type { PlannedRequest } from '../../job/plannedRequest.ts'
import type { GeoRange, Observations } from '../../tables/rows.ts'
import type { Database } from '../../tables/schema.ts'
import { ALL_GEOS } from '../../tables/sql/allGeos.ts'
import type { StoredSeries } from '../storedSeries.ts'
import { nearbyValues } from './held.ts'
import { countPeriods, fills, gridOf, holesOf, isRegular, type MissingInterval, rangesByGeo } from './regular.ts'

/** An answer, with all that is needed to find out which values are missing in it. */
export interface AnsweredWindow {
  readonly series: StoredSeries
  readonly planned: Pick<PlannedRequest, 'timeZone' | 'geoIds' | 'settledBefore'>
  readonly window: Interval
  readonly rows: Observations
  readonly now: Instant
  /** Geos for which the answer is not trusted; contains `ALL_GEOS` where it is trusted for none. */
  readonly doubted: ReadonlySet<number>
  /** The answer shows where values are, but not where none are: what was absent before stays so, and nothing else becomes absent. */
  readonly isPartial?: boolean
}

/** A row of `_absent`. */
interface AbsentRow extends MissingInterval {
  readonly sinceAt: Instant
  readonly checkedAt: Instant
}
/** A row with its geo. */
export type StoredAbsence = AbsentRow & { readonly geoId: number }

/** Whether it is not requested again, so that its exact age does not matter any more. */
const isGivenUp = ({ sinceAt, checkedAt }: AbsentRow): boolean => checkedAt - sinceAt > GIVEN_UP

/** Whether two adjacent absences can be one row: both are requested again at the same time, or both never. */
const canMergeAbsences = (a: AbsentRow, b: AbsentRow): boolean =>
  a.to === b.from &&
  isSameStep(a.step, b.step) &&
  (isGivenUp(a)
    ? isGivenUp(b)
    : !isGivenUp(b) && Math.abs(a.sinceAt - b.sinceAt) < DAY && Math.abs(a.checkedAt - b.checkedAt) < DAY)

/** The rows in order of time; adjacent ones that are requested again together become one. */
function mergeAbsent(rows: readonly AbsentRow[]): AbsentRow[] {
  const merged: AbsentRow[] = []
  for (const row of [...rows].sort((a, b) => a.from - b.from)) {
    const last = merged.at(-1)
    if (last && canMergeAbsences(last, row))
      merged[merged.length - 1] = {
        ...last,
        to: row.to,
        sinceAt: Math.min(last.sinceAt, row.sinceAt),
        checkedAt: isGivenUp(row) ? Math.max(last.checkedAt, row.checkedAt) : Math.min(last.checkedAt, row.checkedAt),
      }
    else merged.push(row)
  }
  return merged
}

/** The same absence, once for each of some intervals. */
const withIntervals = (row: AbsentRow, parts: readonly Interval[]): AbsentRow[] =>
  parts.map((part) => ({ ...row, ...part }))

/** Replaces what is stored as absent for one geo in a window. What was absent before, for this geo or for all, keeps the time at which that began. */
export async function replaceAbsences(
  tx: Transaction<Database>,
  { series: { id: seriesId }, window, now }: AnsweredWindow,
  geoId: number,
  before: readonly StoredAbsence[],
  missing: readonly MissingInterval[],
  earlier: readonly StoredAbsence[],
): Promise<void> {
  const own = before.filter((row) => row.geoId === geoId)
  const known: AbsentRow[] = [...own]
  const others = before.filter((row) => row.geoId !== geoId).sort((a, b) => a.sinceAt - b.sinceAt)
  for (const row of others) known.push(...withIntervals(row, subtract([row], known)))
  const inside = known.flatMap((row) => withIntervals(row, intersect([row], [window])))
  const found = missing.flatMap((hole) => {
    const fresh = { ...hole, sinceAt: now, checkedAt: now }
    return [
      ...withIntervals(fresh, subtract([hole], inside)),
      ...inside.flatMap(({ sinceAt, ...old }) =>
        withIntervals({ ...fresh, sinceAt: Math.min(sinceAt, now) }, intersect([hole], [old])),
      ),
    ]
  })
  const kept = own.flatMap((row) => withIntervals(row, subtract([row], [window])))
  for (const { from } of earlier.filter((row) => row.geoId === geoId))
    await deleteAbsence.run(tx, { seriesId, geoId, from })
  await insertAbsences(tx, seriesId, geoId, mergeAbsent([...kept, ...found]))
}

const deleteAbsence = prepared((db, of: { seriesId: number; geoId: number; from: Instant }) =>
  db
    .deleteFrom('_absent')
    .where('series_id', '=', of.seriesId)
    .where('geo_id', '=', of.geoId)
    .where('from_at', '=', of.from),
)
const insertRow = preparedInsert('_absent', [
  ...(['series_id', 'geo_id', 'from_at', 'to_at', 'step_s', 'missing', 'since_at', 'checked_at'] as const),
])

/** Writes rows of one geo. */
async function insertAbsences(
  tx: Transaction<Database>,
  seriesId: number,
  geoId: number,
  rows: readonly AbsentRow[],
): Promise<void> {
  for (const { from, to, step, sinceAt, checkedAt } of rows)
    await insertRow.run(tx, {
      series_id: seriesId,
      geo_id: geoId,
      from_at: from,
      to_at: to,
      step_s: step,
      missing: countPeriods({ from, to }, step),
      since_at: sinceAt,
      checked_at: checkedAt,
    })
}

/** This many values of one answer are too few to show that they follow no step. */
const TOO_FEW_VALUES = 3

/** The periods of a series, where they are longer than an hour: taken from the answer, else from the stored values. */
export async function seriesPeriods(
  tx: Transaction<Database>,
  {
    series,
    planned: { timeZone, geoIds },
    window,
    rows: { at, steps },
  }: Pick<AnsweredWindow, 'series' | 'planned' | 'window' | 'rows'>,
): Promise<Periods | undefined> {
  const last = at.length - 1
  if (last >= 0) return periodsOf(timeZone, { at: at[last]!, step: typeof steps === 'number' ? steps : steps[last]! })
  const geoId = geoIds[0] === ALL_GEOS ? series.geoIds[0] : geoIds[0]
  const around = await nearbyValues(tx, series.id, geoId, window)
  const [nearest, step] = [around.at.at(-1), around.steps.at(-1)]
  return nearest === undefined ? undefined : periodsOf(timeZone, { at: nearest, step: step! })
}

/** An interval moved to the borders of periods: the periods that begin in it. `over`: the last one counts only when it has ended by then. */
export function wholePeriods<T extends Interval>(periods: Periods, interval: T, over?: Instant): T {
  const end = periods.ceil(interval.to)
  const to = over === undefined || end === interval.to ? end : Math.min(end, periods.floor(over))
  return { ...interval, from: periods.ceil(interval.from), to }
}

/** What is missing for one geo: periods that are past revision, or were absent before. Provisional ones are requested again anyway. */
async function missingPeriods(
  tx: Transaction<Database>,
  answer: AnsweredWindow,
  geoId: number,
  group: GeoRange | undefined,
  before: readonly StoredAbsence[],
  periods: Periods | undefined,
): Promise<MissingInterval[]> {
  const { series, planned, window, rows, now } = answer
  if (group && fills(window, rows, group)) return []
  const grid = group && gridOf(rows, group)
  const holes = holesOf(window, grid)
  const over = Math.min(planned.settledBefore, now)
  const settled = { from: window.from, to: Math.min(window.to, periods?.floor(over) ?? over) }
  const counts = intersect(holes, answer.isPartial ? before : [settled, ...before])
  if (counts.length === 0) return []
  const around = await nearbyValues(tx, series.id, geoId === ALL_GEOS ? series.geoIds[0] : geoId, window)
  // Events follow no step, so nothing of them is missing. A few values of an answer do not show that; those around them do.
  if (!isRegular(around) || (grid && grid.at.length > TOO_FEW_VALUES && !isRegular(grid))) return []
  const stepAt = (at: Instant) => holes.find(({ from, to }) => from <= at && at < to)?.step
  return counts.map((hole) => missingIn(hole, stepAt(hole.from) ?? around.steps[0] ?? null, periods))
}

/** An interval without values, with the length of its periods. A single calendar period is exactly as long as its interval. */
export const missingIn = (hole: Interval, step: number | null, periods: Periods | undefined): MissingInterval =>
  periods !== undefined && periods.ceil(hole.from + 1) === hole.to
    ? { ...hole, step: hole.to - hole.from }
    : { ...hole, step }

/**
 * Remembers the periods of a window for which the step of the series promises a value and none came, so that they are
 * requested again in time: sources publish late. A period belongs to the window in which it begins, and is absent as a whole.
 */
export async function recordAbsences(tx: Transaction<Database>, given: AnsweredWindow): Promise<void> {
  const { series, planned, rows, doubted, now } = given
  const periods = await seriesPeriods(tx, given)
  const answer = periods ? { ...given, window: wholePeriods(periods, given.window) } : given
  const { window } = answer
  const reach = periods ? { from: 0, to: Number.MAX_SAFE_INTEGER } : window
  const stored: StoredAbsence[] = await absencesIn.all(tx, { seriesId: series.id, ...reach })
  // Rows from before the length of a period was known are moved to the borders of periods.
  const over = Math.min(planned.settledBefore, now)
  const earlier = stored
    .map((row) => (periods && (row.step === null || isLong(row.step)) ? wholePeriods(periods, row, over) : row))
    .filter(({ from, to }) => from < to)
  const groups = rangesByGeo(rows)
  const all = planned.geoIds.includes(ALL_GEOS)
  // An answer without any value is recorded once, for all geos.
  const geos = new Set(all ? (groups.size === 0 ? [ALL_GEOS] : [...groups.keys(), ...series.geoIds]) : planned.geoIds)
  const earlierOf = Map.groupBy(earlier, ({ geoId }) => geoId)
  const storedOf = Map.groupBy(stored, ({ geoId }) => geoId)
  const ofAll = earlierOf.get(ALL_GEOS) ?? []
  for (const geoId of all ? new Set([...geos, ...storedOf.keys()]) : geos) {
    const own = earlierOf.get(geoId) ?? []
    // What is absent for all geos keeps the earliest time of any geo, and the other way round.
    const before = geoId === ALL_GEOS ? earlier : [...own, ...ofAll]
    const known = storedOf.get(geoId) ?? []
    const trusted = geos.has(geoId) && !doubted.has(ALL_GEOS) && !doubted.has(geoId)
    const missing = trusted ? await missingPeriods(tx, answer, geoId, groups.get(geoId), before, periods) : []
    if (missing.length > 0 || known.length > 0) await replaceAbsences(tx, answer, geoId, before, missing, known)
  }
}

/** What is absent of a series in an interval or adjacent to it. */
export const absencesIn = prepared((db, of: Interval & { seriesId: number }) =>
  db
    .selectFrom('_absent')
    .select(['geo_id as geoId', 'from_at as from', 'to_at as to', 'step_s as step'])
    .select(['since_at as sinceAt', 'checked_at as checkedAt'])
    .where('series_id', '=', of.seriesId)
    .where('to_at', '>=', of.from)
    .where('from_at', '<=', of.to),
)
