import { budgetSpent, DAY_MS, limitsOf } from '../calls/budget.ts'
import { databaseClock, LOCK_MS, shared } from '../db/shared.ts'
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

/** A text in a statement without parameters. */
const sqlText = (text: string): string => `'${text.replaceAll("'", "''")}'`

/**
 * Runs a statement while the row of a host is locked, and answers its one row. All is sent as one text: while the server holds
 * the lock it waits for nothing of this process, which may be frozen, or gone with its machine. The statement begins when the
 * lock is there, so it sees what those before it did; `host` is the row, `now` the clock of the database.
 */
async function withHost<Row>(store: Store, name: string, statement: string): Promise<Row> {
  const host = sqlText(name)
  // Concurrency begins at one, so that a wrong key costs one request.
  const rows = await store.writeAtOnce<Row>(`
    set local lock_timeout = ${LOCK_MS};
    insert into _host (host, next_at, hold_until, limit_now, failures, openings) values (${host}, 0, 0, 1, 0, 0)
      on conflict do nothing;
    select from _host where host = ${host} for update;
    with host as materialized (
      select *, floor(date_part('epoch', clock_timestamp()) * 1000)::bigint as now from _host where host = ${host}
    ), ${statement}`)
  return rows[0]!
}

/** What stands in the way of a turn: a pause, too many calls under way, a turn that is too far ahead, or a limit by its place in the list of limits. */
type Obstacle = 'paused' | 'full' | 'far' | `${number}`

/**
 * Reserves a turn and spends its budget, where a call may begin at all and its turn is near; none begins within the next `lead`
 * milliseconds.
 */
export async function reserveTurn(store: Store, name: string, pace: Pace, lead: number): Promise<FoundTurn> {
  const limits = limitsOf(pace)
  const host = sqlText(name)
  const soon = Math.ceil(lead)
  // Turns are further apart than the pace says, by as much as a call may come late, so that no second has too many calls.
  const gap = Math.ceil((1000 + LATE_MS + NETWORK_MS) / pace.perSecond)
  const isSpent = limits.map(
    ({ calls, ms }, i) =>
      `when (select count(*) from _budget where host = ${host} and called_at > begins - ${ms + SLACK_MS}) >= ${calls} then '${i}'`,
  )
  const { id, now, begins, hold_until, obstacle } = await withHost<{
    readonly id: number
    readonly now: number
    readonly begins: number
    readonly hold_until: number
    readonly obstacle: Obstacle | null
  }>(
    store,
    name,
    `turn as materialized (select *, greatest(next_at, now + ${soon}) as begins from host),
    found as materialized (
      select now, begins, hold_until, case when hold_until > now then 'paused'
        when (select count(*) from _call where host = ${host} and until_at > now) >= least(limit_now, ${pace.concurrency}) then 'full'
        when begins > now + ${soon + AHEAD_MS} then 'far'
        ${isSpent.join('\n        ')} end as obstacle
      from turn
    ),
    free as materialized (select begins from found where obstacle is null),
    taken as (update _host set next_at = begins + ${gap} from free where host = ${host}),
    spent as (insert into _budget (host, called_at) select ${host}, begins from free),
    forgotten as (
      delete from _budget using free where host = ${host} and called_at < begins - ${DAY_MS + SLACK_MS}
    ),
    call as (insert into _call (host, until_at) select ${host}, begins + ${ALIVE_MS} from free returning id)
    select found.*, (select id from call) as id from found`,
  )
  if (obstacle === null) return { id, begins, beginsIn: begins - now }
  if (obstacle === 'paused') return { askIn: hold_until - now, paused: true }
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

/** Twice as long for each opening in a row, but no number that a database cannot hold. */
const MOST_DOUBLINGS = 30

/** Records a failure, or a pause that a host asked for, and answers for how many milliseconds the breaker pauses all calls. */
export async function recordFailedCall(
  store: Store,
  name: string,
  { what, waitMs }: CallResult,
  breaker: BreakerOptions,
): Promise<number> {
  const failed = what === 'failed'
  const { pause } = await withHost<{ readonly pause: number }>(
    store,
    name,
    // What was under way when the breaker opened does not open it again.
    `judged as materialized (
      select *, ${failed} and hold_until <= now and (openings > 0 or failures + 1 >= ${breaker.failures}) as opens from host
    ),
    -- A longer pause would end the wait for a turn: the request would go back to the queue as if it had never failed.
    paused as materialized (
      select *, case when opens then least(${breaker.pauseMs} * power(2, least(openings, ${MOST_DOUBLINGS})), ${MAX_WAIT_MS})
        else 0 end as pause from judged
    ),
    recorded as (
      update _host set hold_until = greatest(p.hold_until, ceil(p.now + greatest(p.pause, ${waitMs}))::bigint),
        ${
          failed
            ? 'limit_now = greatest(1, p.limit_now / 2), failures = p.failures + 1, openings = p.openings + p.opens::integer'
            : 'failures = 0, openings = 0'
        }
      from paused p where _host.host = p.host
    )
    select pause from paused`,
  )
  return pause
}

/** Forgets a call that is over. */
export async function forgetCall(store: Store, id: number): Promise<void> {
  await shared(store.kysely).deleteFrom('_call').where('id', '=', id).execute()
}
