import { formatUtc, type Instant } from '../../util/time/instant.ts'
import { formatOffset, localClock, offsetAt, padTwo } from '../../util/time/zone.ts'
import { EMULATED_ZONE } from '../world/world.ts'

/** `2021-10-30T20:16:46.000+02:00`: the form of `values_updated_at`. */
export const millisLocal = (at: Instant): string =>
  `${localClock(EMULATED_ZONE, at)}.000${formatOffset(offsetAt(EMULATED_ZONE, at))}`

/**
 * Writes an instant as the three fields of a value. `datetime_utc` has the fault of the live service: in the second of two equal
 * local hours it repeats the UTC time of the first. It keeps the last hour, because rows come in order.
 */
export function valueStamps(): (at: Instant) => string {
  let hour = Number.NaN
  let local = ''
  let offset = ''
  let faulty = ''
  let utc = ''
  return (at) => {
    const start = at - (at % 3_600)
    if (start !== hour) {
      hour = start
      const ahead = offsetAt(EMULATED_ZONE, at)
      const isRepeated = offsetAt(EMULATED_ZONE, at - 3_600) - ahead === 3_600
      local = localClock(EMULATED_ZONE, start).slice(0, 14)
      offset = formatOffset(ahead)
      utc = formatUtc(start).slice(0, 14)
      faulty = isRepeated ? formatUtc(start - 3_600).slice(0, 14) : utc
    }
    const past = at - start
    const clock = `${padTwo((past / 60) | 0)}:${padTwo(past % 60)}`
    return `"datetime":"${local}${clock}.000${offset}","datetime_utc":"${faulty}${clock}Z","tz_time":"${utc}${clock}.000Z"`
  }
}

const MONTH_NAMES = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const

/** `Nov 4, 2025, 5:57:31 AM`: the form of `cache_date` in listings, in UTC. */
export function cacheDate(at: Instant): string {
  const text = formatUtc(at)
  const hour = Number(text.slice(11, 13))
  return `${MONTH_NAMES[Number(text.slice(5, 7)) - 1]} ${Number(text.slice(8, 10))}, ${text.slice(0, 4)}, ${hour % 12 || 12}${text.slice(13, 19)} ${hour < 12 ? 'AM' : 'PM'}`
}
