import { createHash } from 'node:crypto'
import { stampOf } from '../../db/open.ts'
import type { Reader } from '../../db/store.ts'

/** The newest request, and what has become of the newest run: one look at the end of each table. */
async function newest({ kysely }: Reader): Promise<readonly unknown[]> {
  const fetch = await kysely.selectFrom('_fetch').select('id').orderBy('id', 'desc').limit(1).executeTakeFirst()
  const run = await kysely
    .selectFrom('_run')
    .select(['id', 'outcome', 'finished_at'])
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return [fetch?.id, run?.id, run?.outcome, run?.finished_at]
}

/**
 * A word for the state of a database, another one whenever something was written: what an answer made of it is marked with
 * (`ETag`), and by which the one that asked learns that it has the newest. `beside` is what else the answer depends on.
 */
export async function etagOf(reader: Reader, beside: readonly unknown[]): Promise<string> {
  const state = [await newest(reader), await stampOf(reader), beside]
  return `"${createHash('sha256').update(JSON.stringify(state)).digest('base64url').slice(0, 22)}"`
}
