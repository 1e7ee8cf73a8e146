import { StoppedError } from '../base/errors.ts'
import type { Store } from '../db/open.ts'
import type { Pace } from '../job/job.ts'

const DAY_MS = 86_400_000

/** The limits of a pace as rows: so many calls within so many milliseconds. */
const limitsOf = ({ callsPerMinute, callsPerHour, callsPerDay }: Pace) =>
  [
    { calls: callsPerMinute, ms: 60_000, word: 'minute' },
    { calls: callsPerHour, ms: 3_600_000, word: 'hour' },
    { calls: callsPerDay, ms: DAY_MS, word: 'day' },
  ].filter((limit): limit is { calls: number; ms: number; word: string } => limit.calls !== null)

/** How many calls are left within every limit; undefined when there is none. */
export function callsLeft(store: Pick<Store, 'get'>, host: string, pace: Pace, nowMs: number): number | undefined {
  const left = limitsOf(pace).map(({ calls, ms }) => calls - spent(store, host, nowMs - ms))
  return left.length === 0 ? undefined : Math.max(0, Math.min(...left))
}

const spent = (store: Pick<Store, 'get'>, host: string, since: number): number =>
  store.get('select count(*) from _budget where host = ? and called_at > ?', [host, since]) as number

/**
 * Spends one call of the budget, which is kept in the database: it outlives the process and is shared by all that use the
 * file. Calls are counted also for a job without limits, for another one has some. Throws StoppedError when none is left.
 */
export async function spendCall(store: Store, host: string, pace: Pace, nowMs: number): Promise<void> {
  const limits = limitsOf(pace)
  await store.write(async () => {
    const full = limits.find(({ calls, ms }) => spent(store, host, nowMs - ms) >= calls)
    if (full)
      throw new StoppedError(
        `The budget of ${full.calls} calls ${full.word === 'hour' ? 'an' : 'a'} ${full.word} is spent.`,
        {
          hint: `Run the same command again within the next ${full.word}; it goes on where it stopped.`,
          code: 'budget',
        },
      )
    store.run('insert into _budget (host, called_at) values (?, ?)', [host, nowMs])
    store.run('delete from _budget where host = ? and called_at < ?', [host, nowMs - DAY_MS])
  })
}
