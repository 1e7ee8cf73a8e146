import type { Transaction } from 'kysely'
import type { SeriesRange } from '../../db/engine.ts'
import { prepareQuery } from '../../db/prepared.ts'
import { geoRanges, type Observations } from '../../db/tables/rows.ts'
import type { Database } from '../../db/tables/schema.ts'
import { SECOND_REPLY_AFTER_S, WITHDRAWN_SHARE } from '../../judge/limits.ts'
import type { Instant } from '../../util/time/instant.ts'
import type { Interval } from '../../util/time/interval.ts'
import { createCalendar, localDay } from '../../util/time/localDay.ts'
import { isCalendarStep } from '../../util/time/periods.ts'

/*
 * The withdrawal guard: a reply that lacks many stored final values of a day is more likely cut short than right. The day is unverified
 * until a second reply, or a restate, says the same (docs/decisions/001-coverage.md).
 */

/** A complete reply of a series, with the geos of which it lacks stored values. */
export interface LackingReply {
  readonly seriesId: number
  readonly fetchId: number
  readonly zone: string
  readonly window: Interval
  readonly observations: Observations
  readonly incompleteGeos: ReadonlySet<number>
  readonly fetchedAt: Instant
  /** Values before this instant can no longer be revised. */
  readonly settledBefore: Instant
  /** Whether the user requested this range again, and accepts what comes. */
  readonly isRestate: boolean
}

/** The result: withdrawn instants, and the days of which too much is missing, by geo. */
export interface Withdrawal {
  readonly withdrawn: ReadonlyMap<number, readonly Instant[]>
  readonly unverifiedDays: ReadonlyMap<number, readonly Interval[]>
}

export const NOTHING_WITHDRAWN: Withdrawal = { withdrawn: new Map(), unverifiedDays: new Map() }

interface StoredValue {
  readonly at: Instant
  readonly step: number
}

/** Withdraws the stored values that a complete reply lacks, except those of days of which it lacks too many. */
export async function withdraw(tx: Transaction<Database>, reply: LackingReply): Promise<Withdrawal> {
  const { seriesId, fetchId, zone, window, observations, incompleteGeos } = reply
  const withdrawn = new Map<number, readonly Instant[]>()
  const unverifiedDays = new Map<number, readonly Interval[]>()
  const calendar = createCalendar(zone)
  const withdrawals = await selectWithdrawals.all(tx, { seriesId, ...window })
  for (const { geoId, first, end } of geoRanges(observations)) {
    const ofGeo = withdrawals.filter((row) => row.geo_id === geoId)
    if (!incompleteGeos.has(geoId) && ofGeo.length === 0) continue
    const received = new Set(observations.at.slice(first, end))
    const stored = await selectStored.all(tx, { seriesId, geoId, ...window })
    const days = Map.groupBy(stored, ({ at }) => calendar.dayIntervalAt(at).day)
    const lackingPeriods = stored.filter((value) => isFinalPeriod(reply, value) && !received.has(value.at)).length
    const gone: Instant[] = []
    const kept: Interval[] = []
    for (const [day, values] of days) {
      const lacking = values.filter(({ at }) => !received.has(at))
      const { from, to } = toUnverifiedInterval(localDay(zone, day), values)
      const earlier = ofGeo.filter((row) => row.from_at === from)
      if (isCredible(reply, values, lacking, lackingPeriods, earlier)) {
        for (const { from_at, fetch_id, confirmed_by } of earlier)
          if (confirmed_by === null && fetch_id < fetchId)
            await deleteUnconfirmed.run(tx, { seriesId, geoId, from_at, fetch_id })
      } else if (!(await isConfirmed(tx, reply, geoId, { from, to }, earlier))) {
        kept.push({ from, to })
        continue
      }
      for (const { at } of lacking) gone.push(at)
    }
    if (gone.length > 0) {
      await moveToHistory(tx, seriesId, geoId, gone, fetchId)
      withdrawn.set(geoId, gone)
    }
    if (kept.length > 0) unverifiedDays.set(geoId, kept)
  }
  return { withdrawn, unverifiedDays }
}

/** Whether a stored value can no longer be revised. */
const isFinal = ({ settledBefore }: LackingReply, { at, step }: StoredValue): boolean => at + step <= settledBefore

/** Whether a stored value is a final one of a day or longer. */
const isFinalPeriod = (reply: LackingReply, value: StoredValue): boolean =>
  isCalendarStep(value.step) && isFinal(reply, value)

/** A day, to the end of its values: that of a month is at its first day. */
const toUnverifiedInterval = ({ from, to }: Interval, values: readonly StoredValue[]): Interval => ({
  from,
  to: Math.max(to, ...values.filter(({ step }) => isCalendarStep(step)).map(({ at, step }) => at + step)),
})

/**
 * Whether a reply lacks so few final values that it may be right: an eighth of those of a day. Of periods of a day and longer, which a
 * day has only one of, the whole reply may lack one, unless an earlier one lacked it among others.
 */
function isCredible(
  reply: LackingReply,
  values: readonly StoredValue[],
  lacking: readonly StoredValue[],
  lackingPeriods: number,
  earlier: readonly WithdrawalRow[],
): boolean {
  const final = lacking.filter((value) => isFinal(reply, value))
  if (final.length === 0) return true
  if (final.every(({ step }) => isCalendarStep(step)))
    return lackingPeriods <= 1 && !earlier.some((row) => isUnconfirmed(row, reply.fetchId))
  const stored = values.filter((value) => isFinal(reply, value))
  return final.length <= stored.length * WITHDRAWN_SHARE
}

/** Whether an earlier reply lacked values and none confirmed it before this one. A replay finds the rows of later replies. */
const isUnconfirmed = ({ fetch_id, confirmed_by }: WithdrawalRow, fetchId: number): boolean =>
  fetch_id < fetchId && (confirmed_by === null || confirmed_by >= fetchId)

type WithdrawalRow = Awaited<ReturnType<typeof selectWithdrawals.all>>[number]

/** Whether a second reply says the same. Notes the first one. */
async function isConfirmed(
  tx: Transaction<Database>,
  { seriesId, fetchId, fetchedAt, isRestate }: LackingReply,
  geoId: number,
  { from, to }: Interval,
  earlier: readonly WithdrawalRow[],
): Promise<boolean> {
  // In a replay, the stored rows say which reply confirmed the withdrawal.
  if (earlier.some(({ confirmed_by }) => confirmed_by === fetchId)) return true
  const unconfirmed = earlier.find((row) => row.confirmed_by === null && row.fetch_id < fetchId)
  if (isRestate || (unconfirmed && fetchedAt - unconfirmed.since_at >= SECOND_REPLY_AFTER_S)) {
    const first = unconfirmed ?? (await insertUnconfirmed(tx, seriesId, geoId, { from, to }, fetchId, fetchedAt))
    await confirm.run(tx, { seriesId, geoId, from, first: first.fetch_id, fetchId })
    return true
  }
  if (!earlier.some((row) => row.fetch_id <= fetchId && (row.confirmed_by === null || row.confirmed_by > fetchId)))
    await insertUnconfirmed(tx, seriesId, geoId, { from, to }, fetchId, fetchedAt)
  return false
}

async function insertUnconfirmed(
  tx: Transaction<Database>,
  series_id: number,
  geo_id: number,
  { from: from_at, to: to_at }: Interval,
  fetch_id: number,
  since_at: Instant,
): Promise<{ readonly fetch_id: number }> {
  const row = { series_id, geo_id, from_at, to_at, fetch_id, since_at, confirmed_by: null }
  await tx
    .insertInto('_withdrawal')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return { fetch_id }
}

const selectWithdrawals = prepareQuery((db, { seriesId, from, to }: { seriesId: number } & Interval) =>
  db
    .selectFrom('_withdrawal')
    .select(['geo_id', 'from_at', 'fetch_id', 'since_at', 'confirmed_by'])
    .where('series_id', '=', seriesId)
    .where('to_at', '>', from)
    .where('from_at', '<', to)
    .orderBy('fetch_id'),
)

const deleteUnconfirmed = prepareQuery(
  (db, row: { seriesId: number; geoId: number; from_at: Instant; fetch_id: number }) =>
    db
      .deleteFrom('_withdrawal')
      .where('series_id', '=', row.seriesId)
      .where('geo_id', '=', row.geoId)
      .where('from_at', '=', row.from_at)
      .where('fetch_id', '=', row.fetch_id),
)

const confirm = prepareQuery(
  (db, row: { seriesId: number; geoId: number; from: Instant; first: number; fetchId: number }) =>
    db
      .updateTable('_withdrawal')
      .set({ confirmed_by: row.fetchId })
      .where('series_id', '=', row.seriesId)
      .where('geo_id', '=', row.geoId)
      .where('from_at', '=', row.from)
      .where('fetch_id', '=', row.first),
)

const selectStored = prepareQuery((db, { seriesId, geoId, from, to }: SeriesRange) =>
  db
    .selectFrom('observation')
    .select(['at', 'step_s as step'])
    .where('series_id', '=', seriesId)
    .where('geo_id', '=', geoId)
    .where('at', '>=', from)
    .where('at', '<', to)
    .orderBy('at'),
)

/** Instants in one statement. */
const INSTANTS_AT_ONCE = 500

/** Moves values to the history. */
async function moveToHistory(
  tx: Transaction<Database>,
  seriesId: number,
  geoId: number,
  instants: readonly Instant[],
  fetchId: number,
): Promise<void> {
  for (let i = 0; i < instants.length; i += INSTANTS_AT_ONCE) {
    const at = instants.slice(i, i + INSTANTS_AT_ONCE)
    await tx
      .insertInto('observation_revision')
      .columns(['series_id', 'geo_id', 'at', 'fetch_id', 'value', 'step_s', 'superseded_by'])
      .expression(({ selectFrom, val }) =>
        selectFrom('observation')
          .select(['series_id', 'geo_id', 'at', 'fetch_id', 'value', 'step_s', val(fetchId).as('superseded_by')])
          .where('series_id', '=', seriesId)
          .where('geo_id', '=', geoId)
          .where('at', 'in', at),
      )
      .execute()
    await tx
      .deleteFrom('observation')
      .where('series_id', '=', seriesId)
      .where('geo_id', '=', geoId)
      .where('at', 'in', at)
      .execute()
  }
}
