import type { Instant } from '../base/instant.ts'
import type { Interval } from '../base/interval.ts'
import type { Form, Packed } from '../base/pack.ts'
import type { Reader } from '../db/open.ts'
import { ALL_GEOS, type PlannedRequest } from '../job/plannedRequest.ts'
import type { AnyParams, Locale, RouteName } from '../services/routes.ts'
import type { Service } from '../services/service.ts'
import { identityOf } from './coverage.ts'

/** One reply of the reply store: what was asked, what came, and how it was recorded. */
export interface StoredReply {
  readonly fetchId: number
  readonly runId: number
  readonly seriesId: number | null
  readonly outcome: string
  /** What a coarse answer left in doubt. */
  readonly doubts: readonly Interval[]
  readonly planned: PlannedRequest
  /** The body, and its bytes once it is unpacked. */
  readonly packed: Packed
  readonly size: number
  /** When it was recorded (UTC, ISO 8601 to the millisecond). */
  readonly recordedAt: string
}

interface TapedRow {
  readonly fetchId: number
  readonly runId: number
  readonly entry: string
  readonly route: RouteName
  readonly target: string
  readonly params: string
  readonly asked: string | null
  readonly from_at: Instant | null
  readonly to_at: Instant | null
  readonly settled_before: Instant | null
  readonly lookback: number | null
  readonly zone: string | null
  readonly complete: 0 | 1 | null
  readonly outcome: string
  readonly doubts: string | null
  readonly recordedAt: string
  readonly packed: Buffer
  readonly form: Form
  readonly size: number
  readonly seriesId: number | null
}

/** Outcomes whose replies became rows, or may become some when they are read again. */
const READABLE = `('ok', 'empty', 'shape')`

/** The ask of a recorded request, with all that is needed to read its answer again. */
function askOf(row: TapedRow, service: Service): PlannedRequest {
  const params = JSON.parse(row.params) as AnyParams
  const window = row.from_at === null || row.to_at === null ? null : { from: row.from_at, to: row.to_at }
  const series = row.seriesId === null ? null : identityOf(row as unknown as Parameters<typeof identityOf>[0])
  return {
    where: row.entry,
    route: row.route,
    params,
    request: { route: row.route, target: row.target, headers: {} },
    locale: (params.locale as Locale | undefined) ?? service.locales[0],
    reason: 'retry',
    series,
    geoIds: row.asked === null ? (window || !series ? [ALL_GEOS] : []) : row.asked.split(',').map(Number),
    window,
    settledBefore: row.settled_before ?? window?.from ?? 0,
    lookbackS: row.lookback,
    timeZone: row.zone ?? service.timeZone,
    service,
    complete: row.complete === 1,
  }
}

/** The replies of the reply store in the order in which they were loaded; those with something open in quarantine only, if so asked. */
export function* readReplies(
  db: Reader,
  service: Service,
  only: 'all' | 'quarantined' = 'all',
): Generator<StoredReply> {
  const rows = db.each(
    `select f.id as "fetchId", f.run_id as "runId", f.entry, f.route, f.target, f.params, f.geo_ids as asked, f.from_at,
       f.to_at, f.settled_before, f.lookback_s as lookback, coalesce(f.time_zone, s.time_zone) as zone, f.complete, f.outcome, f.doubts,
       f.finished_at as "recordedAt", r.body as packed, r.form, r.bytes as size, s.id as "seriesId", s.kind, s.indicator_id, s.time_trunc,
       s.time_agg, s.geo_agg, s.geo_trunc, s.geo_ids
     from _fetch f join _reply r on r.hash = f.reply_hash left join series s on s.id = f.series_id
     where (f.outcome in ${READABLE} or f.doubts is not null)
       ${only === 'all' ? '' : 'and exists (select 1 from _quarantine q where q.fetch_id = f.id and q.resolved_at is null)'}
     order by f.id`,
  ) as IterableIterator<TapedRow>
  for (const row of rows)
    yield {
      fetchId: row.fetchId,
      runId: row.runId,
      seriesId: row.seriesId,
      outcome: row.outcome,
      doubts: row.doubts === null ? [] : JSON.parse(row.doubts),
      planned: askOf(row, service),
      packed: { form: row.form, bytes: row.packed },
      size: row.size,
      recordedAt: row.recordedAt,
    }
}

/** How much of what was answered lies in the reply store. */
export interface ReplyStoreState {
  /** Bodies; equal ones are kept once. */
  readonly bodies: number
  /** Bytes in the database. */
  readonly packed_bytes: number
  /** Bytes of the bodies as they came, decoded. */
  readonly bytes: number
  /** When the oldest body first came; null when there is none. */
  readonly since: string | null
  /** Answers that brought rows and whose body was not kept: without them a database cannot be rebuilt. */
  readonly missing: number
}

/** Measures the reply store. */
export const replyStoreState = (db: Reader): ReplyStoreState =>
  (
    db.all(`select count(*) as bodies, coalesce(sum(length(body)), 0) as packed_bytes, coalesce(sum(bytes), 0) as bytes,
      min(first_seen_at) as since,
      (select count(*) from _fetch f where f.outcome in ('ok', 'empty')
         and not exists (select 1 from _reply r where r.hash = f.reply_hash)) as missing
    from _reply`) as ReplyStoreState[]
  )[0]!
