import { setTimeout as sleep } from 'node:timers/promises'
import type { Transaction } from 'kysely'
import { stoppedBySignal } from '../base/stopped.ts'
import { merge } from '../base/time/interval.ts'
import { createAnswered } from '../db/queries/answered.ts'
import { databaseClock, shared } from '../db/shared.ts'
import type { Store } from '../db/store.ts'
import { ALL_GEOS, type PlannedRequest } from '../job/plannedRequest.ts'
import { seriesIdOf } from '../load/series.ts'
import { withWindow } from '../plan/resolution.ts'
import type { Database } from '../tables/schema.ts'
import type { Ask } from './ask.ts'
import type { Claim } from './queue.ts'

/** What the workers of a database are asking for at this moment, so that no two ask for the same interval of a series. */
export interface Asking {
  /**
   * What no answer has brought since a request was planned: all of it, some parts, or nothing. Waits while another worker asks for
   * some of it: what that brings is not asked again.
   */
  begin(claim: Claim<Ask>, planned: PlannedRequest): Promise<readonly PlannedRequest[]>
  /** Extends the marks of requests that are still being asked. */
  renew(claims: readonly Claim<Ask>[]): Promise<void>
  /** Removes the mark of a request: its answer is recorded, or nobody asks for it any more. */
  end(claim: Claim<Ask>): Promise<void>
}

/** The mark of a worker that has not extended it for so long does not count: that worker is dead. */
const ALIVE_MS = 30_000
/** How often to look whether another worker has ended. */
const LOOK_MS = 300

/** The geos of a request; null for all. */
const geosOf = ({ geoIds }: PlannedRequest): readonly number[] | null =>
  geoIds.length === 0 || geoIds.includes(ALL_GEOS) ? null : geoIds

/** What later answers left of a request. */
async function leftOf(
  tx: Transaction<Database>,
  planned: PlannedRequest,
  seriesId: number | null,
  after: number,
): Promise<readonly PlannedRequest[]> {
  const { window, request } = planned
  const left = await createAnswered(
    tx,
    false,
  )({ ...{ fetchId: after, target: request.target, seriesId, window }, geoIds: geosOf(planned) })
  if (left.length === 0) return []
  const intervals = merge(left.flatMap((one) => one.intervals))
  const [first] = intervals
  if (!window || !first || (intervals.length === 1 && first.from === window.from && first.to === window.to))
    return [planned]
  return intervals.map((interval) => withWindow(planned.service, planned, interval))
}

/** Keeps in the database what each worker asks for, by the clock of the database. */
export function createAsking(store: Store, signs: Store, signal: AbortSignal): Asking {
  /** Whether another worker asks for a part of the same window at this moment. */
  async function isAsked(
    tx: Transaction<Database>,
    claim: string,
    seriesId: number,
    planned: PlannedRequest,
    at: number,
  ) {
    const geos = geosOf(planned)
    const others = await shared(tx)
      .selectFrom('_asking')
      .select('geo_ids')
      .where('series_id', '=', seriesId)
      .where('claim', '!=', claim)
      .where('from_at', '<', planned.window!.to)
      .where('to_at', '>', planned.window!.from)
      .where('until_at', '>', at)
      .execute()
    return others.some(
      ({ geo_ids }) => geos === null || geo_ids === null || geo_ids.split(',').some((id) => geos.includes(Number(id))),
    )
  }

  /** What is left to ask, marked as being asked; null while another one asks for some of it. */
  const tryBegin = (claim: Claim<Ask>, planned: PlannedRequest): Promise<readonly PlannedRequest[] | null> =>
    store.write(async (tx) => {
      const at = await databaseClock(shared(tx))
      const seriesId = await seriesIdOf(tx, planned, at)
      const { window } = planned
      if (seriesId === null || !window) return leftOf(tx, planned, seriesId, claim.data.after)
      // The row of the series is locked while one looks and marks: of two workers, the second sees the mark of the first.
      await tx.selectFrom('series').select('id').where('id', '=', seriesId).forNoKeyUpdate().execute()
      if (await isAsked(tx, claim.id, seriesId, planned, at)) return null
      const left = await leftOf(tx, planned, seriesId, claim.data.after)
      if (left.length === 0) return left
      const mark = {
        ...{ series_id: seriesId, geo_ids: geosOf(planned)?.join(',') ?? null },
        ...{ from_at: window.from, to_at: window.to, until_at: at + ALIVE_MS },
      }
      await shared(tx)
        .insertInto('_asking')
        .values({ claim: claim.id, ...mark })
        .onConflict((conflict) => conflict.column('claim').doUpdateSet(mark))
        .execute()
      return left
    })

  return {
    async begin(claim, planned) {
      for (;;) {
        if (signal.aborted) throw stoppedBySignal()
        const left = await tryBegin(claim, planned)
        if (left) return left
        await sleep(LOOK_MS * (0.5 + Math.random()), undefined, { signal }).catch((cause) => {
          throw stoppedBySignal(cause)
        })
      }
    },
    async renew(claims) {
      if (claims.length === 0) return
      await shared(signs.kysely)
        .updateTable('_asking')
        .set({ until_at: (await databaseClock(shared(signs.kysely))) + ALIVE_MS })
        .where(
          'claim',
          'in',
          claims.map(({ id }) => id),
        )
        .execute()
    },
    async end({ id }) {
      await shared(signs.kysely).deleteFrom('_asking').where('claim', '=', id).execute()
    },
  }
}
