import type { Transaction } from 'kysely'
import type { Interval } from '../../../util/time/interval.ts'
import type { UpsertResult } from '../../engine.ts'
import { geoRanges, type Observations } from '../../tables/rows.ts'
import type { Database } from '../../tables/schema.ts'
import { doubles, smallNumbers, wholeNumbers } from '../connection/binary.ts'
import { queryRows, sendSql } from '../connection/statements.ts'

/*
 * The hot path. It reads the stored values of the window by one scan of the key, and compares them here: equal values lock no row,
 * and old versions of changed ones go to the history without a trigger.
 */

interface StoredRow {
  readonly geo_id: number
  readonly at: number
  readonly value: number | null
  readonly step_s: number
  readonly fetch_id: number
}

const STORED = `select geo_id, at, value, step_s, fetch_id from observation
  where series_id = $1 and geo_id = any($2::integer[]) and at >= $3 and at < $4`

const INSERT = `insert into observation (series_id, geo_id, at, value, step_s, fetch_id)
  select $1::integer, *, $2::integer from unnest($3::integer[], $4::bigint[], $5::float8[], $6::integer[])`

const KEEP = `insert into observation_revision (series_id, superseded_by, geo_id, at, value, step_s, fetch_id)
  select $1::integer, $2::integer, * from unnest($3::integer[], $4::bigint[], $5::float8[], $6::integer[], $7::integer[])`

// The conditions contain the whole range, so that only some partitions are opened.
const REPLACE = `update observation o set value = n.value, step_s = n.step_s, fetch_id = $2
  from unnest($3::integer[], $4::bigint[], $5::float8[], $6::integer[]) n (geo_id, at, value, step_s)
  where o.series_id = $1 and o.geo_id = n.geo_id and o.at = n.at and o.at >= $7 and o.at <= $8`

/** Rows that are written together, column by column. */
class ColumnArrays {
  readonly geoIds: number[] = []
  readonly at: number[] = []
  readonly values: (number | null)[] = []
  readonly steps: number[] = []
  readonly fetches: number[] = []

  add(geoId: number, at: number, value: number | null, step: number, fetchId = 0): void {
    this.geoIds.push(geoId)
    this.at.push(at)
    this.values.push(value)
    this.steps.push(step)
    this.fetches.push(fetchId)
  }

  binary(): [Buffer, Buffer, Buffer, Buffer] {
    return [
      smallNumbers('geo_id', this.geoIds),
      wholeNumbers(this.at),
      doubles(this.values),
      smallNumbers('step_s', this.steps),
    ]
  }
}

/** The interval of some instants. */
function rowsInterval(at: readonly number[]): Interval {
  let from = Number.POSITIVE_INFINITY
  let last = Number.NEGATIVE_INFINITY
  for (const instant of at) {
    if (instant < from) from = instant
    if (instant > last) last = instant
  }
  return { from, to: last + 1 }
}

/** Reads the stored values of some geos in a range, by geo and instant. */
async function readStoredValues(
  tx: Transaction<Database>,
  seriesId: number,
  geoIds: readonly number[],
  { from, to }: Interval,
): Promise<Map<number, Map<number, StoredRow>>> {
  const stored = new Map(geoIds.map((geoId) => [geoId, new Map<number, StoredRow>()]))
  const rows = await queryRows<StoredRow>(tx, STORED, [seriesId, smallNumbers('geo_id', geoIds), from, to])
  for (const row of rows) stored.get(row.geo_id)!.set(row.at, row)
  return stored
}

/** Finds the geos with stored values in the window, or in their range, that the reply lacks. */
function findIncompleteGeos(
  stored: Map<number, Map<number, StoredRow>>,
  window: Interval | null,
  observations: Observations,
): Set<number> {
  const { at } = observations
  const incompleteGeos = new Set<number>()
  for (const { geoId, first, end } of geoRanges(observations)) {
    const rowsOfGeo = stored.get(geoId)!
    if (rowsOfGeo.size === 0) continue
    const { from, to } = window ?? { from: at[first]!, to: at[end - 1]! + 1 }
    const instants = new Set(at.slice(first, end))
    for (const instant of rowsOfGeo.keys())
      if (instant >= from && instant < to && !instants.has(instant)) {
        incompleteGeos.add(geoId)
        break
      }
  }
  return incompleteGeos
}

export async function upsertObservations(
  tx: Transaction<Database>,
  seriesId: number,
  fetchId: number,
  window: Interval | null,
  observations: Observations,
): Promise<UpsertResult> {
  const { geoIds, at, values, steps, isStepGuessed } = observations
  if (at.length === 0) return { inserted: 0, unchanged: 0, revised: 0, incompleteGeos: new Set() }
  const stored = await readStoredValues(tx, seriesId, [...new Set(geoIds)], window ?? rowsInterval(at))
  const fresh = new ColumnArrays()
  const before = new ColumnArrays()
  const after = new ColumnArrays()
  for (let i = 0; i < at.length; i++) {
    const geoId = geoIds[i]!
    const instant = at[i]!
    const value = values[i]!
    const step = typeof steps === 'number' ? steps : steps[i]!
    const old = stored.get(geoId)!.get(instant)
    if (old === undefined) fresh.add(geoId, instant, value, step)
    // Guessed steps do not replace stored ones.
    else if (old.value !== value) {
      before.add(geoId, instant, old.value, old.step_s, old.fetch_id)
      after.add(geoId, instant, value, isStepGuessed ? old.step_s : step)
    }
  }
  if (fresh.at.length > 0) await sendSql(tx, INSERT, [seriesId, fetchId, ...fresh.binary()])
  if (after.at.length > 0) {
    const range = rowsInterval(after.at)
    await sendSql(tx, KEEP, [seriesId, fetchId, ...before.binary(), smallNumbers('fetch_id', before.fetches)])
    await sendSql(tx, REPLACE, [seriesId, fetchId, ...after.binary(), range.from, range.to - 1])
  }
  return {
    inserted: fresh.at.length,
    unchanged: at.length - fresh.at.length - after.at.length,
    revised: after.at.length,
    incompleteGeos: findIncompleteGeos(stored, window, observations),
  }
}
