import type { Reply } from '../api/reply.ts'
import { ShapeError, type SyncError } from '../base/errors.ts'
import type { Store } from '../db/open.ts'
import type { Ask } from '../job/ask.ts'
import type { Reject, Rows } from '../tables/rows.ts'
import { applyRows } from './apply.ts'
import { type PackedReply, packReply } from './packer.ts'
import { quarantine } from './quarantine.ts'
import { dropEarlier, keepReply, outcomeOf, recordFetch } from './record.ts'
import { type Counts, countRun, NO_COUNTS } from './run.ts'
import { seriesIdOf } from './series.ts'

/** Where and when something is loaded. */
export interface Loading {
  readonly store: Store
  readonly runId: number
  /** Whether the body of the reply stays in the database. */
  readonly keep: 'all' | 'latest' | 'none'
  /** Epoch milliseconds. */
  readonly now: () => number
}

/** What a reply says, and its body for the tape where it was packed already. */
export interface Said {
  readonly rows: Rows
  readonly packed?: PackedReply | undefined
}

/**
 * Writes a reply and all it means in one transaction: its rows, the versions they supersede, what is held now, the
 * record of the request, the body, and the run's counters. Afterwards the file is before or after the reply, never between.
 */
export async function load(
  { store, runId, keep, now }: Loading,
  ask: Ask,
  reply: Reply,
  { rows, packed }: Said,
): Promise<Counts> {
  const { rejects } = rows
  const taped = keep === 'none' && rejects.length === 0 ? null : (packed ?? packReply(reply.body))
  return store.write(async () => {
    const ms = now()
    const seriesId = seriesIdOf(store, ask, ms)
    if (taped) keepReply(store, taped, reply.body.length, ms)
    const hash = taped?.hash ?? null
    const fetchId = recordFetch(store, { runId, ask, seriesId, outcome: 'ok', reply, hash, ms })
    if (keep === 'latest' && hash !== null) dropEarlier(store, ask.request.target, fetchId, hash)
    const applied = applyRows(store, { fetchId, seriesId, ask, rows, ms })
    quarantine(store, { fetchId, runId, ms }, rejects)
    const counts: Counts = {
      ...NO_COUNTS,
      requests: 1,
      bytes: reply.body.length,
      rows_new: applied.fresh,
      rows_unchanged: applied.unchanged,
      rows_revised: applied.revised,
      rows_withdrawn: applied.withdrawn,
      rows_rejected: rejects.length,
    }
    countRun(store, runId, counts)
    return counts
  })
}

/** A change of resolution: the first instant with the new step, and that step in seconds. */
export interface Change {
  readonly at: number
  readonly step: number
}

/** Records an answer that spans a change of resolution, and the change: its body is kept, none of its rows is believed. */
export async function loadCoarse(
  { store, runId, now }: Loading,
  ask: Ask,
  reply: Reply,
  change: Change,
  packed = packReply(reply.body),
): Promise<Counts> {
  return store.write(async () => {
    const ms = now()
    const seriesId = seriesIdOf(store, ask, ms)
    keepReply(store, packed, reply.body.length, ms)
    const { hash } = packed
    recordFetch(store, { runId, ask, seriesId, outcome: 'coarse', reply, hash, ms })
    store.run('insert into _resolution (series_id, from_at, step_s) values (?, ?, ?) on conflict do nothing', [
      seriesId,
      change.at,
      change.step,
    ])
    const counts: Counts = { ...NO_COUNTS, requests: 1, bytes: reply.body.length }
    countRun(store, runId, counts)
    return counts
  })
}

/** Records a request that failed for good, with its reply when one came; what could not be read of a body is quarantined. */
export async function loadFailure(
  { store, runId, now }: Loading,
  ask: Ask,
  error: SyncError,
  reply: Reply | null,
  rejects: readonly Reject[] = [],
): Promise<Counts> {
  const misread = reply !== null && error instanceof ShapeError
  const packed = misread ? packReply(reply.body) : null
  return store.write(async () => {
    const ms = now()
    const seriesId = seriesIdOf(store, ask, ms)
    if (packed) keepReply(store, packed, reply?.body.length ?? 0, ms)
    const hash = packed?.hash ?? null
    const evidence = reply ? reply.body.subarray(0, 2_048).toString('utf8') : null
    const fetchId = recordFetch(store, {
      ...{ runId, ask, seriesId, outcome: outcomeOf(error), reply, hash, ms, error, evidence },
    })
    const whole = misread ? [{ path: error.path, reason: error.message, fragment: evidence }] : []
    const kept = rejects.length > 0 ? rejects : whole
    quarantine(store, { fetchId, runId, ms }, kept)
    const counts: Counts = {
      ...NO_COUNTS,
      requests: 1,
      failed: 1,
      bytes: reply?.body.length ?? 0,
      rows_rejected: kept.length,
    }
    countRun(store, runId, counts)
    return counts
  })
}
