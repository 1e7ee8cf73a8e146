import type { Transaction } from 'kysely'
import type { SeriesRange } from '../../db/engine.ts'
import { prepareQuery } from '../../db/prepared.ts'
import { COVERAGE_COLUMNS } from '../../db/queries/coverageColumns.ts'
import { type GeoRange, geoRanges, type Observations } from '../../db/tables/rows.ts'
import type { Database } from '../../db/tables/schema.ts'
import { isOnGrid, periodEnd } from '../../judge/grid.ts'
import { findMissing, lowerBound, type TimelineValues } from '../../judge/missing.ts'
import type { Coverage, Extent } from '../../judge/stored.ts'
import { findValidRows } from '../../judge/validRows.ts'
import { selectAbsences } from '../../state/judgeInput.ts'
import { findRowChanges } from '../../util/rowChanges.ts'
import type { Instant } from '../../util/time/instant.ts'
import { hull, type Interval, intersect, merge, NO_TIME, subtract } from '../../util/time/interval.ts'
import { ceilTo, floorTo } from '../../util/time/zone.ts'
import { type Cadences, IRREGULAR } from './cadences.ts'
import { type Check, decideMissing, type MissingRow } from './decideMissing.ts'
import type { CadenceChange } from './updateCadences.ts'

/* Writes the missing periods of the timelines of a series: by their stored values and cadence, not by the reply alone. */

/** What a reply changed in a series, after its values, cadences and coverage were written. */
export interface TimelineChanges {
  readonly seriesId: number
  readonly zone: string
  /** Seconds. */
  readonly longestLookback: number
  readonly cadences: Cadences
  /** The extents of all timelines, before and after the reply. */
  readonly extentsBefore: ReadonlyMap<number, Extent | null>
  readonly extents: ReadonlyMap<number, Extent | null>
  readonly cadenceChanges: readonly CadenceChange[]
  /** The geos whose missing periods the window decides. */
  readonly decidedGeos: ReadonlySet<number>
  /** Null for a reply about one instant. */
  readonly window: Interval | null
  readonly observations: Observations
  /** Whether all stored values of the window are in the reply. */
  readonly isComplete: boolean
  readonly withdrawn: ReadonlyMap<number, readonly Instant[]>
  /** Dismissed rejects about values, which stand for values. Null if the place of one is not known. */
  readonly dismissed: readonly ({ readonly geo: number; readonly at: Instant } | null)[]
  readonly fetchedAt: Instant
}

/**
 * Records the missing periods of all timelines that a reply, or a change of their cadence, concerns. Returns the interval in which they
 * may have changed: the decided parts, or the window of the reply if there are none.
 */
export async function recordMissing(tx: Transaction<Database>, changed: TimelineChanges): Promise<Interval> {
  const scopes = findScopes(changed)
  const ranges = new Map(geoRanges(changed.observations).map((geoRange) => [geoRange.geoId, geoRange]))
  const received = [...ranges.values()].map(({ first, end }) => instantsOf(changed.observations, first, end))
  const concerned = [...[...scopes.values()].flat(), ...received]
  if (concerned.length === 0) return changed.window ?? NO_TIME
  const reach = hull(concerned)
  const range = { seriesId: changed.seriesId, ...reach }
  const coverage = await selectCoverage.all(tx, range)
  const stored = Map.groupBy(await selectAbsences.all(tx, range), ({ geo }) => geo)
  const isBeside = !changed.window || reach.from < changed.window.from || reach.to > changed.window.to
  const mayBeDismissed = isBeside && (await selectDismissal.first(tx, {})) !== undefined
  const dismissed = mayBeDismissed ? await selectDismissedWindows.all(tx, range) : []
  for (const geoId of new Set([...scopes.keys(), ...ranges.keys()])) {
    const scope = scopes.get(geoId) ?? []
    const before = stored.get(geoId) ?? []
    const around = { coverage, dismissed, received: ranges.get(geoId) }
    const after = await findRows(tx, changed, geoId, scope, before, around)
    await writeMissing(tx, changed.seriesId, geoId, before, after)
  }
  return reach
}

/** The parts of each timeline in which missing periods are decided again. */
function findScopes(changed: TimelineChanges): Map<number, Interval[]> {
  const { window, decidedGeos, extentsBefore, extents, cadenceChanges, observations } = changed
  const scopes = new Map<number, Interval[]>()
  const add = (geoId: number, ...intervals: readonly Interval[]): void => {
    const parts = intervals.filter(({ from, to }) => from < to)
    if (parts.length > 0) scopes.set(geoId, merge([...(scopes.get(geoId) ?? []), ...parts]))
  }
  if (window) for (const geoId of decidedGeos) add(geoId, window)
  else for (const { geoId, first, end } of geoRanges(observations)) add(geoId, instantsOf(observations, first, end))
  for (const [geoId, after] of extents) {
    const before = extentsBefore.get(geoId) ?? null
    if (!after || !before) {
      // A timeline begins: all that is covered between its values is decided.
      for (const extent of [before, after]) if (extent) add(geoId, { from: extent.first, to: extent.last + 1 })
      continue
    }
    // A part beyond an end is decided when the timeline grows over it.
    add(geoId, { from: Math.min(before.first, after.first), to: Math.max(before.first, after.first) })
    add(geoId, { from: Math.min(before.last, after.last) + 1, to: Math.max(before.last, after.last) })
  }
  for (const { geoId, from, to } of cadenceChanges) {
    const extent = extents.get(geoId)
    if (extent) add(geoId, { from: Math.max(from, extent.first), to: Math.min(to, extent.last + 1) })
  }
  return scopes
}

const instantsOf = ({ at }: Observations, first: number, end: number): Interval => ({
  from: at[first]!,
  to: at[end - 1]! + 1,
})

interface Around {
  readonly coverage: readonly Coverage[]
  /** Windows of earlier replies with dismissed rejects, which may stand for missing values. */
  readonly dismissed: readonly Interval[]
  /** The values of the geo in the reply. */
  readonly received: GeoRange | undefined
}

/** The rows of `_absent` of a timeline near a scope, as its stored values show. */
async function findRows(
  tx: Transaction<Database>,
  changed: TimelineChanges,
  geoId: number,
  scope: readonly Interval[],
  before: readonly MissingRow[],
  { coverage, dismissed: dismissedWindows, received }: Around,
): Promise<readonly MissingRow[]> {
  const { seriesId, zone, cadences, extents, window, fetchedAt, longestLookback, dismissed } = changed
  const extent = extents.get(geoId)
  const stretches = cadences.get(geoId) ?? [IRREGULAR]
  const valid = findValidRows(coverage, geoId)
  // An unverified reply says nothing: what was missing before stays.
  const unverified = valid.filter(({ state }) => state === 'unverified')
  const hidden = window ? subtract(dismissedWindows, [window]) : dismissedWindows
  const undecided = [...unverified, ...hidden]
  const isDecided = undecided.length === 0 && changed.decidedGeos.has(geoId)
  const filled = isDecided ? [] : findFilled(zone, before, changed.observations, received)
  const decided = merge([...subtract(scope, undecided), ...filled])
  let checks: Check[] = valid.flatMap((row) =>
    intersect([row], decided).map((part) => ({ ...part, checkedAt: row.fetchedAt })),
  )
  if (window) {
    // Covered rows keep the oldest time of their parts; in the window it is that of this reply.
    const inWindow = intersect([window], merge(checks)).map((part) => ({ ...part, checkedAt: fetchedAt }))
    const beside = checks.flatMap((check) => subtract([check], [window]).map((part) => ({ ...check, ...part })))
    checks = [...beside, ...inWindow]
  }
  const covered = merge(checks)
  if (!extent || covered.length === 0 || stretches.every(({ kind }) => kind === 'irregular'))
    return decideMissing(zone, before, decided, [], checks, () => fetchedAt)
  // A growing timeline seldom has a period between its last value and the window.
  const beside = window ? subtract(covered, [window]) : covered
  const isInWindow = findMissing(stretches, zone, beside, NO_VALUES, extent).length === 0
  const values =
    changed.isComplete && received && isInWindow
      ? toTimelineValues(changed.observations, received)
      : await readTimelineValues(tx, { seriesId, geoId, ...hull(covered) })
  const takenBack = new Set(changed.withdrawn.get(geoId) ?? [])
  const isWithdrawn = (at: Instant): boolean =>
    takenBack.has(at) || before.some((row) => row.reason === 'withdrawn' && row.from <= at && at < row.to)
  const present = addInstants(
    values.present,
    dismissed.flatMap((key) => (key?.geo === geoId ? [key.at] : [])),
  )
  const missing = findMissing(stretches, zone, covered, { ...values, present, isWithdrawn }, extent)
  return decideMissing(zone, before, decided, missing, checks, (at) => floorTo(zone, at - longestLookback, 'day'))
}

/**
 * The periods of missing rows for which a reply has a value. A reply that is not trusted shows no period to be missing, but its values are
 * stored.
 */
function findFilled(
  zone: string,
  rows: readonly MissingRow[],
  { at, values }: Observations,
  received: GeoRange | undefined,
): readonly Interval[] {
  if (!received || rows.length === 0) return []
  const instants = at.slice(received.first, received.end).filter((_, i) => values[received.first + i] !== null)
  return rows.flatMap((row) => {
    const inside = instants.slice(lowerBound(instants, row.from), lowerBound(instants, row.to))
    if (row.step === null)
      return inside.map((instant) => ({ from: floorTo(zone, instant, 'day'), to: ceilTo(zone, instant + 1, 'day') }))
    const grid = { step: row.step, anchor: row.from }
    return inside
      .filter((instant) => isOnGrid(grid, zone, instant))
      .map((instant) => ({ from: instant, to: periodEnd(grid, zone, instant) }))
  })
}

const NO_VALUES: TimelineValues = { present: [], nulls: [] }

/** Adds instants to a list in order. */
const addInstants = (instants: readonly Instant[], more: readonly Instant[]): readonly Instant[] =>
  more.length === 0 ? instants : [...new Set([...instants, ...more])].sort((a, b) => a - b)

/** The values of a geo in a reply. */
function toTimelineValues({ at, values }: Observations, { first, end }: GeoRange): TimelineValues {
  const present: Instant[] = []
  const nulls: Instant[] = []
  for (let i = first; i < end; i++) (values[i] === null ? nulls : present).push(at[i]!)
  return { present, nulls }
}

async function readTimelineValues(tx: Transaction<Database>, range: SeriesRange): Promise<TimelineValues> {
  const present: Instant[] = []
  const nulls: Instant[] = []
  for (const { at, value } of await selectValues.all(tx, range)) (value === null ? nulls : present).push(at)
  return { present, nulls }
}

const selectValues = prepareQuery((db, { seriesId, geoId, from, to }: SeriesRange) =>
  db
    .selectFrom('observation')
    .select(['at', 'value'])
    .where('series_id', '=', seriesId)
    .where('geo_id', '=', geoId)
    .where('at', '>=', from)
    .where('at', '<', to)
    .orderBy('at'),
)

const selectCoverage = prepareQuery((db, { seriesId, from, to }: { seriesId: number } & Interval) =>
  db
    .selectFrom('_coverage')
    .select(COVERAGE_COLUMNS)
    .where('series_id', '=', seriesId)
    .where('from_at', '<', to)
    .where('to_at', '>', from),
)

/** Any dismissed reject. Most databases have none, and to look for those of a series reads all its fetches. */
const selectDismissal = prepareQuery((db, _: object) =>
  db.selectFrom('_quarantine').select('id').where('dismissed_after', 'is not', null).limit(1),
)

const selectDismissedWindows = prepareQuery((db, { seriesId, from, to }: { seriesId: number } & Interval) =>
  db
    .selectFrom('_quarantine as q')
    .innerJoin('_fetch as f', 'f.id', 'q.fetch_id')
    .select(['f.from_at as from', 'f.to_at as to'])
    .distinct()
    .where('q.dismissed', 'is not', null)
    .where('f.series_id', '=', seriesId)
    .where('f.from_at', '<', to)
    .where('f.to_at', '>', from)
    .$narrowType<Interval>(),
)

/** Writes the rows that differ. */
async function writeMissing(
  tx: Transaction<Database>,
  seriesId: number,
  geoId: number,
  before: readonly MissingRow[],
  after: readonly MissingRow[],
): Promise<void> {
  const toKey = ({ from, to, step, periods, reason, sinceAt, checkedAt }: MissingRow): string =>
    [from, to, step, periods, reason, sinceAt, checkedAt].join()
  const { removed, inserted } = findRowChanges(before, after, toKey)
  for (const row of removed) await deleteMissing.run(tx, { seriesId, geoId, from: row.from })
  for (const row of inserted)
    await insertMissing.run(tx, {
      series_id: seriesId,
      geo_id: geoId,
      from_at: row.from,
      to_at: row.to,
      step_s: row.step,
      missing: row.periods,
      reason: row.reason,
      since_at: row.sinceAt,
      checked_at: row.checkedAt,
    })
}

const deleteMissing = prepareQuery(
  (db, { seriesId, geoId, from }: { seriesId: number; geoId: number; from: Instant }) =>
    db.deleteFrom('_absent').where('series_id', '=', seriesId).where('geo_id', '=', geoId).where('from_at', '=', from),
)
const insertMissing = prepareQuery((db, row: Database['_absent']) => db.insertInto('_absent').values(row))
