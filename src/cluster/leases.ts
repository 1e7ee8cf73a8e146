import { randomUUID } from 'node:crypto'
import type { Transaction } from 'kysely'
import { SignalError } from '../base/errors.ts'
import { createValidity } from '../base/time/validity.ts'
import { wait } from '../base/time/wait.ts'
import { coordinationOf, shared } from '../db/coordination.ts'
import { createAnswered, isSeriesUnknown } from '../db/queries/answered.ts'
import type { Store } from '../db/store.ts'
import { LapsedError } from '../fetch/turns.ts'
import { filteredGeos, type PlannedRequest } from '../job/plannedRequest.ts'
import { seriesIdOf } from '../load/storedSeries.ts'
import type { Leased } from '../pipeline.ts'
import { withWindow } from '../plan/resolution.ts'
import { type GeoGroup, groupHoles } from '../plan/series/groups.ts'
import type { Database } from '../tables/schema.ts'

/** The holder of a lease: a unique name, and the last answer (_fetch.id) that its plan knew of. */
export interface LeaseHolder {
  readonly id: string
  readonly after: number
  /** Holders in whose place it is: nothing that they still get is recorded, so their leases end with its own. */
  readonly replaces?: readonly string[]
}

/** Leases (`_asking`) on intervals of series, and on requests that have none (listings, a series at one instant): while a process requests one, no other process requests any part of it. */
export interface Leases {
  /**
   * Takes the lease for a request and returns what no answer has brought since it was planned: all of it, some parts, or nothing.
   * Waits while another process has a lease on some of it: what that brings is not requested again.
   */
  acquire(holder: LeaseHolder, planned: PlannedRequest): Promise<readonly PlannedRequest[]>
  /** Throws LapsedError where the lease of a holder may have ended: others may have it, until it is acquired again. */
  check(holder: Pick<LeaseHolder, 'id'>): void
  /** Extends the leases for requests that are still in hand; one that has ended remains so. */
  renew(holders: readonly Pick<LeaseHolder, 'id'>[]): Promise<void>
  /** Releases the lease for a request: its answer is recorded, or nobody requests it any more. */
  release(holder: Pick<LeaseHolder, 'id'>): Promise<void>
}

/** Milliseconds that a lease lasts without being renewed: by then its process is dead. */
const LEASE_MS = 15_000
/** Milliseconds for which a process takes a lease for valid after it was renewed. */
const VALID_LEASE_MS = LEASE_MS - 3_000
/** A lease with less left is not renewed any more, but taken again: a message takes a while. */
const LEAST_LEFT_MS = 1_000
/** How often to look whether the lease of another process has ended. */
const POLL_MS = 300

/** What is left of a request, and when that was asked for by the clock of this process. */
interface Acquired {
  readonly left: readonly PlannedRequest[]
  readonly askedAt: number
}

/**
 * What later answers left of a request: each part of its window for those of its geos that miss it; nothing where one said that
 * the service does not know the series, as in a run of one process.
 */
async function leftOf(
  tx: Transaction<Database>,
  planned: PlannedRequest,
  seriesId: number | null,
  after: number,
): Promise<readonly PlannedRequest[]> {
  if (seriesId !== null && (await isSeriesUnknown(tx, after, seriesId))) return []
  const { window, request, params } = planned
  const geos = filteredGeos(planned)
  const left = await createAnswered(
    tx,
    false,
  )({ fetchId: after, target: request.target, seriesId, window, geoIds: geos })
  if (left.length === 0) return []
  const groups = groupHoles(left.map(({ geoId, intervals }) => ({ geoId, holes: intervals })))
  const isWhole = ({ geoIds, holes: [first, ...others] }: GeoGroup): boolean =>
    geoIds.length === (geos?.length ?? 1) &&
    others.length === 0 &&
    first?.from === window?.from &&
    first?.to === window?.to
  if (!window || groups.every(isWhole)) return [planned]
  return groups.flatMap(({ geoIds, holes }) => {
    const some = geos === null ? planned : { ...planned, geoIds, params: { ...params, geo_ids: geoIds } }
    return holes.map((hole) => withWindow(some, hole))
  })
}

/** Keeps leases in the database, by its clock; `control` is the connection that does not wait until an answer is loaded. */
export function createLeases(store: Store, control: Store, signal: AbortSignal): Leases {
  const { clock, lockSeries } = coordinationOf(store)
  const validity = createValidity<string>(VALID_LEASE_MS)

  /** Whether another process has a lease on a part of the same window. */
  async function isLeased(tx: Transaction<Database>, seriesId: number, planned: PlannedRequest, at: number) {
    const geos = filteredGeos(planned)
    const others = await shared(tx)
      .selectFrom('_asking')
      .select('geo_ids')
      .where('series_id', '=', seriesId)
      .where('from_at', '<', planned.window!.to)
      .where('to_at', '>', planned.window!.from)
      .where('until_at', '>', at)
      .execute()
    return others.some(
      ({ geo_ids }) => geos === null || geo_ids === null || geo_ids.split(',').some((id) => geos.includes(Number(id))),
    )
  }

  /** Takes the lease on an interval of a series; false while another process has one on a part of it. */
  async function leaseInterval(
    tx: Transaction<Database>,
    { id }: LeaseHolder,
    seriesId: number,
    planned: PlannedRequest,
    at: number,
  ): Promise<boolean> {
    if (await isLeased(tx, seriesId, planned, at)) return false
    const { from, to } = planned.window!
    const lease = { series_id: seriesId, geo_ids: filteredGeos(planned)?.join(',') ?? null, from_at: from, to_at: to }
    await shared(tx)
      .insertInto('_asking')
      .values({ claim: id, until_at: at + LEASE_MS, ...lease })
      .execute()
    return true
  }

  /** Takes the lease on a path and query, in place of one that has ended; false while another process has it. */
  async function leaseTarget(
    tx: Transaction<Database>,
    { id }: LeaseHolder,
    { target }: PlannedRequest['request'],
    at: number,
  ): Promise<boolean> {
    const lease = { claim: id, until_at: at + LEASE_MS }
    const taken = await shared(tx)
      .insertInto('_asking')
      .values({ target, ...lease })
      .onConflict((of) => of.column('target').doUpdateSet(lease).where('_asking.until_at', '<=', at))
      .returning('claim')
      .executeTakeFirst()
    return taken !== undefined
  }

  /** Takes the lease and returns what is left to request; null while another process has a lease on some of it. */
  const tryAcquire = (holder: LeaseHolder, planned: PlannedRequest): Promise<Acquired | null> =>
    store.write(async (tx) => {
      const askedAt = performance.now()
      const at = await clock(tx)
      const seriesId = await seriesIdOf(tx, planned, at)
      const isInterval = seriesId !== null && planned.window !== null
      // The row of the series is locked while a process looks and takes the lease: of two, the second sees the lease of the first.
      if (isInterval) await lockSeries(tx, seriesId)
      // A process that waits has no lease, not even that of an attempt that died: two would wait for each other's.
      const forgetOwn = (): Promise<unknown> =>
        shared(tx)
          .deleteFrom('_asking')
          .where('claim', 'in', [holder.id, ...(holder.replaces ?? [])])
          .execute()
      await forgetOwn()
      const isOurs = isInterval
        ? await leaseInterval(tx, holder, seriesId, planned, at)
        : await leaseTarget(tx, holder, planned.request, at)
      if (!isOurs) return null
      const left = await leftOf(tx, planned, seriesId, holder.after)
      if (left.length === 0) await forgetOwn()
      return { left, askedAt }
    })

  return {
    async acquire(holder, planned) {
      validity.forget(holder.id)
      for (;;) {
        if (signal.aborted) throw new SignalError()
        const acquired = await tryAcquire(holder, planned)
        if (acquired) {
          validity.confirm(holder.id, acquired.askedAt)
          return acquired.left
        }
        await wait(POLL_MS * (0.5 + Math.random()), signal)
      }
    },
    check({ id }) {
      if (!validity.isValid(id)) throw new LapsedError()
    },
    async renew(holders) {
      // What has ended may be in other hands: it is acquired again, not renewed.
      const ids = holders.map(({ id }) => id).filter(validity.isValid)
      if (ids.length === 0) return
      const askedAt = performance.now()
      const claims = new Set(await coordinationOf(control).extendLeases(ids, LEASE_MS, LEAST_LEFT_MS))
      for (const id of ids)
        if (!claims.has(id)) validity.forget(id)
        else if (validity.isValid(id)) validity.confirm(id, askedAt)
    },
    async release({ id }) {
      validity.forget(id)
      await shared(control.kysely).deleteFrom('_asking').where('claim', '=', id).execute()
    },
  }
}

/** Repeats work as often as its lease lapses: it looks each time what is left. */
export async function retryLapsed<T>(work: () => Promise<T>): Promise<T> {
  for (;;)
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof LapsedError)) throw error
    }
}

/** Leases for a process that plans by itself: it renews those that it has; `after` is the last answer before it plans. */
export function createOwnLeases(leases: Leases, after: number): { readonly leased: Leased; close(): void } {
  const holders = new Set<LeaseHolder>()
  const renewing = setInterval(() => {
    // If the database does not answer, the next time does.
    leases.renew([...holders]).catch(() => undefined)
  }, LEASE_MS / 3)
  renewing.unref()
  return {
    async leased(planned, work) {
      const holder = { id: randomUUID(), after }
      holders.add(holder)
      try {
        return await retryLapsed(async () => work(await leases.acquire(holder, planned), () => leases.check(holder)))
      } finally {
        holders.delete(holder)
        // A lease that cannot be released now ends because nobody renews it.
        await leases.release(holder).catch(() => undefined)
      }
    },
    close: () => clearInterval(renewing),
  }
}
