import type { Kysely } from 'kysely'
import { CLOCK_ERROR_MS, DAY } from '../../util/time/instant.ts'
import type { Coordination, Slot, SlotTerms } from '../coordination.ts'
import type { Database } from '../tables/schema.ts'
import { queryRows } from './connection/statements.ts'

/** Milliseconds from now to the latest possible slot. Later ones were recorded by a wrong clock. */
const LATEST_MS = DAY * 1000 + CLOCK_ERROR_MS

/** Milliseconds to wait for the row of a host, which is never locked for longer than a round trip. */
const LOCK_MS = 5_000

const NOW = `floor(extract(epoch from clock_timestamp()) * 1000)::bigint`

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`

/**
 * Locks the row of a host for the next statement, which then sees every counted call. Both are in one batch, so that no process
 * keeps the lock between two messages. Synchronous commit, because a crash of the server must not lose calls.
 */
const lockHost = (host: string): string => `
  set local lock_timeout = ${LOCK_MS};
  set local synchronous_commit = on;
  insert into _host (host, next_at) values (${host}, 0) on conflict do nothing;
  select from _host where host = ${host} for update;`

/** Takes the next slot of a host, whose name is quoted. */
function takeSlotSql(host: string, { gap, ahead, limits, remembered }: SlotTerms): string {
  const spent = limits.map(
    ({ calls, ms }, i) => `when (select count(*) from _budget where host = ${host} and called_at > at - ${ms}
      and called_at <= at + ${CLOCK_ERROR_MS}) >= ${calls} then ${i}`,
  )
  return `${lockHost(host)}
  with clock as materialized (select ${NOW} as now),
  slot as materialized (
    select now, case when next_at between now and now + ${LATEST_MS} then next_at else now end as at
    from _host, clock where host = ${host}
  ),
  checked as materialized (select now, at, ${spent.length > 0 ? `case ${spent.join(' ')} end` : 'null'} as spent from slot),
  taken as (select at from checked where at <= now + ${ahead} and spent is null),
  moved as (update _host set next_at = at + ${gap} from taken where host = ${host}),
  counted as (insert into _budget (host, called_at) select ${host}, at from taken),
  forgotten as (delete from _budget using taken where host = ${host} and (called_at < at - ${remembered} or called_at > at + ${remembered}))
  select exists (select from taken) as "isTaken", at - now as "beginsIn", spent from checked`
}

/** `repeated` retries after conflicts. */
export function createCoordination(
  kysely: Kysely<Database>,
  repeated: <T>(work: () => Promise<T>) => Promise<T> = (work) => work(),
): Coordination {
  return {
    async takeSlot(host, terms) {
      const [slot] = await repeated(() => queryRows<Slot>(kysely, takeSlotSql(quoted(host), terms)))
      return { ...slot!, isTaken: Boolean(slot!.isTaken) }
    },
    async delayHost(host, ms) {
      const next = `least(greatest(next_at, now + ${Math.ceil(ms)}), now + ${LATEST_MS})`
      const sql = `${lockHost(quoted(host))}
        update _host set next_at = ${next} from (select ${NOW} as now) as clock where host = ${quoted(host)}`
      await repeated(() => queryRows(kysely, sql))
    },
    async recordOutage(host) {
      const sql = `${lockHost(quoted(host))} update _host set outage_at = ${NOW} where host = ${quoted(host)}`
      await repeated(() => queryRows(kysely, sql))
    },
    async lastOutage(host) {
      const [row] = await queryRows<{ at: number }>(kysely, 'select outage_at as at from _host where host = $1', [host])
      return Number(row?.at ?? 0)
    },
    // `information_schema` lists only tables on which the user has a right.
    async hasTable(schema, table) {
      const sql = 'select from pg_catalog.pg_tables where schemaname = $1 and tablename = $2'
      return (await queryRows(kysely, sql, [schema, table])).length > 0
    },
  }
}
