import { CLOCK_ERROR_MS, DAY } from '../../../base/time/instant.ts'
import type { FailedCall, TurnAnswer, TurnTerms } from '../../coordination.ts'

/** Sends a batch, which is statements without parameters in one round trip (`Coordination` says why). Answers the rows of the last one. */
export type SendBatch = <Row>(batch: string) => Promise<Row[]>

/**
 * Milliseconds that a statement on what all machines share waits for a lock before it is tried again: none of them keeps one across
 * a message to its process, so a longer wait has another cause.
 */
const LOCK_MS = 5_000

/** Milliseconds from now until the latest end of a pause. A later one was recorded by a clock that was ahead. */
const LONGEST_PAUSE_MS = DAY * 1000 + CLOCK_ERROR_MS

/** Begins a batch that locks something. */
export const WITH_LOCK_LIMIT = `set local lock_timeout = ${LOCK_MS};`

/** A text in a statement without parameters. */
const sqlText = (text: string): string => `'${text.replaceAll("'", "''")}'`

/**
 * Runs a statement while the row of a host is locked, and answers its one row. The statement begins when the lock is there, so it
 * sees what those before it did; `host` is the row, `now` the clock of the database.
 */
async function withHost<Row>(send: SendBatch, name: string, statement: string): Promise<Row> {
  const host = sqlText(name)
  // Concurrency begins at one, so that a wrong key costs one request.
  const rows = await send<Row>(`
    ${WITH_LOCK_LIMIT}
    insert into _host (host, next_at, hold_until, limit_now, failures, openings) values (${host}, 0, 0, 1, 0, 0)
      on conflict do nothing;
    select from _host where host = ${host} for update;
    with clock as materialized (select floor(date_part('epoch', clock_timestamp()) * 1000)::bigint as now),
    host as materialized (
      select host, limit_now, failures, openings, now, next_at,
        case when hold_until > now + ${LONGEST_PAUSE_MS} then 0 else hold_until end as hold_until
      from _host, clock where host = ${host}
    ), ${statement}`)
  return rows[0]!
}

/** Takes a turn to call a host and spends its budget, where nothing stands in the way. */
export function takeTurn(send: SendBatch, name: string, terms: TurnTerms): Promise<TurnAnswer> {
  const { lead, ahead, gap, concurrency, limits, remembered, alive } = terms
  const host = sqlText(name)
  const isSpent = limits.map(
    ({ calls, ms }, i) =>
      `when (select count(*) from _budget where host = ${host} and called_at > begins - ${ms}
        and called_at <= begins + ${CLOCK_ERROR_MS}) >= ${calls} then '${i}'`,
  )
  return withHost(
    send,
    name,
    `turn as materialized (
      select *, case when next_at > now + ${gap + CLOCK_ERROR_MS} then now + ${lead}
        else greatest(next_at, now + ${lead}) end as begins from host
    ),
    found as materialized (
      select now, begins, hold_until as "pausedUntil", case when hold_until > now then 'paused'
        when (select count(*) from _call where host = ${host} and until_at > now
          and until_at <= now + ${alive + CLOCK_ERROR_MS}) >= least(limit_now, ${concurrency}) then 'full'
        when begins > now + ${lead + ahead} then 'far'
        ${isSpent.join('\n        ')} end as obstacle
      from turn
    ),
    free as materialized (select begins, "pausedUntil" as hold_until from found where obstacle is null),
    taken as (update _host set next_at = begins + ${gap}, hold_until = free.hold_until from free where host = ${host}),
    spent as (insert into _budget (host, called_at) select ${host}, begins from free),
    forgotten as (delete from _budget using free where host = ${host}
      and (called_at < begins - ${remembered} or called_at > begins + ${remembered})),
    call as (insert into _call (host, until_at) select ${host}, begins + ${alive} from free returning id)
    select found.*, (select id from call) as id from found`,
  )
}

/** Twice as long for each opening in a row, but no number that the database cannot hold. */
const MOST_DOUBLINGS = 30

/** Records a failure, or a pause that a host asked for, and answers for how many milliseconds the breaker pauses all calls. */
export async function judgeFailedCall(
  send: SendBatch,
  name: string,
  { isFailure, waitMs, failures, pauseMs, maxPauseMs }: FailedCall,
): Promise<number> {
  const { pause } = await withHost<{ readonly pause: number }>(
    send,
    name,
    // What was under way when the breaker opened does not open it again.
    `judged as materialized (
      select *, ${isFailure} and hold_until <= now and (openings > 0 or failures + 1 >= ${failures}) as opens from host
    ),
    paused as materialized (
      select *, case when opens then least(${pauseMs} * power(2, least(openings, ${MOST_DOUBLINGS})), ${maxPauseMs})
        else 0 end as pause from judged
    ),
    recorded as (
      update _host set hold_until = greatest(p.hold_until, ceil(p.now + greatest(p.pause, ${waitMs}))::bigint),
        ${
          isFailure
            ? 'limit_now = greatest(1, p.limit_now / 2), failures = p.failures + 1, openings = p.openings + p.opens::integer'
            : 'failures = 0, openings = 0'
        }
      from paused p where _host.host = p.host
    )
    select pause from paused`,
  )
  return pause
}
