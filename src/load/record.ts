import { KeyError, PermanentError, SchemaError, type SyncError, TransientError } from '../base/errors.ts'
import { formatMillis } from '../base/instant.ts'
import { canonical } from '../base/json.ts'
import type { Store } from '../db/open.ts'
import { ALL_GEOS, type PlannedRequest } from '../job/plannedRequest.ts'
import type { Reply } from '../services/reply.ts'
import type { PackedReply } from './packer.ts'

const KINDS = [
  [KeyError, 'key'],
  [PermanentError, 'refused'],
  [SchemaError, 'shape'],
  [TransientError, 'passing'],
] as const

/** The word under which a failure is recorded. */
export const outcomeOf = (error: SyncError): string => KINDS.find(([kind]) => error instanceof kind)?.[1] ?? 'failed'

/** Puts a body in the reply store, once however often it comes. */
export function keepReply(store: Store, { hash, form, bytes }: PackedReply, size: number, ms: number): void {
  if (store.get('select 1 from _reply where hash = ?', [hash]) !== undefined) return
  store.run('insert into _reply (hash, body, bytes, first_seen_at, form) values (?, ?, ?, ?, ?)', [
    hash,
    bytes,
    size,
    formatMillis(ms),
    form,
  ])
}

/** Drops the bodies of earlier answers to the same request, but for those that another request or the quarantine still needs. */
export function dropEarlier(store: Store, target: string, fetchId: number, hash: string): void {
  store.run(
    `delete from _reply where hash <> ? and hash in (select reply_hash from _fetch where target = ? and id < ?)
       and not exists (select 1 from _fetch f where f.reply_hash = _reply.hash and f.target <> ?)
       and not exists (select 1 from _fetch f join _quarantine q on q.fetch_id = f.id where f.reply_hash = _reply.hash)`,
    [hash, target, fetchId, target],
  )
}

/** What is recorded of a request beside what was asked. */
interface Record {
  readonly runId: number
  readonly planned: PlannedRequest
  readonly seriesId: number | null
  readonly outcome: string
  readonly reply: Reply | null
  readonly hash: string | null
  /** Epoch milliseconds. */
  readonly ms: number
  readonly error?: SyncError
  readonly evidence?: string | null
}

const COLUMNS = [
  ...[
    'run_id',
    'entry',
    'route',
    'target',
    'params',
    'series_id',
    'geo_ids',
    'from_at',
    'to_at',
    'settled_before',
    'lookback_s',
  ],
  ...['time_zone', 'complete', 'started_at', 'finished_at', 'outcome', 'status', 'attempts', 'ms', 'bytes'],
  ...['reply_hash', 'message', 'hint', 'evidence', 'reason'],
]
const COUNTERS = ['rows_new', 'rows_unchanged', 'rows_revised', 'rows_withdrawn', 'rows_rejected', 'rows_outside']
const INSERT = `insert into _fetch (${[...COLUMNS, ...COUNTERS]})
  values (${[...COLUMNS.map(() => '?'), ...COUNTERS.map(() => '0')]})`

/** Opens the record of a request inside the transaction of its reply, and answers its number; what the rows did is added by `applyRows`. */
export function recordFetch(store: Store, record: Record): number {
  const { planned, reply, error, ms } = record
  store.run(INSERT, [
    record.runId,
    planned.where,
    planned.route,
    planned.request.target,
    canonical(planned.params),
    record.seriesId,
    planned.geoIds.length === 0 || planned.geoIds.includes(ALL_GEOS) ? null : planned.geoIds.join(','),
    planned.window?.from ?? null,
    planned.window?.to ?? null,
    planned.settledBefore,
    planned.lookbackS,
    planned.timeZone,
    planned.complete ? 1 : 0,
    formatMillis(reply?.sentAt ?? ms),
    formatMillis(ms),
    record.outcome,
    // Without an answer there is no status.
    reply?.status || null,
    reply?.attempts ?? 0,
    Math.round(reply?.ms ?? 0),
    reply?.body.length ?? 0,
    record.hash,
    error?.message ?? null,
    error?.hint ?? null,
    record.evidence ?? null,
    planned.reason,
  ])
  return store.get('select last_insert_rowid()') as number
}
