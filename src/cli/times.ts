import { parseMoment, resolveMoment } from '../job/moment.ts'
import { InputError } from '../util/errors.ts'
import { EARLIEST, formatMillis, LATEST, toInstant } from '../util/time/instant.ts'
import type { Interval } from '../util/time/interval.ts'
import type { Args } from './command.ts'
import type { RANGE_FLAGS } from './flags.ts'

export type RangeArgs = Partial<Args<typeof RANGE_FLAGS>>

/** Resolves a day, an instant or an offset in a time zone to epoch seconds; `flag` names it in errors. */
function resolveTime(flag: string, text: string, zone: string, now: number): number {
  const moment = parseMoment(text)
  if (moment === undefined)
    throw new InputError(`--${flag} ${JSON.stringify(text)} is not a valid date.`, {
      hint: 'Use a day (2025-10-01), an instant (2025-10-01T12:00:00Z) or an offset from today (-30d).',
      code: 'bad-date',
    })
  return resolveMoment(moment, zone, now)
}

/** Resolves a day, an instant or an offset in a time zone to a timestamp in UTC with milliseconds. */
export function resolveTimestamp(flag: string, text: string, zone: string, nowMs: number): string {
  if (text.trim() === 'now') return formatMillis(nowMs)
  const [, second, fraction = '', offset = ''] =
    /^\s*(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})\.(\d+)(Z|[+-]\d{2}:\d{2})?\s*$/.exec(text) ?? []
  const whole = resolveTime(flag, second === undefined ? text : second + offset, zone, toInstant(nowMs)) * 1000
  // The database does not distinguish smaller differences.
  return formatMillis(whole + Number(fraction.padEnd(3, '0').slice(0, 3)))
}

/** Resolves `--from` and `--to` in a time zone; returns undefined if neither is given. */
export function resolveRange({ from, to }: RangeArgs, zone: string, now: number): Interval | undefined {
  if (from === undefined && to === undefined) return undefined
  const range = {
    from: from === undefined ? EARLIEST : resolveTime('from', from, zone, now),
    to: to === undefined ? LATEST : resolveTime('to', to, zone, now),
  }
  if (range.from >= range.to)
    throw new InputError(`--from ${from} must be earlier than --to ${to}, because --to is exclusive.`, {
      code: 'empty-range',
    })
  return range
}
