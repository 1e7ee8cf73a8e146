import type { Transaction } from 'kysely'
import type { Engine, UpsertCounts } from '../db/engine.ts'
import { geoRanges, isAboutValues, type Observations, type Reject, type Rows } from '../db/tables/rows.ts'
import type { Database } from '../db/tables/schema.ts'
import type { Extent } from '../judge/stored.ts'
import type { Service } from '../service/service.ts'
import { type Instant, toInstant } from '../util/time/instant.ts'
import { type Interval, NO_TIME } from '../util/time/interval.ts'
import { isCalendarStep, LONGEST_FIXED_S } from '../util/time/periods.ts'
import { listDecidedGeos, provesMissing } from './coverage/decideCoverage.ts'
import { findLongestLookback, recordCoverage, toSeriesReply } from './coverage/recordCoverage.ts'
import type { FetchRecord } from './recordFetch.ts'
import { readStepsAround } from './stepsAround.ts'
import { readStoredSeries, type SeriesTransaction, type StoredSeries } from './storedSeries.ts'
import { alignSteps } from './timelines/alignSteps.ts'
import { type Cadences, cadenceInput, readCadences, withCadence } from './timelines/cadences.ts'
import { findExtents, writeTimeline } from './timelines/extents.ts'
import { recordMissing } from './timelines/recordMissing.ts'
import { updateCadences } from './timelines/updateCadences.ts'
import { NOTHING_WITHDRAWN, withdraw } from './timelines/withdraw.ts'
import { NOTHING_WRITTEN } from './upsertItems.ts'
import { writeDays } from './writeDays.ts'

/** A recorded reply with its rows. */
export interface FetchedValues extends Pick<FetchRecord, 'planned' | 'recordedMs'> {
  readonly fetchId: number
  readonly rows: Rows
}

/** The changes of values by a reply. */
interface ValueChanges {
  readonly written: UpsertCounts
  /** The number of withdrawn values. */
  readonly withdrawn: number
  /** The interval in which missing periods may have changed. */
  readonly reach: Interval
}

/** The changes by a reply without values. */
export const NO_VALUE_CHANGES: ValueChanges = { written: NOTHING_WRITTEN, withdrawn: 0, reach: NO_TIME }

/** What is stored of a series before a reply is loaded. */
interface Before {
  readonly series: StoredSeries
  readonly cadences: Cadences
}

/** What a reply stored. */
interface StoredValues {
  /** The values of the reply, with the steps that they are stored with. */
  readonly observations: Observations
  readonly written: UpsertCounts
  /** Null if the reply withdraws nothing, because rows of it were rejected. */
  readonly window: Interval | null
  /** The withdrawn instants by geo. */
  readonly withdrawn: Awaited<ReturnType<typeof withdraw>>['withdrawn']
  /** The days of which it lacks too many stored values to be believed, by geo. */
  readonly unverifiedDays: Awaited<ReturnType<typeof withdraw>>['unverifiedDays']
  readonly withdrawnCount: number
}

/**
 * Writes the values of a reply and the versions they supersede; then the totals of their days, the cadence of their timelines, coverage
 * and missing periods, which follow from each other in this order. `openRejects`: invalid rows that were not dismissed.
 */
export async function applyValues(
  tx: Transaction<Database>,
  engine: Engine,
  reply: FetchedValues & { readonly seriesId: number },
  openRejects: readonly Reject[],
): Promise<ValueChanges> {
  const { seriesId, fetchId, planned, rows } = reply
  if (!rows.observations) return NO_VALUE_CHANGES
  const before = { series: await readStoredSeries(tx, seriesId), cadences: await readCadences(tx, seriesId) }
  const series = { tx, engine, seriesId, zone: before.series.timeZone, fetchId }
  const stored = await storeValues(series, before, reply, rows.observations)
  const cadenceChanges = await updateDays(series, before, planned.service, stored)
  const cadences = cadenceChanges.length > 0 ? await readCadences(tx, seriesId) : before.cadences
  const extents = await findExtents(tx, seriesId, before.series.timelines, stored.observations, planned)
  await writeTimelines(tx, before.series, extents, cadences)
  const derived = { cadences, cadenceChanges, extents, openRejects }
  const reach = await updateCoverage(tx, before.series, reply, stored, derived)
  return { written: stored.written, withdrawn: stored.withdrawnCount, reach }
}

/** Stores the values of a reply, keeps the versions they supersede, and withdraws what the reply lacks. */
async function storeValues(
  { tx, engine, seriesId, zone, fetchId }: SeriesTransaction,
  before: Before,
  { planned, rows, recordedMs }: FetchedValues,
  received: Observations,
): Promise<StoredValues> {
  const observations = withCadence(await inferStepsFromStored(tx, seriesId, received), before.cadences, zone)
  const written = await engine.upsertObservations(tx, seriesId, fetchId, planned.window, observations)
  // Dismissed rejects count, too: each may stand for a stored value, so nothing is withdrawn.
  const window = rows.rejects.some(isAboutValues) ? null : planned.window
  const { withdrawn, unverifiedDays } = window
    ? await withdraw(tx, {
        seriesId,
        fetchId,
        zone,
        observations,
        fetchedAt: toInstant(recordedMs),
        settledBefore: planned.settledBefore,
        window,
        incompleteGeos: written.incompleteGeos,
        isRestate: planned.reason === 'restate',
      })
    : NOTHING_WITHDRAWN
  const withdrawnCount = [...withdrawn.values()].reduce((sum, { length }) => sum + length, 0)
  return { observations, written, window, withdrawn, unverifiedDays, withdrawnCount }
}

/** Writes the totals of changed days and the cadences that follow from them. Returns the changed cadences. */
async function updateDays(
  series: SeriesTransaction,
  before: Before,
  service: Service,
  { observations, written, window, withdrawn, unverifiedDays, withdrawnCount }: StoredValues,
): ReturnType<typeof updateCadences> {
  const isChanged = written.inserted + written.revised + withdrawnCount > 0
  const isRestepped =
    written.unchanged + written.revised > 0 &&
    (await alignSteps(series.tx, series.seriesId, observations, before.cadences))
  if (!isChanged && !isRestepped) return []
  const isComplete = unverifiedDays.size === 0
  const hasWithdrawn = withdrawnCount > 0
  const days = await writeDays(series, { observations, window, isComplete, hasWithdrawn })
  if (!isChanged) return []
  const task = { input: cadenceInput(before.series, service), before: before.cadences }
  return updateCadences(series, task, days, new Set(withdrawn.keys()))
}

/** What follows from the values of a reply before its coverage is decided. */
interface Derived {
  readonly cadences: Cadences
  readonly cadenceChanges: Awaited<ReturnType<typeof updateCadences>>
  readonly extents: ReadonlyMap<number, Extent | null>
  readonly openRejects: readonly Reject[]
}

/** Records what the reply covers, and which periods are missing. Returns the interval in which these may have changed. */
async function updateCoverage(
  tx: Transaction<Database>,
  series: StoredSeries,
  { planned, rows, recordedMs }: FetchedValues,
  { observations, window, withdrawn, unverifiedDays }: StoredValues,
  { cadences, cadenceChanges, extents, openRejects }: Derived,
): Promise<Interval> {
  const fetchedAt = toInstant(recordedMs)
  const newGeos = geoRanges(observations)
    .map(({ geoId }) => geoId)
    .filter((geoId) => !series.geoIds.includes(geoId))
  const geoIds = [...series.geoIds, ...newGeos].sort((a, b) => a - b)
  const hasUnreadValues = openRejects.some(isAboutValues)
  const dismissed = (hasUnreadValues ? [] : rows.rejects.filter(isAboutValues)).map(({ observation }) =>
    observation ? { geo: observation.geoId, at: observation.at } : null,
  )
  const state = { hasUnreadValues, dismissed, newGeos, unverifiedDays }
  const seriesReply = toSeriesReply(planned, observations, fetchedAt, state)
  const { unverified } = await recordCoverage(tx, withExtents(series, geoIds, extents), planned, seriesReply)
  const decided = listDecidedGeos({ knownGeos: geoIds }, seriesReply)
  return recordMissing(tx, {
    seriesId: series.id,
    zone: series.timeZone,
    cadences,
    extents,
    cadenceChanges,
    observations,
    withdrawn,
    dismissed,
    fetchedAt,
    longestLookback: findLongestLookback(series, planned.lookbackS),
    extentsBefore: new Map(series.timelines.map(({ geoId, extent }) => [geoId, extent])),
    decidedGeos: new Set(decided.filter((geo) => provesMissing(geo, seriesReply, unverified))),
    window: planned.window,
    isComplete: window !== null && unverifiedDays.size === 0,
  })
}

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

/** A series with the geos and the ends of its timelines after a reply. */
function withExtents(
  series: StoredSeries,
  geoIds: readonly number[],
  extents: ReadonlyMap<number, Extent | null>,
): StoredSeries {
  const stored = new Map(series.timelines.map((timeline) => [timeline.geoId, timeline]))
  const timelines = geoIds.map((geoId) => {
    const { kind = null } = stored.get(geoId) ?? {}
    return { geoId, kind, extent: extents.get(geoId) ?? null }
  })
  return { ...series, geoIds, timelines }
}

/** Writes the ends and cadences of the timelines of a series. */
async function writeTimelines(
  tx: Transaction<Database>,
  { id: seriesId, timelines }: StoredSeries,
  extents: ReadonlyMap<number, Extent | null>,
  cadences: Cadences,
): Promise<void> {
  const stored = new Map(timelines.map((timeline) => [timeline.geoId, timeline]))
  for (const [geoId, extent] of extents) {
    const stretch = cadences.get(geoId)?.at(-1)
    const gridStep = stretch?.grid && !isCalendarStep(stretch.grid.step) ? stretch.grid.step : null
    await writeTimeline(tx, seriesId, stored.get(geoId), {
      geoId,
      extent: extent && { ...extent, step: gridStep ?? extent.step },
      kind: stretch?.kind ?? 'irregular',
    })
  }
}
