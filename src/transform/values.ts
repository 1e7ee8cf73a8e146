import { type Instant, parseInstant } from '../base/instant.ts'
import type { Interval } from '../base/interval.ts'
import { isObject } from '../base/json.ts'
import type { Observations, Reject } from '../tables/rows.ts'

/** The values of one geo as they come: instants and values side by side. */
interface Column {
  readonly at: number[]
  readonly values: (number | null)[]
  ascending: boolean
}

/** What the `values` of an answer become, before the length of a period is known. */
export interface Values {
  readonly observations: Omit<Observations, 'steps'>
  readonly rejects: readonly Reject[]
  readonly outside: number
  /** The names of the geos that occur. */
  readonly geoNames: ReadonlyMap<number, string>
}

/** The instant of a value: `datetime` with its offset, agreed by `tz_time`; `datetime_utc` repeats an hour on the 25-hour day and is never looked at. */
function instantOf(row: Readonly<Record<string, unknown>>): Instant | string {
  const { datetime, tz_time: utc } = row
  const at = typeof datetime === 'string' ? parseInstant(datetime) : Number.NaN
  const check = typeof utc === 'string' ? parseInstant(utc) : Number.NaN
  if (Number.isNaN(at)) {
    if (datetime === undefined && !Number.isNaN(check)) return check
    return `datetime ${JSON.stringify(datetime)} is no instant with an offset`
  }
  if (utc !== undefined && utc !== null && check !== at)
    return `datetime ${JSON.stringify(datetime)} and tz_time ${JSON.stringify(utc)} disagree`
  return at
}

/** The geo of a value: its own, the only one it was summed over, or 0 where none is named. */
function geoOf(row: Readonly<Record<string, unknown>>): number | string {
  const { geo_id: id, geo_ids: ids } = row
  if (Number.isSafeInteger(id)) return id as number
  if (id === undefined || id === null)
    return Array.isArray(ids) && ids.length === 1 && Number.isSafeInteger(ids[0]) ? ids[0] : 0
  return `geo_id ${JSON.stringify(id)} is no whole number`
}

/**
 * Reads the `values` of an answer: each row once, by geo and instant. Rows outside the window are left out and counted;
 * rows that cannot be understood are rejected with their place; of two rows for one instant the later one holds, and the
 * earlier one is rejected when they differ.
 */
export function readValues(rows: readonly unknown[], window: Interval | null): Values {
  const columns = new Map<number, Column>()
  const geoNames = new Map<number, string>()
  const rejects: Reject[] = []
  let outside = 0
  const from = window?.from ?? Number.NEGATIVE_INFINITY
  const to = window?.to ?? Number.POSITIVE_INFINITY
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i]
    const reject = (reason: string) => rejects.push({ path: `$.indicator.values[${i}]`, reason, fragment: row })
    if (!isObject(row)) {
      reject('a value is no object')
      continue
    }
    const { value } = row
    if (value !== null && (typeof value !== 'number' || !Number.isFinite(value))) {
      reject(`value ${JSON.stringify(value) ?? 'missing'} is no number`)
      continue
    }
    const at = instantOf(row)
    const geoId = geoOf(row)
    if (typeof at === 'string' || typeof geoId === 'string') {
      reject(typeof at === 'string' ? at : String(geoId))
      continue
    }
    if (at < from || at >= to) {
      outside++
      continue
    }
    let column = columns.get(geoId)
    if (!column) {
      column = { at: [], values: [], ascending: true }
      columns.set(geoId, column)
      if (typeof row.geo_name === 'string' && row.geo_name !== '') geoNames.set(geoId, row.geo_name)
    }
    if (column.at.length > 0 && column.at[column.at.length - 1]! >= at) column.ascending = false
    column.at.push(at)
    column.values.push(value)
  }
  return { observations: join(columns, rejects), rejects, outside, geoNames }
}

/** Puts the columns of all geos one after the other, each in order of time and without repetitions. */
function join(columns: ReadonlyMap<number, Column>, rejects: Reject[]): Values['observations'] {
  const geoIds: number[] = []
  const at: number[] = []
  const values: (number | null)[] = []
  for (const geoId of [...columns.keys()].sort((a, b) => a - b)) {
    const column = columns.get(geoId)!
    const { at: times, values: numbers } = column.ascending ? column : sorted(column, geoId, rejects)
    for (let i = 0; i < times.length; i++) {
      geoIds.push(geoId)
      at.push(times[i]!)
      values.push(numbers[i]!)
    }
  }
  return { geoIds, at, values }
}

function sorted(column: Column, geoId: number, rejects: Reject[]): Pick<Column, 'at' | 'values'> {
  const order = column.at.map((_, i) => i).sort((a, b) => column.at[a]! - column.at[b]! || a - b)
  const at: number[] = []
  const values: (number | null)[] = []
  for (const i of order) {
    const time = column.at[i]!
    const value = column.values[i]!
    const last = at.length - 1
    if (at[last] !== time) {
      at.push(time)
      values.push(value)
    } else if (values[last] !== value) {
      rejects.push({
        path: '$.indicator.values',
        reason: 'two values for one geo and instant; the later one holds',
        fragment: { geo_id: geoId, at: time, value: values[last] },
      })
      values[last] = value
    }
  }
  return { at, values }
}

/** The smallest distance between neighbours of one geo: the resolution, where an answer does not tell it. */
export function smallestDistance({ geoIds, at }: Values['observations']): number | null {
  let smallest = Number.POSITIVE_INFINITY
  for (let i = 1; i < at.length; i++)
    if (geoIds[i] === geoIds[i - 1]) smallest = Math.min(smallest, at[i]! - at[i - 1]!)
  return Number.isFinite(smallest) ? smallest : null
}
