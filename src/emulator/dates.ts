import { type Instant, isDate, parseInstant } from '../base/time/instant.ts'
import { offsetAt, startOfDate } from '../base/time/zone.ts'
import { EMULATED_ZONE } from './world/world.ts'

const DATE_PATTERN = /^(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2})(?::(\d{2}))?(?:\.\d+)?\s?(Z|[+-]\d{2}:?\d{2})?$/

/**
 * Reads a date in any of the ways in which clients write it; undefined when it is none, or does not exist.
 * A date without a time is its midnight and a time without an offset is local, both in Madrid.
 */
export function readDate(text: string): Instant | undefined {
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) return startOfDate(EMULATED_ZONE, text)
  const match = DATE_PATTERN.exec(text)
  if (!match || !isDate(Number(match[1]), Number(match[2]), Number(match[3]))) return undefined
  const clock = `${match[1]}-${match[2]}-${match[3]}T${match[4]}:${match[5]}:${match[6] ?? '00'}`
  const zone = match[7]
  const written = zone === undefined || zone === 'Z' ? 'Z' : `${zone.slice(0, 3)}:${zone.slice(-2)}`
  const at = parseInstant(`${clock}${written}`)
  if (Number.isNaN(at)) return undefined
  return zone === undefined ? at - offsetAt(EMULATED_ZONE, at - offsetAt(EMULATED_ZONE, at)) : at
}
