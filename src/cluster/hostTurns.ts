import type { Transaction } from 'kysely'
import { spendIn } from '../calls/budget.ts'
import { databaseClock, shared } from '../db/shared.ts'
import type { Store } from '../db/store.ts'
import type { BreakerOptions } from '../fetch/breaker.ts'
import { type CallResult, MAX_WAIT_MS } from '../fetch/turns.ts'
import type { Pace } from '../job/job.ts'
import type { Database } from '../tables/schema.ts'

/**
 * Milliseconds. A request that would be sent later than this after its turn began gives the turn up and waits for another one:
 * the next call may be too near.
 */
export const LATE_MS = 50
/** Milliseconds by which the network may delay one call more than another before the service counts too many in a second. */
const NETWORK_MS = 100
/**
 * Milliseconds. Calls reach the service a little further apart than they begin: budgets are counted over windows longer by this.
 */
const SLACK_MS = 1_000
/**
 * Milliseconds. No turn is reserved longer ahead than this and the lead: at a slow pace, turns that others reserved would lie in a pause
 * that begins meanwhile.
 */
const AHEAD_MS = 1_000
/** Milliseconds between two looks for a free place, while as many calls are under way as allowed. */
export const TURN_POLL_MS = 50
/**
 * Milliseconds. A call that is not renewed for this long counts as over, because its process is dead; a living one renews it
 * three times as often.
 */
export const ALIVE_MS = 15_000

/** The turn of a call: its number, when it begins by the clock of the database and in how many milliseconds; or after how many to ask again. */
type FoundTurn =
  | { readonly id: number; readonly begins: number; readonly beginsIn: number }
  | { readonly askIn: number; readonly paused: boolean }

/** The row of a host, locked until the transaction ends. */
async function hostRow(tx: Transaction<Database>, host: string) {
  const read = () => shared(tx).selectFrom('_host').selectAll().where('host', '=', host).forUpdate().executeTakeFirst()
  const row = await read()
  if (row) return row
  // Concurrency begins at one, so that a wrong key costs one request.
  await shared(tx)
    .insertInto('_host')
    .values({ host, next_at: 0, hold_until: 0, limit_now: 1, failures: 0, openings: 0 })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return (await read())!
}

/** How many calls to a host are under way. */
async function underWay(tx: Transaction<Database>, host: string, now: number): Promise<number> {
  const { calls } = await shared(tx)
    .selectFrom('_call')
    .select(({ fn }) => fn.countAll<number>().as('calls'))
    .where('host', '=', host)
    .where('until_at', '>', now)
    .executeTakeFirstOrThrow()
  return Number(calls)
}

/**
 * Reserves a turn and spends its budget, where a call may begin at all and its turn is near; none begins within the next `lead()`
 * milliseconds.
 */
export const reserveTurn = (store: Store, host: string, pace: Pace, lead: () => number): Promise<FoundTurn> =>
  store.write(async (tx): Promise<FoundTurn> => {
    const row = await hostRow(tx, host)
    const now = await databaseClock(shared(tx))
    if (row.hold_until > now) return { askIn: row.hold_until - now, paused: true }
    if ((await underWay(tx, host, now)) >= Math.min(row.limit_now, pace.concurrency))
      return { askIn: TURN_POLL_MS, paused: false }
    const soon = now + lead()
    if (row.next_at > soon + AHEAD_MS) return { askIn: row.next_at - soon - AHEAD_MS, paused: false }
    const begins = Math.ceil(Math.max(row.next_at, soon))
    await spendIn(tx, host, pace, begins, SLACK_MS)
    // Turns are further apart than the pace says, by as much as a call may come late, so that no second has too many calls.
    const gap = (1000 + LATE_MS + NETWORK_MS) / pace.perSecond
    await shared(tx)
      .updateTable('_host')
      .set({ next_at: Math.ceil(begins + gap) })
      .where('host', '=', host)
      .execute()
    const { id } = await shared(tx)
      .insertInto('_call')
      .values({ host, until_at: Math.ceil(begins + ALIVE_MS) })
      .returning('id')
      .executeTakeFirstOrThrow()
    return { id, begins, beginsIn: begins - now }
  })

/** Whether a turn that was reserved lies in a pause of its host that began meanwhile. */
export async function isPaused(store: Store, host: string, begins: number): Promise<boolean> {
  const { hold_until } = await shared(store.kysely)
    .selectFrom('_host')
    .select('hold_until')
    .where('host', '=', host)
    .executeTakeFirstOrThrow()
  return hold_until > begins
}

/** Gives back the budget of a turn in which nothing was sent. */
export async function giveBack(store: Store, host: string, begins: number): Promise<void> {
  await store.kysely.deleteFrom('_budget').where('host', '=', host).where('called_at', '=', begins).execute()
}

/** Shows of calls under way that their process is alive. */
export async function renewCalls(store: Store, calls: ReadonlySet<number>): Promise<void> {
  const until = Math.ceil((await databaseClock(shared(store.kysely))) + ALIVE_MS)
  await shared(store.kysely)
    .updateTable('_call')
    .set({ until_at: until })
    .where('id', 'in', [...calls])
    .execute()
}

/** Records that a host answered: failures in a row begin anew, and after a good answer one more call at a time is allowed. */
export async function recordAnswer(store: Store, host: string, isGood: boolean, pace: Pace): Promise<void> {
  const grows = isGood ? 1 : 0
  // On most answers nothing changes, and nothing is written.
  await shared(store.kysely)
    .updateTable('_host')
    .set((of) => ({ limit_now: of('limit_now', '+', grows), failures: 0, openings: 0 }))
    .where('host', '=', host)
    .where((of) =>
      of.or([
        of('failures', '>', 0),
        of('openings', '>', 0),
        ...(grows > 0 ? [of('limit_now', '<', pace.concurrency)] : []),
      ]),
    )
    .execute()
}

/** Records a failure, or a pause that a host asked for, and answers for how many milliseconds the breaker pauses all calls. */
export const recordFailedCall = (
  store: Store,
  host: string,
  { what, waitMs }: CallResult,
  breaker: BreakerOptions,
): Promise<number> =>
  store.write(async (tx) => {
    const row = await hostRow(tx, host)
    const now = await databaseClock(shared(tx))
    const failed = what === 'failed'
    const failures = failed ? row.failures + 1 : 0
    // What was under way when the breaker opened does not open it again.
    const opens = failed && row.hold_until <= now && (row.openings > 0 || failures >= breaker.failures)
    const openings = failed ? row.openings + (opens ? 1 : 0) : 0
    // A longer pause would end the wait for a turn: the request would go back to the queue as if it had never failed.
    const pauseMs = opens ? Math.min(breaker.pauseMs * 2 ** (openings - 1), MAX_WAIT_MS) : 0
    await shared(tx)
      .updateTable('_host')
      .set({
        hold_until: Math.ceil(Math.max(row.hold_until, now + Math.max(pauseMs, waitMs))),
        limit_now: failed ? Math.max(1, Math.floor(row.limit_now / 2)) : row.limit_now,
        failures,
        openings,
      })
      .where('host', '=', host)
      .execute()
    return pauseMs
  })

/** Forgets a call that is over. */
export async function forgetCall(store: Store, id: number): Promise<void> {
  await shared(store.kysely).deleteFrom('_call').where('id', '=', id).execute()
}
