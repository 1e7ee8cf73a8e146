import type { Kysely } from 'kysely'
import { formatMillis } from '../../base/time/instant.ts'
import type { Database } from '../../tables/schema.ts'
import { DEAD_MS } from '../queries/heartbeats.ts'
import type { Coordination } from '../shared.ts'
import { rowsOf } from './connection/runSql.ts'
import { judgeFailedCall, type SendText, takeTurn, WITH_LOCK_LIMIT } from './operations/turns.ts'

/** What machines do together on a database; `repeated` repeats what others made fail. */
export function createCoordination(
  kysely: Kysely<Database>,
  repeated: <T>(work: () => Promise<T>) => Promise<T> = (work) => work(),
): Coordination {
  const send: SendText = (text) => repeated(() => rowsOf(kysely, text, []))
  return {
    takeTurn: (host, terms) => takeTurn(send, host, terms),
    judgeFailedCall: (host, call) => judgeFailedCall(send, host, call),
    async closeDeadWorkers(at) {
      await send(`
        ${WITH_LOCK_LIMIT}
        with gone as (delete from _worker where seen_at < ${at - DEAD_MS} returning runs)
        update _run set outcome = 'stopped', message = 'its worker ended without a word', finished_at = '${formatMillis(at)}'
        where outcome = 'running' and id in (select unnest(string_to_array(runs, ','))::bigint from gone)`)
    },
  }
}
