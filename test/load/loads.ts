import { planRequest, SHAPES } from '../../bench/responses.ts'
import { rememberZone } from '../../src/db/queries/referenceTables.ts'
import { NO_ROWS, type Observations, type Reject } from '../../src/db/tables/rows.ts'
import type { PlannedRequest } from '../../src/job/plannedRequest.ts'
import { applyRows } from '../../src/load/apply.ts'
import { tempStore } from '../support/kit.ts'
import type { Store } from '../support/testStore.ts'

/* Loads replies of one series straight into a database, without requests. */

export interface SentValue {
  readonly geo: number
  readonly at: number
  readonly value?: number | null
}

/** A reply. By default it is for all geos and hours, and no value can be revised any more. */
export interface Sent {
  /** Null for a reply about one instant. */
  readonly window: { readonly from: number; readonly to: number } | null
  readonly values: readonly SentValue[]
  readonly fetchedAt: number
  readonly step?: number
  readonly isGuessed?: boolean
  readonly geoIds?: readonly number[]
  readonly reason?: PlannedRequest['reason']
  readonly settledBefore?: number
  /** Whether one of its values could not be read. */
  readonly hasReject?: boolean
}

const REJECT: Reject = { path: '$.indicator.values[0]', reason: 'not a number', fragment: null }

/** Creates a database with one series, whose days are counted in a zone. */
export async function storeWithSeries(zone: string): Promise<Store> {
  const store = await tempStore()
  await rememberZone(store.kysely, zone)
  store.run(`insert into indicator (kind, id, payload, first_seen_at) values ('indicator', 600, '{}', '')`, [])
  store.run(`insert into series (id, kind, indicator_id, time_zone, created_at) values (1, 'indicator', 600, ?, '')`, [
    zone,
  ])
  return store
}

/** Loads replies in this order, each with the next fetch id. Returns the counts of each. */
export async function loadReplies(store: Store, zone: string, replies: readonly Sent[], firstId = 1) {
  const counts = []
  for (const [n, sent] of replies.entries()) {
    const rows = [...sent.values].sort((a, b) => a.geo - b.geo || a.at - b.at)
    const observations: Observations = {
      geoIds: rows.map(({ geo }) => geo),
      at: rows.map(({ at }) => at),
      values: rows.map(({ value = 1 }) => value),
      steps: sent.step ?? 3600,
      ...(sent.isGuessed ? { isStepGuessed: true } : {}),
    }
    const planned: PlannedRequest = {
      ...planRequest(0, SHAPES.small),
      window: sent.window,
      timeZone: zone,
      reason: sent.reason ?? 'missing',
      geoIds: sent.window ? (sent.geoIds ?? [0]) : [],
      settledBefore: sent.settledBefore ?? sent.fetchedAt,
    }
    const reply = {
      fetchId: firstId + n,
      seriesId: 1,
      planned,
      recordedMs: sent.fetchedAt * 1000,
      outcome: 'ok' as const,
      rows: { ...NO_ROWS, observations, isEmpty: rows.length === 0, rejects: sent.hasReject ? [REJECT] : [] },
    }
    counts.push((await store.write((tx) => applyRows(tx, store.engine, reply))).counts)
  }
  return counts
}
