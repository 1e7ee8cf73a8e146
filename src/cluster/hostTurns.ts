import { budgetSpent, DAY_MS, limitsOf } from '../calls/budget.ts'
import { coordinationOf, shared } from '../db/coordination.ts'
import type { Store } from '../db/store.ts'
import type { BreakerOptions } from '../fetch/breaker.ts'
import { type CallResult, MAX_WAIT_MS } from '../fetch/turns.ts'
import type { Pace } from '../job/job.ts'

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

/**
 * Reserves a turn and spends its budget, where a call may begin at all and its turn is near; none begins within the next `lead`
 * milliseconds.
 */
export async function reserveTurn(store: Store, host: string, pace: Pace, lead: number): Promise<FoundTurn> {
  const limits = limitsOf(pace)
  const soon = Math.ceil(lead)
  const { id, obstacle, now, begins, pausedUntil } = await coordinationOf(store).takeTurn(host, {
    lead: soon,
    ahead: AHEAD_MS,
    // Turns are further apart than the pace says, by as much as a call may come late, so that no second has too many calls.
    gap: Math.ceil((1000 + LATE_MS + NETWORK_MS) / pace.perSecond),
    concurrency: pace.concurrency,
    limits: limits.map(({ calls, ms }) => ({ calls, ms: ms + SLACK_MS })),
    remembered: DAY_MS + SLACK_MS,
    alive: ALIVE_MS,
  })
  if (id !== null) return { id, begins, beginsIn: begins - now }
  if (obstacle === 'paused') return { askIn: pausedUntil - now, paused: true }
  if (obstacle === 'full') return { askIn: TURN_POLL_MS, paused: false }
  if (obstacle === 'far') return { askIn: begins - now - soon - AHEAD_MS, paused: false }
  throw budgetSpent(limits[Number(obstacle)]!)
}

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
  const until = (await coordinationOf(store).clock()) + ALIVE_MS
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
  { failures, pauseMs }: BreakerOptions,
): Promise<number> =>
  coordinationOf(store).judgeFailedCall(host, {
    isFailure: what === 'failed',
    waitMs,
    failures,
    pauseMs,
    // A longer pause would end the wait for a turn: the request would go back to the queue as if it had never failed.
    maxPauseMs: MAX_WAIT_MS,
  })

/** Forgets a call that is over. */
export async function forgetCall(store: Store, id: number): Promise<void> {
  await shared(store.kysely).deleteFrom('_call').where('id', '=', id).execute()
}
