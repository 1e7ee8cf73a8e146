import { parseMoment, resolveMoment } from '../job/moment.ts'
import { InputError } from '../util/errors.ts'
import { EARLIEST, LATEST } from '../util/time/instant.ts'
import type { Interval } from '../util/time/interval.ts'

/** The values of `--from` and `--to`. */
export interface RangeArgs {
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/** The instant that a flag means in a zone. */
export function instantOfFlag(flag: string, text: string, zone: string, now: number): number {
  const moment = parseMoment(text)
  if (moment === undefined)
    throw new InputError(`--${flag} ${JSON.stringify(text)} is not a valid date.`, {
      hint: 'Use a day (2025-10-01), an instant (2025-10-01T12:00:00Z) or an offset from today (-30d).',
      code: 'bad-date',
    })
  return resolveMoment(moment, zone, now)
}

/** The moment that a flag means in a zone, to the millisecond: the database does not distinguish smaller differences. */
export function millisOfFlag(flag: string, text: string, zone: string, now: number): number {
  if (text.trim() === 'now') return now
  const [, second, fraction = '', offset = ''] =
    /^\s*(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})\.(\d+)(Z|[+-]\d{2}:\d{2})?\s*$/.exec(text) ?? []
  const whole = instantOfFlag(flag, second === undefined ? text : second + offset, zone, Math.floor(now / 1000)) * 1000
  return whole + Number(fraction.padEnd(3, '0').slice(0, 3))
}

/** The range that `--from` and `--to` mean in a job's zone; undefined when neither is given. */
export function rangeOfFlags({ from, to }: RangeArgs, zone: string, now: number): Interval | undefined {
  if (from === undefined && to === undefined) return undefined
  const range = {
    from: from === undefined ? EARLIEST : instantOfFlag('from', from, zone, now),
    to: to === undefined ? LATEST : instantOfFlag('to', to, zone, now),
  }
  if (range.from >= range.to)
    throw new InputError('--from must be earlier than --to, because --to is exclusive.', { code: 'empty-range' })
  return range
}
