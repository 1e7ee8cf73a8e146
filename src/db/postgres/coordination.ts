import { type Kysely, sql } from 'kysely'
import { CLOCK_ERROR_MS, formatMillis } from '../../base/time/instant.ts'
import type { Database } from '../../tables/schema.ts'
import { type Coordination, shared } from '../coordination.ts'
import { DEAD_MS } from '../queries/workers.ts'
import { rowsOf } from './connection/runSql.ts'
import { judgeFailedCall, type SendBatch, takeTurn, WITH_LOCK_LIMIT } from './operations/turns.ts'

/** Its clock in epoch milliseconds, at the moment at which a statement is executed. */
const CLOCK = sql<number>`floor(date_part('epoch', clock_timestamp()) * 1000)`

/** What machines do together on a database; `repeated` repeats what others made fail. */
export function createCoordination(
  kysely: Kysely<Database>,
  repeated: <T>(work: () => Promise<T>) => Promise<T> = (work) => work(),
): Coordination {
  const send: SendBatch = (batch) => repeated(() => rowsOf(kysely, batch, []))
  return {
    async clock(tx = kysely) {
      return (await tx.selectNoFrom(CLOCK.as('ms')).executeTakeFirstOrThrow()).ms
    },
    async lockSeries(tx, seriesId) {
      await tx.selectFrom('series').select('id').where('id', '=', seriesId).forNoKeyUpdate().execute()
    },
    async extendLeases(claims, lengthMs, leastLeftMs) {
      const extended = await shared(kysely)
        .updateTable('_asking')
        .set({ until_at: sql`${CLOCK} + ${lengthMs}` })
        .where('claim', 'in', claims)
        .where('until_at', '>', sql<number>`${CLOCK} + ${leastLeftMs}`)
        .returning('claim')
        .execute()
      return extended.map(({ claim }) => claim)
    },
    takeTurn: (host, terms) => takeTurn(send, host, terms),
    judgeFailedCall: (host, call) => judgeFailedCall(send, host, call),
    async lastFetch() {
      // Whoever loads an answer meanwhile waits behind this one: it gives up soon, and tries again when they are through.
      const [last] = await send<{ readonly id: number }>(`
        ${WITH_LOCK_LIMIT}
        lock table _fetch in share mode;
        select coalesce(max(id), 0) as id from _fetch`)
      return last!.id
    },
    async forgetDeadProcesses(at) {
      // What is in the future was written while the clock of the database was ahead.
      const isDead = (time: string): string => `(${time} < ${at - DEAD_MS} or ${time} > ${at + CLOCK_ERROR_MS})`
      await send(`
        ${WITH_LOCK_LIMIT}
        with gone as (delete from _worker where ${isDead('seen_at')} returning runs)
        update _run set outcome = 'stopped', message = 'its worker ended without a word', finished_at = '${formatMillis(at)}'
        where outcome = 'running' and id in (select unnest(string_to_array(runs, ','))::bigint from gone);
        delete from _asking where ${isDead('until_at')};
        delete from _call where ${isDead('until_at')}`)
    },
    // `information_schema` lists only tables on which the user has a right.
    isMade: async (schema, table) =>
      (
        await rowsOf(kysely, 'select from pg_catalog.pg_tables where schemaname = $1 and tablename = $2', [
          schema,
          table,
        ])
      ).length > 0,
  }
}
