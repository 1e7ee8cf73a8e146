import type { EmitEvent } from '../util/events.ts'
import { quantity } from '../util/text.ts'
import { DAY, HOUR } from '../util/time/instant.ts'

/** Seconds. With a larger difference between clocks, versions of values would be in the wrong order. */
const MAX_SKEW_S = 60

/** The seconds by which the clock of this machine is ahead of that of the service; null if the response has no date. */
export function findSkew(headers: Readonly<Record<string, string>>, nowMs = Date.now()): number | null {
  const serverMs = Date.parse(headers.date ?? '')
  return Number.isNaN(serverMs) ? null : Math.round((nowMs - serverMs) / 1000)
}

function roughLength(seconds: number): string {
  if (seconds < 2 * HOUR) return quantity(Math.round(seconds / 60), 'minute')
  if (seconds < 2 * DAY) return quantity(Math.round(seconds / HOUR), 'hour')
  return quantity(Math.round(seconds / DAY), 'day')
}

/** Says that the clocks differ: `7 days ahead of the clock of the service`; null if they agree. */
export function describeSkew(skewS: number): string | null {
  const seconds = Math.abs(skewS)
  if (seconds <= MAX_SKEW_S) return null
  return `${roughLength(seconds)} ${skewS > 0 ? 'ahead of' : 'behind'} the clock of the service`
}

/**
 * Compares the clock of each response with that of this machine. Warns once if it is wrong, because the times of versions and of missing
 * data come from it.
 */
export function createClockCheck(
  emit: EmitEvent | undefined,
): (response: { readonly headers: Readonly<Record<string, string>> }) => void {
  let isWarned = false
  return ({ headers }) => {
    const skewS = isWarned ? null : findSkew(headers)
    const difference = skewS === null ? null : describeSkew(skewS)
    if (difference === null) return
    isWarned = true
    emit?.('clock.differs', {
      reason: `The clock of this machine is ${difference}.`,
      hint: 'Correct it: times of versions and of missing data come from it.',
    })
  }
}
