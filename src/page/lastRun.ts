import { createHash } from 'node:crypto'
import { readStamp } from '../db/open.ts'
import type { Reader } from '../db/store.ts'
import { withDeadRuns } from '../reports/lastRuns.ts'
import type { Instant } from '../util/time/instant.ts'
import type { PageRequest } from './page.ts'

async function readLastRun(db: Reader) {
  const newest = db.kysely
    .selectFrom('_run')
    .select(['id', 'job', 'command', 'outcome', 'message', 'requests', 'started_at', 'finished_at'])
    .orderBy('id', 'desc')
    .limit(1)
  const [run] = await withDeadRuns(db, await newest.execute())
  return run ?? null
}

/** Estimates the progress of a run by the last complete run of its job; null without one, or if this run is longer. */
export async function readProgress(
  { kysely }: Reader,
  run: { readonly job: string; readonly command: string; readonly requests: number; readonly started_at: string },
  now: Instant,
) {
  const last = await kysely
    .selectFrom('_run')
    .select('requests')
    .where((eb) => eb.and({ job: run.job, command: run.command, outcome: 'done' }))
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  const { requests: done } = run
  if (!last || done >= last.requests) return null
  const seconds = (now - Date.parse(run.started_at) / 1000) / Math.max(1, done)
  return {
    done,
    expected: last.requests,
    secondsLeft: done === 0 ? null : seconds * (last.requests - done),
  }
}

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
    progress: run.outcome === 'running' ? await readProgress(store, run, now) : null,
    succeededAt: run.outcome === 'done' ? null : (succeeded?.finished_at ?? null),
  }
}

export type ShownRun = Awaited<ReturnType<typeof readShownRun>>

/** Creates an `ETag` that changes with every write; `beside`: what else the response depends on. */
export async function createEtag(reader: Reader, beside: readonly unknown[]): Promise<string> {
  const fetch = await reader.kysely.selectFrom('_fetch').select('id').orderBy('id', 'desc').limit(1).executeTakeFirst()
  const state = [fetch?.id, await readLastRun(reader), await readStamp(reader), beside]
  return `"${createHash('sha256').update(JSON.stringify(state)).digest('base64url').slice(0, 22)}"`
}

/** Whether `If-None-Match` has a tag (RFC 9110, 13.1.2). Tags are weak, because a compressing proxy adds `W/`. */
export const matchesTag = (ifNoneMatch: string | undefined, etag: string): boolean =>
  (ifNoneMatch ?? '').split(',').some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, '')))
