import type { Transaction, Updateable } from 'kysely'
import type { Engine, UpsertCounts } from '../db/engine.ts'
import { prepareQuery } from '../db/prepared.ts'
import { readStepsAround } from '../db/queries/stepsAround.ts'
import type { FetchOutcome } from '../db/tables/codes.ts'
import {
  geoRanges,
  isAboutValues,
  type Observations,
  type Reject,
  type Rows,
  type RowValues,
} from '../db/tables/rows.ts'
import { type Database, tableOf } from '../db/tables/schema.ts'
import type { Extent } from '../judge/missing.ts'
import { formatMillis, type Instant } from '../util/time/instant.ts'
import type { Interval } from '../util/time/interval.ts'
import { isCalendarStep, LONGEST_FIXED_S } from '../util/time/periods.ts'
import type { Counts } from './counts.ts'
import { listDecidedGeos, provesMissing } from './coverage/decideCoverage.ts'
import { findLongestLookback, recordCoverage, toSeriesReply } from './coverage/recordCoverage.ts'
import { markListing, replaceOwned } from './listing.ts'
import { readOpenRejects } from './quarantine/dismissed.ts'
import type { FetchRecord } from './recordFetch.ts'
import { recordUnits } from './recordUnits.ts'
import { readStoredSeries, type StoredSeries } from './storedSeries.ts'
import { alignSteps } from './timelines/alignSteps.ts'
import { type Cadences, cadenceInput, readCadences, withCadence } from './timelines/cadences.ts'
import { findExtents, writeTimeline } from './timelines/extents.ts'
import { recordMissing } from './timelines/recordMissing.ts'
import { updateCadences } from './timelines/updateCadences.ts'
import { NOTHING_WITHDRAWN, withdraw } from './timelines/withdraw.ts'
import { addWritten, dropDescribed, NOTHING_WRITTEN, upsertRows } from './upsertItems.ts'
import { writeDays } from './writeDays.ts'

/** Replaces guessed steps with those of the stored values next to them. */
async function inferStepsFromStored(
  tx: Transaction<Database>,
  seriesId: number,
  observations: Observations,
): Promise<Observations> {
  const { geoIds, at, steps: guess, isStepGuessed } = observations
  if (!isStepGuessed || typeof guess !== 'number' || guess >= LONGEST_FIXED_S) return observations
  const firstAt = new Map<number, Instant>()
  for (const [i, geoId] of geoIds.entries()) if (!firstAt.has(geoId)) firstAt.set(geoId, at[i]!)
  const steps = new Map<number, number>()
  // A value that is stored at this instant counts as one before it.
  for (const instant of new Set(firstAt.values()))
    for (const { geo_id, before, after } of await readStepsAround(tx, { seriesId, at: instant + 1 })) {
      const step = [before, after].find((stored) => stored !== null && stored < LONGEST_FIXED_S)
      if (step && firstAt.get(geo_id) === instant) steps.set(geo_id, step)
    }
  return { ...observations, steps: geoIds.map((geoId) => steps.get(geoId) ?? guess) }
}

/** The record of a reply, and its rows. */
export interface RecordedReply extends Pick<FetchRecord, 'planned' | 'seriesId' | 'recordedMs' | 'outcome'> {
  readonly fetchId: number
  readonly rows: Rows
  /** If one transaction writes several replies: rows that earlier ones found stored already. */
  readonly unchanged?: UnchangedTables
}

/** Rows other than values that were stored already, as JSON. Cleared when anything else is written. */
export type UnchangedTables = Map<string, UpsertCounts>

/** The changes by a reply. */
interface ReplyChanges {
  readonly counts: Pick<Counts, 'rows_new' | 'rows_unchanged' | 'rows_revised' | 'rows_withdrawn' | 'rows_rejected'>
  /** Invalid rows that were not dismissed. */
  readonly rejects: readonly Reject[]
  /** The interval in which missing periods may have changed. */
  readonly reach: Interval
}

/**
 * Writes the rows of a new or stored reply, the versions they supersede, coverage, and the counters of its record. Runs inside a
 * transaction.
 */
export async function applyRows(
  tx: Transaction<Database>,
  engine: Engine,
  reply: RecordedReply,
): Promise<ReplyChanges> {
  const { fetchId, seriesId, planned, rows, outcome } = reply
  const open = await readOpenRejects(tx, { seriesId, target: planned.http.target, fetchId }, rows)
  // Compares the stored quantity, which the items replace, for days without stored values.
  await recordUnits(tx, planned, fetchId, rows)
  const items = await applyItems(tx, engine, reply)
  const values = seriesId === null ? null : await applyValues(tx, engine, seriesId, reply, open.rejects)
  const written = values ? addWritten(items.written, values.written) : items.written
  const counts = {
    rows_new: written.inserted,
    rows_unchanged: written.unchanged,
    rows_revised: written.revised,
    rows_withdrawn: items.withdrawn + (values?.withdrawn ?? 0),
    rows_rejected: open.rejected,
  }
  const parsedOutcome = replyOutcome(rows)
  if (parsedOutcome !== outcome) await updateOutcome.run(tx, { fetchId, outcome: parsedOutcome })
  await closeFetch.run(tx, {
    fetchId,
    ...counts,
    rows_outside: rows.outside,
    last_at: rows.observations && latestInstant(rows.observations),
    step_s: rows.stepS,
    resolution_id: rows.resolutionId,
    source_updated_at: rows.sourceUpdatedAt,
  })
  return { counts, rejects: open.rejects, reach: values?.reach ?? NO_TIME }
}

/** The reach of a change that concerns no missing periods. */
export const NO_TIME: Interval = { from: 0, to: 0 }

interface Changes {
  readonly written: UpsertCounts
  readonly withdrawn: number
}

/** Writes the items of a reply, what they own, and the membership in a listing. */
async function applyItems(
  tx: Transaction<Database>,
  engine: Engine,
  { fetchId, planned, rows, recordedMs, unchanged }: RecordedReply,
): Promise<Changes> {
  const now = formatMillis(recordedMs)
  const [mainLocale] = planned.service.locales
  const stamps = { fetch_id: fetchId, first_seen_at: now }
  let written = await writeTables(tx, rows, stamps, mainLocale, unchanged)
  let withdrawn = 0
  for (const listed of rows.owned) {
    const owned = await dropDescribed(tx, listed, mainLocale)
    written = addWritten(written, await upsertRows(tx, owned, stamps, mainLocale))
    withdrawn += await replaceOwned(tx, engine, owned, tableOf(owned.table).key)
  }
  if (rows.listing) withdrawn += await markListing(tx, rows.listing, now)
  return { written, withdrawn }
}

/**
 * Writes the values of a reply and the versions they supersede; then the totals of their days, the cadence of their timelines, coverage
 * and missing periods, which follow from each other in this order. Null if it has no values.
 */
async function applyValues(
  tx: Transaction<Database>,
  engine: Engine,
  seriesId: number,
  { fetchId, planned, rows, recordedMs }: RecordedReply,
  openRejects: readonly Reject[],
): Promise<(Changes & Pick<ReplyChanges, 'reach'>) | null> {
  if (!rows.observations) return null
  const fetchedAt = Math.floor(recordedMs / 1000)
  const before = await readStoredSeries(tx, seriesId)
  const zone = before.timeZone
  const cadencesBefore = await readCadences(tx, seriesId)
  const stepped = await inferStepsFromStored(tx, seriesId, rows.observations)
  const observations = withCadence(stepped, cadencesBefore, zone)
  const written = await engine.upsertObservations(tx, seriesId, fetchId, planned.window, observations)
  const newGeos = geoRanges(observations)
    .map(({ geoId }) => geoId)
    .filter((geoId) => !before.geoIds.includes(geoId))
  // Dismissed rejects count, too: each may stand for a stored value, so nothing is withdrawn.
  const hasRejects = rows.rejects.some(isAboutValues)
  const window = hasRejects ? null : planned.window
  const reply = { seriesId, fetchId, zone, observations, fetchedAt, settledBefore: planned.settledBefore }
  const { withdrawn, doubted } = window
    ? await withdraw(tx, { ...reply, window, surplus: written.surplus, isRestate: planned.reason === 'restate' })
    : NOTHING_WITHDRAWN
  const withdrawnCount = [...withdrawn.values()].reduce((sum, { length }) => sum + length, 0)
  const isChanged = written.inserted + written.revised + withdrawnCount > 0
  const restepped =
    written.unchanged + written.revised > 0 && (await alignSteps(tx, seriesId, observations, cadencesBefore))
  const days =
    isChanged || restepped
      ? await writeDays(tx, engine, {
          seriesId,
          zone,
          observations,
          window,
          isComplete: doubted.size === 0,
          hasWithdrawn: withdrawnCount > 0,
        })
      : []
  const input = cadenceInput(before, planned.service)
  const cadenceSeries = { id: seriesId, input, before: cadencesBefore }
  const cadenceChanges = isChanged
    ? await updateCadences(tx, engine, cadenceSeries, days, new Set(withdrawn.keys()), fetchId)
    : []
  const cadences = cadenceChanges.length > 0 ? await readCadences(tx, seriesId) : cadencesBefore
  const extents = await findExtents(tx, seriesId, before.timelines, observations, planned)
  await writeTimelines(tx, seriesId, before, extents, cadences, observations)
  const geoIds = [...before.geoIds, ...newGeos].sort((a, b) => a - b)
  const hasOpenRejects = openRejects.some(isAboutValues)
  const dismissed = (hasOpenRejects ? [] : rows.rejects.filter(isAboutValues)).map(({ observation }) =>
    observation ? { geo: observation.geoId, at: observation.at } : null,
  )
  const state = { hasUnreadValues: hasOpenRejects, dismissed, newGeos, doubted }
  const seriesReply = toSeriesReply(planned, observations, fetchedAt, state)
  const { unverified } = await recordCoverage(tx, withExtents(before, geoIds, extents), planned, seriesReply)
  const decided = listDecidedGeos({ knownGeos: geoIds }, seriesReply)
  const reach = await recordMissing(tx, {
    seriesId,
    zone,
    cadences,
    extents,
    cadenceChanges,
    observations,
    withdrawn,
    dismissed,
    fetchedAt,
    longestLookback: findLongestLookback(before, planned.lookbackS),
    extentsBefore: new Map(before.timelines.map(({ geoId, extent }) => [geoId, extent])),
    decidedGeos: new Set(decided.filter((geo) => provesMissing(geo, seriesReply, unverified))),
    window: planned.window,
    isComplete: window !== null && doubted.size === 0,
  })
  return { written, withdrawn: withdrawnCount, reach: reach ?? planned.window ?? NO_TIME }
}

/** A series with the geos and the ends of its timelines after a reply. */
function withExtents(
  series: StoredSeries,
  geoIds: readonly number[],
  extents: ReadonlyMap<number, Extent | null>,
): StoredSeries {
  const stored = new Map(series.timelines.map((timeline) => [timeline.geoId, timeline]))
  const timelines = geoIds.map((geoId) => {
    const { step = null, kind = null } = stored.get(geoId) ?? {}
    return { geoId, step, kind, extent: extents.get(geoId) ?? null }
  })
  return { ...series, geoIds, timelines }
}

/** Writes the ends and cadences of the timelines of a series. */
async function writeTimelines(
  tx: Transaction<Database>,
  seriesId: number,
  { timelines }: StoredSeries,
  extents: ReadonlyMap<number, Extent | null>,
  cadences: Cadences,
  observations: Observations,
): Promise<void> {
  const stepsAt = new Map<number, number>()
  for (const { geoId, first, end } of geoRanges(observations)) {
    const last = extents.get(geoId)?.last
    if (last === undefined) continue
    const index = observations.at.indexOf(last, first)
    if (index >= 0 && index < end)
      stepsAt.set(geoId, typeof observations.steps === 'number' ? observations.steps : observations.steps[index]!)
  }
  const stored = new Map(timelines.map((timeline) => [timeline.geoId, timeline]))
  for (const [geoId, extent] of extents) {
    const before = stored.get(geoId)
    const stretch = cadences.get(geoId)?.at(-1)
    const gridStep = stretch?.grid && !isCalendarStep(stretch.grid.step) ? stretch.grid.step : null
    const step = extent === null ? null : (gridStep ?? stepsAt.get(geoId) ?? before?.step ?? null)
    await writeTimeline(tx, seriesId, before, { geoId, extent, step, kind: stretch?.kind ?? 'irregular' })
  }
}

/** Writes rows other than values. Does not compare rows again that an earlier reply of the transaction found stored. */
async function writeTables(
  tx: Transaction<Database>,
  { tables, owned, listing }: Rows,
  stamps: RowValues & { readonly fetch_id: number },
  mainLocale: string,
  unchanged?: UnchangedTables,
): Promise<UpsertCounts> {
  const key = owned.length > 0 || listing ? undefined : unchanged && JSON.stringify([mainLocale, tables])
  const earlierCounts = key && unchanged?.get(key)
  if (earlierCounts) return earlierCounts
  let written = NOTHING_WRITTEN
  for (const table of tables) {
    written = addWritten(written, await upsertRows(tx, table, stamps, mainLocale))
  }
  if (key && written.inserted + written.revised === 0) unchanged?.set(key, written)
  else unchanged?.clear()
  return written
}

/** The recorded outcome of a parsed reply. */
export const replyOutcome = ({ isEmpty }: Rows): 'ok' | 'empty' => (isEmpty ? 'empty' : 'ok')

/** Separate from the other columns, because indexes contain the outcome and it seldom changes. */
const updateOutcome = prepareQuery((db, { fetchId, outcome }: { fetchId: number; outcome: FetchOutcome }) =>
  db.updateTable('_fetch').set({ outcome }).where('id', '=', fetchId),
)

/** The columns of `_fetch` that are known when the reply is loaded. */
type LoadedColumns = Required<
  Pick<
    Updateable<Database['_fetch']>,
    | ('last_at' | 'step_s' | 'resolution_id' | 'source_updated_at')
    | `rows_${'new' | 'unchanged' | 'revised' | 'withdrawn' | 'rejected' | 'outside'}`
  >
>

/** Completes the record. In a replay it usually is complete, and nothing is written. */
const closeFetch = prepareQuery((db, { fetchId, ...loaded }: LoadedColumns & { fetchId: number }) => {
  const columns = { ...loaded, message: null, hint: null, evidence: null }
  return db
    .updateTable('_fetch')
    .set(columns)
    .where('id', '=', fetchId)
    .where((row) =>
      row.or(
        (Object.keys(columns) as (keyof typeof columns)[]).map((name) => row(name, 'is distinct from', columns[name]!)),
      ),
    )
})

/** The last instant with a value; null if there is none. */
function latestInstant(observations: Observations): number | null {
  const { at, values } = observations
  let last: number | null = null
  for (const { first, end } of geoRanges(observations)) {
    let i = end - 1
    while (i >= first && values[i] === null) i--
    if (i >= first && (last === null || at[i]! > last)) last = at[i]!
  }
  return last
}
