import { readStamp } from '../db/open.ts'
import type { Reader } from '../db/store.ts'
import { findWithFacts } from '../findings/findFindings.ts'
import { readLastRun } from '../state/lastRuns.ts'
import { sha256 } from '../util/checksum.ts'
import type { Instant } from '../util/time/instant.ts'
import { roughLength } from './formats.ts'
import type { PageRequest } from './page.ts'

/** The progress of a run; null if its requests are not counted, or if splits made it longer than planned. */
export function runProgress(
  run: { readonly planned: number | null; readonly requests: number; readonly started_at: string },
  now: Instant,
) {
  const { planned, requests: done } = run
  if (planned === null || done > planned) return null
  const seconds = (now - Date.parse(run.started_at) / 1000) / Math.max(1, done)
  return { done, planned, secondsLeft: done === 0 ? null : seconds * (planned - done) }
}

/** The time left in words, with a separator; empty at the start. */
export const timeLeft = (request: PageRequest, { secondsLeft }: { readonly secondsLeft: number | null }): string =>
  secondsLeft === null ? '' : ` · ${request.words.runs.left(roughLength(request, secondsLeft))}`

/** Reads the newest run, with its progress while it runs; after a run that failed, also when the last one succeeded. */
export async function readShownRun({ store, now }: PageRequest) {
  const run = await readLastRun(store)
  if (!run) return null
  const succeeded = await store.kysely
    .selectFrom('_run')
    .select('finished_at')
    .where('outcome', '=', 'done')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return {
    ...run,
    progress: run.outcome === 'running' ? runProgress(run, now) : null,
    succeededAt: run.outcome === 'done' ? null : (succeeded?.finished_at ?? null),
  }
}

export type ShownRun = Awaited<ReturnType<typeof readShownRun>>

/** The number of findings of each database, with the state of the database and the minute for which it holds. */
const findingCounts = new Map<string, { readonly state: string; readonly count: Promise<number> }>()

/** Counts what the overview lists as wrong; for a database that has not changed, once a minute. */
export async function countFindings(store: Reader, now: Instant): Promise<number> {
  const state = await createEtag(store, [Math.floor(now / 60)])
  const known = findingCounts.get(store.file)
  if (known?.state === state) return known.count
  const count = findWithFacts(store, now).then(({ length }) => length)
  findingCounts.set(store.file, { state, count })
  count.catch(() => findingCounts.delete(store.file))
  return count
}

/** Creates an `ETag` that changes with every write; `beside`: what else the response depends on. */
export async function createEtag(reader: Reader, beside: readonly unknown[]): Promise<string> {
  const fetch = await reader.kysely.selectFrom('_fetch').select('id').orderBy('id', 'desc').limit(1).executeTakeFirst()
  const state = [fetch?.id, await readLastRun(reader), await readStamp(reader), beside]
  return `"${sha256(JSON.stringify(state), 'base64url').slice(0, 22)}"`
}

/** Whether `If-None-Match` has a tag (RFC 9110, 13.1.2). Tags are weak, because a compressing proxy adds `W/`. */
export const matchesTag = (ifNoneMatch: string | undefined, etag: string): boolean =>
  (ifNoneMatch ?? '').split(',').some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, '')))
