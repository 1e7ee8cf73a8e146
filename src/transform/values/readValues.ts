import type { ObservationKey, Observations } from '../../db/tables/rows.ts'
import { brief, isObject, type JsonObject } from '../../util/json.ts'
import { type Instant, parseInstant } from '../../util/time/instant.ts'
import type { Interval } from '../../util/time/interval.ts'
import { localClock } from '../../util/time/zone.ts'
import { AS } from '../fields.ts'
import { checkPart, collectRejects, type RejectSummary, type Rejects } from '../rejects.ts'
import { repeatedKeyText } from '../repeatedKeys.ts'

/** The instants and values of a geo, in the order of the reply. */
interface GeoColumns {
  readonly at: number[]
  readonly values: (number | null)[]
  isAscending: boolean
}

/** The parsed `values` of a reply, before the step is known. */
export interface ParsedValues extends RejectSummary {
  readonly observations: Omit<Observations, 'steps'>
  /** The number of rows, including rejected and skipped ones. */
  readonly rows: number
  readonly outside: number
  /** The number of rejected rows whose instant cannot be that of a value. */
  readonly misplaced: number
  /** The names of the geos. */
  readonly geoNames: ReadonlyMap<number, string>
}

/** Reads the instants of a field; NaN for any other value. Rows for several geos repeat the same text. */
function createInstantReader(): (text: unknown) => Instant {
  let lastText = ''
  let lastAt = Number.NaN
  return (text) => {
    if (typeof text !== 'string') return Number.NaN
    if (text !== lastText) {
      lastText = text
      lastAt = parseInstant(text)
    }
    return lastAt
  }
}

/** The instants of the three fields of a row; NaN for one that is none. */
interface Stamps {
  readonly datetime: Instant
  readonly tzTime: Instant
  readonly utc: Instant
}

/** The instant of a value, or the reason why it has none: its fields must denote the same one. */
function checkInstant(row: JsonObject, { datetime, tzTime, utc }: Stamps, zone: string): Instant | string {
  const { datetime: sent, tz_time, datetime_utc } = row
  if (Number.isNaN(datetime)) {
    if (sent === undefined && !Number.isNaN(tzTime)) return tzTime
    return `datetime ${brief(sent)} is not an instant with an offset`
  }
  if (tz_time !== undefined && tz_time !== null && tzTime !== datetime)
    return `datetime ${brief(sent)} and tz_time ${brief(tz_time)} differ`
  if (!Number.isNaN(utc) && utc !== datetime && !repeatsFirstHour(zone, datetime, utc))
    return `datetime ${brief(sent)} and datetime_utc ${brief(datetime_utc)} differ`
  return datetime
}

/**
 * Whether a row has the fault of the service on the day of 25 hours: in the second of two equal local hours, `datetime_utc` repeats
 * the time of the first.
 */
const repeatsFirstHour = (zone: string, datetime: Instant, utc: Instant): boolean =>
  utc < datetime && localClock(zone, utc) === localClock(zone, datetime)

const isInfinite = (value: unknown): boolean => typeof value === 'number' && !Number.isFinite(value)

/** Reads the geo of a value, or the reason why it has none: `geo_id`, the only one of `geo_ids`, or 0 without a geo. */
function readGeo(row: JsonObject): number | string {
  const { geo_id: id, geo_ids: ids } = row
  if (Number.isSafeInteger(id)) return id as number
  if (id === undefined || id === null)
    return Array.isArray(ids) && ids.length === 1 && Number.isSafeInteger(ids[0]) ? ids[0] : 0
  return `geo_id ${brief(id)} is not a whole number`
}

/**
 * Reads each value once, by geo and instant. Counts rows outside the window, and rejects invalid rows. Of two rows for an instant
 * the later one is used, and a different earlier one is rejected. `root`: the key of the values, for the paths of rejects. `zone`: the
 * time zone of the service. `findFault`: why the instant of a row cannot be that of a value; undefined if it can.
 */
export function readValues(
  list: readonly unknown[],
  window: Interval | null,
  root: string,
  zone: string,
  findFault?: (at: Instant) => string | undefined,
): ParsedValues {
  const columns = new Map<number, GeoColumns>()
  const geoNames = new Map<number, string>()
  /** By geo, the first row with a name that is not a text. */
  const misnamed = new Map<number, { readonly row: JsonObject; readonly i: number }>()
  const rejects = collectRejects()
  const path = `$.${root}.values`
  const { from, to } = window ?? { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY }
  const readDatetime = createInstantReader()
  const readTzTime = createInstantReader()
  const readUtc = createInstantReader()
  let outside = 0
  let misplaced = 0
  const read = (row: unknown, i: number) => {
    const reject = (reason: string, fragment = row, place?: ObservationKey) =>
      rejects.add(`${path}[${i}]`, reason, fragment, place)
    if (!isObject(row)) return reject(repeatedKeyText(row) ?? 'value is not an object')
    const { datetime, tz_time, datetime_utc, geo_name: name } = row
    // JSON would write an infinite number as null, which is a value.
    const value = isInfinite(row.value) ? String(row.value) : row.value
    const stamps = { datetime: readDatetime(datetime), tzTime: readTzTime(tz_time), utc: readUtc(datetime_utc) }
    const at = checkInstant(row, stamps, zone)
    const geoId = readGeo(row)
    if (value !== null && typeof value !== 'number') {
      const place = typeof at === 'number' && typeof geoId === 'number' ? { geoId, at } : undefined
      return reject(`value ${brief(value)} is not a number`, { ...row, value }, place)
    }
    if (typeof at === 'string') return reject(at)
    if (typeof geoId === 'string') return reject(geoId)
    const fault = findFault?.(at)
    if (fault !== undefined) {
      misplaced++
      return reject(fault, row, { geoId, at })
    }
    let column = columns.get(geoId)
    const isInside = at >= from && at < to
    if (!isInside) outside++
    else if (column) {
      if (column.at.at(-1)! >= at) column.isAscending = false
      column.at.push(at)
      column.values.push(value)
    } else {
      column = { at: [at], values: [value], isAscending: true }
      columns.set(geoId, column)
      if (typeof name === 'string' && name !== '') geoNames.set(geoId, name)
    }
    if (typeof name !== 'string' && name !== undefined && name !== null && !misnamed.has(geoId))
      misnamed.set(geoId, { row, i })
  }
  list.forEach(read)
  const observations = join(columns, rejects, path)
  for (const { row, i } of misnamed.values())
    checkPart(row, `${path}[${i}]`, rejects, 'geo_id').columns({ name: ['geo_name', AS.name] })
  return { observations, ...rejects.done(), rows: list.length, outside, misplaced, geoNames }
}

/** Joins the columns of all geos, each in order of time and without duplicates. */
function join(columns: ReadonlyMap<number, GeoColumns>, rejects: Rejects, path: string): ParsedValues['observations'] {
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
export function usualDistance({ geoIds, at }: ParsedValues['observations']): number | null {
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
