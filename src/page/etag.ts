import { createHash } from 'node:crypto'
import { readStamp } from '../db/open.ts'
import type { Reader } from '../db/store.ts'

/** The newest run: one lookup at the end of the table. */
export const readLastRun = async ({ kysely }: Reader) =>
  (await kysely
    .selectFrom('_run')
    .select(['id', 'outcome', 'requests', 'finished_at'])
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()) ?? null

export type LastRun = NonNullable<Awaited<ReturnType<typeof readLastRun>>>

/**
 * A tag for the state of a database, which changes whenever something is written. It is the `ETag` of an answer, by which a
 * client learns that it has the newest one. `beside`: what else the answer depends on.
 */
export async function etagOf(reader: Reader, beside: readonly unknown[]): Promise<string> {
  const fetch = await reader.kysely.selectFrom('_fetch').select('id').orderBy('id', 'desc').limit(1).executeTakeFirst()
  const state = [fetch?.id, await readLastRun(reader), await readStamp(reader), beside]
  return `"${createHash('sha256').update(JSON.stringify(state)).digest('base64url').slice(0, 22)}"`
}

/**
 * Whether a client has what this tag stands for (`If-None-Match`; RFC 9110, 13.1.2). Tags are compared as weak ones: a proxy that
 * compresses an answer marks its tag with `W/`.
 */
export const matchesTag = (ifNoneMatch: string | undefined, etag: string): boolean =>
  (ifNoneMatch ?? '').split(',').some((one) => ['*', etag].includes(one.trim().replace(/^W\//, '')))
