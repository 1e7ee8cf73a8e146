import type { Transaction } from 'kysely'
import type { Instant } from '../base/instant.ts'
import { type Interval, intersect, subtract } from '../base/interval.ts'
import { isLong, isSameStep, type Periods, periodsOf } from '../base/periods.ts'
import { prepared, preparedInsert } from '../db/prepared.ts'
import { ALL_GEOS, type PlannedRequest } from '../job/plannedRequest.ts'
import type { Observations } from '../tables/rows.ts'
import type { Database } from '../tables/schema.ts'
import { nearby } from './held.ts'
import { fills, type Group, gridOf, groupsOf, holesOf, isRegular, type Missing, stepsOf } from './regular.ts'
import type { StoredSeries } from './series.ts'

/** An answer, as far as it bears on what was not in it. */
export interface Answer {
  readonly series: StoredSeries
  readonly planned: Pick<PlannedRequest, 'timeZone' | 'geoIds' | 'settledBefore'>
  readonly window: Interval
  readonly rows: Observations
  readonly now: Instant
  /** Geos for which the answer is not believed; `ALL_GEOS` for all. */
  readonly doubted: ReadonlySet<number>
  /** It tells where values are and nothing of where none are: only what was absent before still is. */
  readonly isPartial?: boolean
}

/** A row of `_absent`. */
interface Absent extends Missing {
  readonly sinceAt: Instant
  readonly checkedAt: Instant
}
/** One that is stored, with its geo. */
export type Stored = Absent & { readonly geoId: number }

const DAY = 86_400
/** What was absent for longer than this is not requested again: how long exactly does not matter any more. */
const GIVEN_UP = 181 * DAY
const isGivenUp = ({ sinceAt, checkedAt }: Absent): boolean => checkedAt - sinceAt > GIVEN_UP

/** Whether two neighbours are requested again at the same time, or never. */
const joins = (a: Absent, b: Absent): boolean =>
  a.to === b.from &&
  isSameStep(a.step, b.step) &&
  (isGivenUp(a)
    ? isGivenUp(b)
    : !isGivenUp(b) && Math.abs(a.sinceAt - b.sinceAt) < DAY && Math.abs(a.checkedAt - b.checkedAt) < DAY)

/** Rows in order, with those as one that are requested again together. */
function mergeAbsent(rows: readonly Absent[]): Absent[] {
  const merged: Absent[] = []
  for (const row of [...rows].sort((a, b) => a.from - b.from)) {
    const last = merged.at(-1)
    if (last && joins(last, row))
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

/** The same absence in other stretches. */
const cutTo = (row: Absent, parts: readonly Interval[]): Absent[] => parts.map((part) => ({ ...row, ...part }))

/** Puts what is missing of one geo in a window in place of what was known there. What was absent before, for it or for all, keeps its time. */
export async function place(
  tx: Transaction<Database>,
  { series: { id: seriesId }, window, now }: Answer,
  geoId: number,
  before: readonly Stored[],
  missing: readonly Missing[],
  earlier: readonly Stored[],
): Promise<void> {
  const own = before.filter((row) => row.geoId === geoId)
  const known: Absent[] = [...own]
  const others = before.filter((row) => row.geoId !== geoId).sort((a, b) => a.sinceAt - b.sinceAt)
  for (const row of others) known.push(...cutTo(row, subtract([row], known)))
  const inside = known.flatMap((row) => cutTo(row, intersect([row], [window])))
  const found = missing.flatMap((hole) => {
    const fresh = { ...hole, sinceAt: now, checkedAt: now }
    return [
      ...cutTo(fresh, subtract([hole], inside)),
      ...inside.flatMap(({ sinceAt, ...old }) => cutTo({ ...fresh, sinceAt }, intersect([hole], [old]))),
    ]
  })
  const kept = own.flatMap((row) => cutTo(row, subtract([row], [window])))
  for (const { from } of earlier.filter((row) => row.geoId === geoId))
    await deleteRow.run(tx, { seriesId, geoId, from })
  await insert(tx, seriesId, geoId, mergeAbsent([...kept, ...found]))
}

const deleteRow = prepared((db, of: { seriesId: number; geoId: number; from: Instant }) =>
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
async function insert(
  tx: Transaction<Database>,
  seriesId: number,
  geoId: number,
  rows: readonly Absent[],
): Promise<void> {
  for (const { from, to, step, sinceAt, checkedAt } of rows)
    await insertRow.run(tx, {
      ...{ series_id: seriesId, geo_id: geoId, from_at: from, to_at: to, step_s: step },
      ...{ missing: stepsOf({ from, to }, step), since_at: sinceAt, checked_at: checkedAt },
    })
}

/** So many values of one answer are too few to show that they follow no step. */
const FEW = 3

/** The periods that a series follows, where they are longer than an hour: by the answer, else by what is held. */
export async function seriesPeriods(
  tx: Transaction<Database>,
  {
    series,
    planned: { timeZone, geoIds },
    window,
    rows: { at, steps },
  }: Pick<Answer, 'series' | 'planned' | 'window' | 'rows'>,
): Promise<Periods | undefined> {
  const last = at.length - 1
  if (last >= 0) return periodsOf(timeZone, { at: at[last]!, step: typeof steps === 'number' ? steps : steps[last]! })
  const geoId = geoIds[0] === ALL_GEOS ? series.geoIds[0] : geoIds[0]
  const around = await nearby(tx, series.id, geoId, window)
  const [nearest, step] = [around.at.at(-1), around.steps.at(-1)]
  return nearest === undefined ? undefined : periodsOf(timeZone, { at: nearest, step: step! })
}

/** The whole periods that begin in a stretch; where it ends inside of one, only what is over by an instant. */
export function wholePeriods<T extends Interval>(periods: Periods, stretch: T, over?: Instant): T {
  const end = periods.ceil(stretch.to)
  const to = over === undefined || end === stretch.to ? end : Math.min(end, periods.floor(over))
  return { ...stretch, from: periods.ceil(stretch.from), to }
}

/** What is missing of one geo: periods that are past revision, or were absent before. What may still come is requested again anyway. */
async function missingOf(
  tx: Transaction<Database>,
  answer: Answer,
  geoId: number,
  group: Group | undefined,
  before: readonly Stored[],
  periods: Periods | undefined,
): Promise<Missing[]> {
  const { series, planned, window, rows, now } = answer
  if (group && fills(window, rows, group)) return []
  const grid = group && gridOf(rows, group)
  const holes = holesOf(window, grid)
  const over = Math.min(planned.settledBefore, now)
  const settled = { from: window.from, to: Math.min(window.to, periods?.floor(over) ?? over) }
  const counts = intersect(holes, answer.isPartial ? before : [settled, ...before])
  if (counts.length === 0) return []
  const around = await nearby(tx, series.id, geoId === ALL_GEOS ? series.geoIds[0] : geoId, window)
  // Events, which follow no step, promise nothing. A few values of an answer do not tell; what lies around them does.
  if (!isRegular(around) || (grid && grid.at.length > FEW && !isRegular(grid))) return []
  const stepAt = (at: Instant) => holes.find(({ from, to }) => from <= at && at < to)?.step
  return counts.map((hole) => missingIn(hole, stepAt(hole.from) ?? around.steps[0] ?? null, periods))
}

/** A stretch without values whose periods are so long. Months are as long as they are: one alone tells its own length. */
export const missingIn = (hole: Interval, step: number | null, periods: Periods | undefined): Missing =>
  periods !== undefined && periods.ceil(hole.from + 1) === hole.to
    ? { ...hole, step: hole.to - hole.from }
    : { ...hole, step }

/**
 * Remembers the periods of a window for which the step of the series promises a value and none came, so that they are
 * requested again in time: sources publish late. A period belongs to the window in which it begins, and is absent as a whole.
 */
export async function absent(tx: Transaction<Database>, given: Answer): Promise<void> {
  const { series, planned, rows, doubted, now } = given
  const periods = await seriesPeriods(tx, given)
  const answer = periods ? { ...given, window: wholePeriods(periods, given.window) } : given
  const { window } = answer
  const reach = periods ? { from: 0, to: Number.MAX_SAFE_INTEGER } : window
  const stored: Stored[] = await rowsIn.all(tx, { seriesId: series.id, ...reach })
  // What was absent before anybody knew how long a period is, begins and ends as the periods do.
  const over = Math.min(planned.settledBefore, now)
  const earlier = stored
    .map((row) => (periods && (row.step === null || isLong(row.step)) ? wholePeriods(periods, row, over) : row))
    .filter(({ from, to }) => from < to)
  const groups = groupsOf(rows)
  const all = planned.geoIds.includes(ALL_GEOS)
  // Nothing came at all: that is told once, of all geos.
  const geos = new Set(all ? (groups.size === 0 ? [ALL_GEOS] : [...groups.keys(), ...series.geoIds]) : planned.geoIds)
  const earlierOf = Map.groupBy(earlier, ({ geoId }) => geoId)
  const storedOf = Map.groupBy(stored, ({ geoId }) => geoId)
  const ofAll = earlierOf.get(ALL_GEOS) ?? []
  for (const geoId of all ? new Set([...geos, ...storedOf.keys()]) : geos) {
    const own = earlierOf.get(geoId) ?? []
    // What is absent of all has been so since it was of any, and the other way round.
    const before = geoId === ALL_GEOS ? earlier : [...own, ...ofAll]
    const known = storedOf.get(geoId) ?? []
    const believed = geos.has(geoId) && !doubted.has(ALL_GEOS) && !doubted.has(geoId)
    const missing = believed ? await missingOf(tx, answer, geoId, groups.get(geoId), before, periods) : []
    if (missing.length > 0 || known.length > 0) await place(tx, answer, geoId, before, missing, known)
  }
}

/** What is absent of a series in a stretch or beside it. */
export const rowsIn = prepared((db, of: Interval & { seriesId: number }) =>
  db
    .selectFrom('_absent')
    .select(['geo_id as geoId', 'from_at as from', 'to_at as to', 'step_s as step'])
    .select(['since_at as sinceAt', 'checked_at as checkedAt'])
    .where('series_id', '=', of.seriesId)
    .where('to_at', '>=', of.from)
    .where('from_at', '<=', of.to),
)
