import type { ObservationKey, Observations } from '../../db/tables/rows.ts'
import { brief, isObject, type JsonObject } from '../../util/json.ts'
import { type Instant, parseInstant } from '../../util/time/instant.ts'
import type { Interval } from '../../util/time/interval.ts'
import { AS } from '../fields.ts'
import { checkPart, collectRejects, type RejectSummary, type Rejects } from '../rejects.ts'

/** The instants and values of a geo, in the order of the reply. */
interface GeoColumns {
  readonly at: number[]
  readonly values: (number | null)[]
  isAscending: boolean
}

/** The parsed `values` of a reply, before the step is known. */
export interface Values extends RejectSummary {
  readonly observations: Omit<Observations, 'steps'>
  /** The number of rows, including rejected and skipped ones. */
  readonly rows: number
  readonly outside: number
  /** The names of the geos. */
  readonly geoNames: ReadonlyMap<number, string>
}

/**
 * Reads the instant of a value, or the reason why it has none. `tz_time` must agree; `datetime_utc` is wrong on the day of 25
 * hours.
 */
function readInstant(row: Readonly<Record<string, unknown>>): Instant | string {
  const { datetime, tz_time: utc } = row
  const at = typeof datetime === 'string' ? parseInstant(datetime) : Number.NaN
  const check = typeof utc === 'string' ? parseInstant(utc) : Number.NaN
  if (Number.isNaN(at)) {
    if (datetime === undefined && !Number.isNaN(check)) return check
    return `datetime ${brief(datetime)} is not an instant with an offset`
  }
  if (utc !== undefined && utc !== null && check !== at)
    return `datetime ${brief(datetime)} and tz_time ${brief(utc)} differ`
  return at
}

/** Reads the geo of a value, or the reason why it has none: `geo_id`, the only one of `geo_ids`, or 0 without a geo. */
export function readGeo(row: Readonly<Record<string, unknown>>): number | string {
  const { geo_id: id, geo_ids: ids } = row
  if (Number.isSafeInteger(id)) return id as number
  if (id === undefined || id === null)
    return Array.isArray(ids) && ids.length === 1 && Number.isSafeInteger(ids[0]) ? ids[0] : 0
  return `geo_id ${brief(id)} is not a whole number`
}

/** Collects the values of a reply while it is parsed. */
export interface ValueCollector {
  /** Adds a value. Returns whether it is the first one of its geo. */
  put(geoId: number, at: Instant, value: number | null): boolean
  name(geoId: number, name: string): void
  /** Adds a row of the reply, or rejects it. */
  read(row: unknown, i: number): void
  done(): Values
}

/**
 * Collects each value once, by geo and instant. Counts rows outside the window, and rejects invalid rows. Of two rows for an
 * instant the later one is used, and a different earlier one is rejected. `root`: the key of the values, for the paths of rejects.
 */
export function createCollector(window: Interval | null, root: string): ValueCollector {
  const columns = new Map<number, GeoColumns>()
  const geoNames = new Map<number, string>()
  /** By geo, the first row with a name that is not a text. */
  const misnamed = new Map<number, { readonly row: JsonObject; readonly i: number }>()
  const rejects = collectRejects()
  const path = `$.${root}.values`
  let rows = 0
  let outside = 0
  let lastGeo = Number.NaN
  let lastColumn: GeoColumns | undefined
  const from = window?.from ?? Number.NEGATIVE_INFINITY
  const to = window?.to ?? Number.POSITIVE_INFINITY
  const put = (geoId: number, at: Instant, value: number | null): boolean => {
    rows++
    if (at < from || at >= to) {
      outside++
      return false
    }
    let column = geoId === lastGeo ? lastColumn : columns.get(geoId)
    const isNew = column === undefined
    if (!column) {
      column = { at: [], values: [], isAscending: true }
      columns.set(geoId, column)
    }
    lastGeo = geoId
    lastColumn = column
    const times = column.at
    if (times.length > 0 && times[times.length - 1]! >= at) column.isAscending = false
    times.push(at)
    column.values.push(value)
    return isNew
  }
  return {
    put,
    name: (geoId, name) => void geoNames.set(geoId, name),
    read(row, i) {
      const reject = (reason: string, place?: ObservationKey) => {
        rows++
        rejects.add(`${path}[${i}]`, reason, row, place)
      }
      if (!isObject(row)) return reject('value is not an object')
      const { value, geo_name: name } = row
      // JSON would write it as null, which is a value.
      if (typeof value === 'number' && !Number.isFinite(value)) return this.read({ ...row, value: String(value) }, i)
      const at = readInstant(row)
      const geoId = readGeo(row)
      if (value !== null && (typeof value !== 'number' || !Number.isFinite(value)))
        return reject(
          `value ${brief(value)} is not a number`,
          typeof at === 'number' && typeof geoId === 'number' ? { geoId, at } : undefined,
        )
      if (typeof at === 'string' || typeof geoId === 'string')
        return reject(typeof at === 'string' ? at : String(geoId))
      const isFirst = put(geoId, at, value)
      if (typeof name === 'string') {
        if (isFirst && name !== '') geoNames.set(geoId, name)
      } else if (name !== undefined && name !== null && !misnamed.has(geoId)) misnamed.set(geoId, { row, i })
    },
    done() {
      const observations = join(columns, rejects, path)
      for (const { row, i } of misnamed.values())
        checkPart(row, `${path}[${i}]`, rejects, 'geo_id').columns({ name: ['geo_name', AS.name] })
      return { observations, ...rejects.done(), rows, outside, geoNames }
    },
  }
}

/** Reads the `values` of a parsed reply. */
export function readValues(rows: readonly unknown[], window: Interval | null, root: string): Values {
  const collector = createCollector(window, root)
  for (const [i, row] of rows.entries()) collector.read(row, i)
  return collector.done()
}

/** Joins the columns of all geos, each in order of time and without duplicates. */
function join(columns: ReadonlyMap<number, GeoColumns>, rejects: Rejects, path: string): Values['observations'] {
  const geoIds: number[] = []
  const at: number[] = []
  const values: (number | null)[] = []
  for (const geoId of [...columns.keys()].sort((a, b) => a - b)) {
    const column = columns.get(geoId)!
    const { at: times, values: numbers } = column.isAscending ? column : sorted(column, geoId, rejects, path)
    for (let i = 0; i < times.length; i++) {
      geoIds.push(geoId)
      at.push(times[i]!)
      values.push(numbers[i]!)
    }
  }
  return { geoIds, at, values }
}

function sorted(column: GeoColumns, geoId: number, rejects: Rejects, path: string): Pick<GeoColumns, 'at' | 'values'> {
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
      rejects.add(
        path,
        'duplicate geo and instant with different values; the later value is used',
        { geo_id: geoId, at: time, value: values[last] },
        { geoId, at: time },
      )
      values[last] = value
    }
  }
  return { at, values }
}

/**
 * The most frequent distance between successive values of a geo, or the smallest such one. A single stray row, or a clock change
 * by less than an hour, must not decide.
 */
export function usualDistance({ geoIds, at }: Values['observations']): number | null {
  const counts = new Map<number, number>()
  for (let i = 1; i < at.length; i++) {
    if (geoIds[i] !== geoIds[i - 1]) continue
    const distance = at[i]! - at[i - 1]!
    counts.set(distance, (counts.get(distance) ?? 0) + 1)
  }
  let usual: number | null = null
  let most = 0
  for (const [distance, count] of counts) {
    if (count < most || (count === most && usual !== null && distance > usual)) continue
    usual = distance
    most = count
  }
  return usual
}
