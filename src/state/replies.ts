import type { InferResult, Kysely } from 'kysely'
import { prepareQuery } from '../db/prepared.ts'
import { GOOD_OUTCOMES } from '../db/queries/fetchOutcomes.ts'
import { IDENTITY_COLUMNS, type IdentityRow } from '../db/queries/seriesLookup.ts'
import type { Reader } from '../db/store.ts'
import { ALL_GEOS, FETCH_OUTCOMES } from '../db/tables/codes.ts'
import type { Database } from '../db/tables/schema.ts'
import { fromIdentityRow, type PlannedRequest, toRouteCall } from '../job/plannedRequest.ts'
import type { Locale } from '../service/routes.ts'
import type { Service } from '../service/service.ts'
import { parseNumbers } from '../util/json.ts'

/** Outcomes whose replies became rows, or may become rows if they are parsed again. */
const READABLE = [...FETCH_OUTCOMES.good, 'shape'] as const

/** Replies at a time: a body may be some megabytes. */
const REPLIES_PER_READ = 16

const selectReplies = (db: Kysely<Database>, after: { last: number }) =>
  db
    .selectFrom('_fetch as f')
    .innerJoin('_reply as r', 'r.hash', 'f.reply_hash')
    .leftJoin('series as s', 's.id', 'f.series_id')
    .select([
      'f.id as fetchId',
      'f.run_id as runId',
      'f.entry',
      'f.route',
      'f.target',
      'f.params',
      'f.geo_ids as requested',
      'f.from_at',
      'f.to_at',
      'f.settled_before',
      'f.lookback_s as lookback',
      'f.complete',
      'f.outcome',
      'f.finished_at as recordedAt',
      'r.body as compressed',
      'r.bytes as size',
      's.id as seriesId',
      ...IDENTITY_COLUMNS,
      ({ fn }) => fn.coalesce('f.time_zone', 's.time_zone').as('zone'),
    ])
    .where((eb) =>
      eb.or([eb('f.outcome', 'in', READABLE), eb.and([eb('f.outcome', '=', 'coarse'), eb('f.reason', '=', 'absent')])]),
    )
    .where('f.id', '>', after.last)
    .orderBy('f.id')
    .limit(REPLIES_PER_READ)

type StoredRow = InferResult<ReturnType<typeof selectReplies>>[number]

/**
 * A reply of the reply store, with its request. `size` is that of the body in bytes before compression; `recordedAt` is UTC to the
 * millisecond.
 */
export interface StoredReply
  extends Pick<StoredRow, 'fetchId' | 'runId' | 'seriesId' | 'outcome' | 'compressed' | 'size' | 'recordedAt'> {
  readonly planned: PlannedRequest
}

const nextReplies = prepareQuery(selectReplies)

/** Restores the planned request of a record, with all that is needed to parse its reply again. */
function readPlannedRequest(row: StoredRow, service: Service): PlannedRequest {
  const call = toRouteCall(row)
  const { params, window } = call
  const series = row.seriesId === null ? null : fromIdentityRow(row as IdentityRow)
  return {
    ...call,
    entryPath: row.entry,
    http: { route: row.route, target: row.target, headers: {} },
    locale: (params.locale as Locale | undefined) ?? service.locales[0],
    reason: 'retry',
    series,
    geoIds: parseNumbers(row.requested) ?? (window || !series ? [ALL_GEOS] : []),
    settledBefore: row.settled_before ?? window?.from ?? 0,
    lookbackS: row.lookback,
    timeZone: row.zone ?? service.timeZone,
    service,
    isUnfiltered: row.complete === 1,
  }
}

/** Yields stored replies in the order in which they were loaded. */
export async function* readReplies({ kysely }: Reader, service: Service): AsyncGenerator<StoredReply> {
  for (let last = 0; ; ) {
    const block = await nextReplies.all(kysely, { last })
    for (const row of block) {
      const { fetchId, runId, seriesId, outcome, compressed, size, recordedAt } = row
      const planned = readPlannedRequest(row, service)
      yield { fetchId, runId, seriesId, outcome, planned, compressed, size, recordedAt }
    }
    if (block.length < REPLIES_PER_READ) return
    last = block.at(-1)!.fetchId
  }
}

/** The size of the reply store. */
export interface ReplyStoreState {
  /** Number of bodies; equal ones are stored once. */
  readonly bodies: number
  /** Bytes in the database. */
  readonly packed_bytes: number
  /** Bytes of the decoded bodies. */
  readonly bytes: number
  /** When the oldest body was first received; null without any. */
  readonly since: string | null
  /** Replies with rows whose body is not stored: a database cannot be rebuilt without them. */
  readonly missing: number
}

/** Measures the reply store. */
export async function measureReplyStore({ kysely }: Reader): Promise<ReplyStoreState> {
  const bodies = await kysely
    .selectFrom('_reply')
    .select(({ fn, val }) => [
      fn.countAll<number>().as('bodies'),
      fn.coalesce(fn.sum<number>(fn('length', ['body'])), val(0)).as('packed_bytes'),
      fn.coalesce(fn.sum<number>('bytes'), val(0)).as('bytes'),
      fn.min('first_seen_at').as('since'),
    ])
    .executeTakeFirstOrThrow()
  const { missing } = await kysely
    .selectFrom('_fetch as f')
    .select(({ fn }) => fn.countAll<number>().as('missing'))
    .where('f.outcome', 'in', GOOD_OUTCOMES)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('_reply as r').select('r.hash').whereRef('r.hash', '=', 'f.reply_hash'))),
    )
    .executeTakeFirstOrThrow()
  return { ...bodies, missing }
}
