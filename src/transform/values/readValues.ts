import { isSmall, MAX_SMALL } from '../../db/tables/declare.ts'
import type { ObservationKey } from '../../db/tables/rows.ts'
import { brief, isObject, type JsonObject } from '../../util/json.ts'
import { type Instant, parseInstant } from '../../util/time/instant.ts'
import { AS } from '../fields.ts'
import { checkPart } from '../rejects.ts'
import { repeatedKeyText } from '../repeatedKeys.ts'
import { createCollector, type ParsedValues, repeatsFirstHour, type ValueRules } from './collectValues.ts'

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

/** The instants of the three fields of a row; NaN for a field that is not an instant. */
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

const isInfinite = (value: unknown): boolean => typeof value === 'number' && !Number.isFinite(value)

/** Reads the geo of a value, or the reason why it has none: `geo_id`, the only one of `geo_ids`, or 0 without a geo. */
function readGeo(row: JsonObject): number | string {
  const { geo_id, geo_ids: ids } = row
  const only: unknown = Array.isArray(ids) && ids.length === 1 ? ids[0] : undefined
  const id = geo_id ?? (Number.isSafeInteger(only) ? only : 0)
  if (!Number.isSafeInteger(id)) return `geo_id ${brief(id)} is not a whole number`
  // SQLite could store larger ids, but both databases get the same rows.
  return isSmall(id as number) ? (id as number) : `geo_id ${brief(id)} is beyond ${MAX_SMALL}`
}

/** Reads the rows of `values`, and rejects invalid ones. */
export function readValues(list: readonly unknown[], rules: ValueRules): ParsedValues {
  const { path, zone } = rules
  const { rejects, add, join } = createCollector(rules)
  /** The first row of each geo whose name is not a text. */
  const misnamed = new Map<number, { readonly row: JsonObject; readonly i: number }>()
  const readDatetime = createInstantReader()
  const readTzTime = createInstantReader()
  const readUtc = createInstantReader()
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
    const fault = add(geoId, at, value, name)
    if (fault !== undefined) return reject(fault, row, { geoId, at })
    if (typeof name !== 'string' && name !== undefined && name !== null && !misnamed.has(geoId))
      misnamed.set(geoId, { row, i })
  }
  list.forEach(read)
  const joined = join()
  for (const { row, i } of misnamed.values())
    checkPart(row, `${path}[${i}]`, rejects, 'geo_id').columns({ name: ['geo_name', AS.name] })
  return { ...joined, ...rejects.done(), rows: list.length }
}
