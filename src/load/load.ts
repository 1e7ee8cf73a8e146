import { zstdCompressSync } from 'node:zlib'
import type { Reply } from '../api/reply.ts'
import { KeyError, PassingError, RefusedError, ShapeError, type SyncError } from '../base/errors.ts'
import { formatMillis } from '../base/instant.ts'
import { canonical, sha256 } from '../base/json.ts'
import type { Store } from '../db/open.ts'
import { ALL_GEOS, type Ask } from '../job/ask.ts'
import type { Reject, Rows } from '../tables/rows.ts'
import { tableOf } from '../tables/schema.ts'
import { cover } from './coverage.ts'
import { markListing, replaceOwned } from './listing.ts'
import { upsertObservations, withdrawObservations } from './observations.ts'
import { type Counts, countRun, NO_COUNTS } from './run.ts'
import { seriesId } from './series.ts'
import { addWritten, NOTHING_WRITTEN, upsertRows } from './upsert.ts'

/** Where and when something is loaded. */
export interface Loading {
  readonly store: Store
  readonly runId: number
  /** Whether the body of the reply stays in the database. */
  readonly keep: 'all' | 'latest' | 'none'
  /** Epoch milliseconds. */
  readonly now: () => number
}

const KINDS = [
  [KeyError, 'key'],
  [RefusedError, 'refused'],
  [ShapeError, 'shape'],
  [PassingError, 'passing'],
] as const

/** The word under which a failure is recorded. */
export const outcomeOf = (error: SyncError): string => KINDS.find(([kind]) => error instanceof kind)?.[1] ?? 'failed'

const MAX_FRAGMENT = 4_096

function keepReply(store: Store, body: Buffer, now: string): string {
  const hash = sha256(body)
  if (store.get('select 1 from _reply where hash = ?', [hash]) === undefined)
    store.run('insert into _reply (hash, body, bytes, first_seen_at) values (?, ?, ?, ?)', [
      hash,
      zstdCompressSync(body),
      body.length,
      now,
    ])
  return hash
}

/** Drops the bodies of earlier answers to the same request, but for those that another request or the quarantine still needs. */
function dropEarlier(store: Store, target: string, fetchId: number, hash: string): void {
  store.run(
    `delete from _reply where hash <> ? and hash in (select reply_hash from _fetch where target = ? and id < ?)
       and not exists (select 1 from _fetch f where f.reply_hash = _reply.hash and f.target <> ?)
       and not exists (select 1 from _fetch f join _quarantine q on q.fetch_id = f.id where f.reply_hash = _reply.hash)`,
    [hash, target, fetchId, target],
  )
}

/** Opens the record of a request inside the transaction of its reply; what the rows did is added at its end. */
function recordFetch(
  { store, runId }: Loading,
  ask: Ask,
  series: number | null,
  outcome: string,
  {
    reply,
    hash,
    now,
    error,
    evidence,
  }: { reply: Reply | null; hash: string | null; now: string; error?: SyncError; evidence?: string | null },
): number {
  const sentAt = reply ? formatMillis(reply.sentAt) : now
  store.run(
    `insert into _fetch (run_id, entry, route, target, params, series_id, geo_ids, from_at, to_at, started_at, finished_at,
       outcome, status, attempts, ms, bytes, reply_hash, message, hint, evidence,
       rows_new, rows_unchanged, rows_revised, rows_withdrawn, rows_rejected, rows_outside)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, 0, 0, 0)`,
    [
      runId,
      ask.where,
      ask.route,
      ask.request.target,
      canonical(ask.params),
      series,
      ask.geoIds.length === 0 || ask.geoIds.includes(ALL_GEOS) ? null : ask.geoIds.join(','),
      ask.window?.from ?? null,
      ask.window?.to ?? null,
      sentAt,
      now,
      outcome,
      reply?.status ?? null,
      reply?.attempts ?? 0,
      Math.round(reply?.ms ?? 0),
      reply?.body.length ?? 0,
      hash,
      error?.message ?? null,
      error?.hint ?? null,
      evidence ?? null,
    ],
  )
  return store.get('select last_insert_rowid()') as number
}

function quarantine({ store, runId }: Loading, fetchId: number, rejects: readonly Reject[], now: string): void {
  for (const { path, reason, fragment } of rejects)
    store.run(
      'insert into _quarantine (run_id, fetch_id, path, reason, fragment, created_at) values (?, ?, ?, ?, ?, ?)',
      [runId, fetchId, path, reason, (canonical(fragment ?? null) ?? 'null').slice(0, MAX_FRAGMENT), now],
    )
}

/**
 * Writes a reply and all it means in one transaction: its rows, the versions they supersede, what is held now, the
 * record of the request, the body, and the run's counters. Afterwards the file is before or after the reply, never between.
 */
export async function load(loading: Loading, ask: Ask, reply: Reply, rows: Rows): Promise<Counts> {
  const { store, runId, keep } = loading
  return store.write(async () => {
    const ms = loading.now()
    const now = formatMillis(ms)
    const series = ask.series && seriesId(store, ask.series, ask.timeZone, now)
    const hash = keep === 'none' && rows.rejects.length === 0 ? null : keepReply(store, reply.body, now)
    const fetchId = recordFetch(loading, ask, series, rows.empty ? 'empty' : 'ok', { reply, hash, now })
    if (keep === 'latest' && hash !== null) dropEarlier(store, ask.request.target, fetchId, hash)
    let written = NOTHING_WRITTEN
    let withdrawn = 0
    const stamps = { fetch_id: fetchId, first_seen_at: now }
    for (const table of rows.tables) written = addWritten(written, upsertRows(store, table, stamps))
    for (const owned of rows.owned) {
      written = addWritten(written, upsertRows(store, owned, stamps))
      replaceOwned(store, owned, tableOf(owned.table).key)
    }
    if (rows.listing) withdrawn += markListing(store, rows.listing, now)
    if (rows.observations && series !== null) {
      const { observations } = rows
      written = addWritten(written, upsertObservations(store, series, fetchId, observations))
      for (const geoId of new Set(observations.geoIds))
        store.run('insert into series_geo (series_id, geo_id) values (?, ?) on conflict do nothing', [series, geoId])
      const sound = rows.rejects.length === 0
      if (ask.window && sound) withdrawn += withdrawObservations(store, series, fetchId, ask.window, observations)
      cover(store, series, ask, observations, Math.floor(ms / 1000), !sound)
    }
    quarantine(loading, fetchId, rows.rejects, now)
    const counts: Counts = {
      ...NO_COUNTS,
      requests: 1,
      bytes: reply.body.length,
      rows_new: written.fresh,
      rows_unchanged: written.unchanged,
      rows_revised: written.revised,
      rows_withdrawn: withdrawn,
      rows_rejected: rows.rejects.length,
    }
    store.run(
      `update _fetch set rows_new = ?, rows_unchanged = ?, rows_revised = ?, rows_withdrawn = ?, rows_rejected = ?,
         rows_outside = ?, step_s = ?, resolution_id = ?, source_updated_at = ? where id = ?`,
      [
        written.fresh,
        written.unchanged,
        written.revised,
        withdrawn,
        rows.rejects.length,
        rows.outside,
        rows.stepS,
        rows.resolutionId,
        rows.sourceUpdatedAt,
        fetchId,
      ],
    )
    countRun(store, runId, counts)
    return counts
  })
}

/** Records an answer that spans a change of resolution: its body is kept, none of its rows is believed. */
export async function loadCoarse(loading: Loading, ask: Ask, reply: Reply): Promise<Counts> {
  const { store, runId } = loading
  return store.write(async () => {
    const now = formatMillis(loading.now())
    const series = ask.series && seriesId(store, ask.series, ask.timeZone, now)
    recordFetch(loading, ask, series, 'coarse', { reply, hash: keepReply(store, reply.body, now), now })
    const counts: Counts = { ...NO_COUNTS, requests: 1, bytes: reply.body.length }
    countRun(store, runId, counts)
    return counts
  })
}

/** Remembers from when on a series has another step. */
export async function rememberChange({ store, now }: Loading, ask: Ask, at: number, step: number): Promise<void> {
  const { series, timeZone } = ask
  if (!series) return
  await store.write(async () => {
    const id = seriesId(store, series, timeZone, formatMillis(now()))
    store.run('insert into _resolution (series_id, from_at, step_s) values (?, ?, ?) on conflict do nothing', [
      id,
      at,
      step,
    ])
  })
}

/** Records a request that failed for good, with its reply when one came; a body that could not be read is quarantined. */
export async function loadFailure(loading: Loading, ask: Ask, error: SyncError, reply: Reply | null): Promise<Counts> {
  const { store, runId } = loading
  return store.write(async () => {
    const now = formatMillis(loading.now())
    const series = ask.series && seriesId(store, ask.series, ask.timeZone, now)
    const hash = reply && error instanceof ShapeError ? keepReply(store, reply.body, now) : null
    const evidence = reply ? reply.body.subarray(0, 2_048).toString('utf8') : null
    const fetchId = recordFetch(loading, ask, series, outcomeOf(error), { reply, hash, now, error, evidence })
    const rejects =
      reply && error instanceof ShapeError ? [{ path: error.path, reason: error.message, fragment: evidence }] : []
    quarantine(loading, fetchId, rejects, now)
    const counts: Counts = {
      ...NO_COUNTS,
      requests: 1,
      failed: 1,
      bytes: reply?.body.length ?? 0,
      rows_rejected: rejects.length,
    }
    countRun(store, runId, counts)
    return counts
  })
}
