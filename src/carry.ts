import type { Reply } from './api/reply.ts'
import type { Service } from './api/services.ts'
import { neighboursOf } from './audit/neighbours.ts'
import { release } from './base/bytes.ts'
import { ShapeError, type SyncError } from './base/errors.ts'
import type { Interval } from './base/interval.ts'
import { type Fetcher, isTooLarge } from './fetch/fetch.ts'
import type { Ask } from './job/ask.ts'
import { type Loading, load, loadCoarse, loadFailure, type Said } from './load/load.ts'
import { addCounts, type Counts, NO_COUNTS } from './load/run.ts'
import type { Sizes } from './load/sizes.ts'
import { halfOf, piecesOf } from './plan/pieces.ts'
import { daysOf, findChange, looksCoarse, within } from './plan/resolution.ts'
import { read } from './read.ts'
import type { Rows } from './tables/rows.ts'

/** What happens to what cannot be understood: it is set aside, or the run ends. */
export interface RejectPolicy {
  /** `fail`: a reply with anything in it that cannot be understood is not loaded, only kept, and the run ends. */
  readonly onReject: 'quarantine' | 'fail'
  /** The run ends when more than these have gone to quarantine. */
  readonly maxRejects: number
}

/** What became of an ask. */
export interface Carried {
  readonly counts: Counts
  readonly error: SyncError | null
  /** The step of the answer, in seconds, where it has one. */
  readonly step: number | null
}

/** The two ends between which asks are carried. */
export interface River {
  readonly service: Service
  readonly fetcher: Fetcher
  readonly loading: Loading
  readonly sizes: Sizes
  readonly rejects: RejectPolicy
}

/** One ask's way through the river: fetched, transformed, loaded. What is too large for the service goes in smaller pieces. */
export async function carry(river: River, ask: Ask): Promise<Carried> {
  const { fetcher, loading, sizes } = river
  const pieces = piecesOf(ask, sizes.get(ask))
  if (pieces.length > 1) return carryPieces(river, ask, pieces)
  const halves = piecesOf(ask, halfOf(ask))
  const reply = await fetcher.fetch(ask.request, halves.length > 1)
  const failed = async (error: SyncError, last: Reply | null, rejects: Rows['rejects'] = []): Promise<Carried> => ({
    counts: await loadFailure(loading, ask, error, last, rejects),
    error,
    step: null,
  })
  if ('error' in reply) {
    if (!isTooLarge(reply.error) || halves.length < 2) return failed(reply.error, reply.reply)
    await sizes.shrink(ask)
    return carryPieces(river, ask, halves)
  }
  try {
    const said = await read(reply.body, ask, loading.keep !== 'none')
    const { rows } = said
    const [reject] = rows.rejects
    if (reject && river.rejects.onReject === 'fail')
      return await failed(new ShapeError(reject.reason, { path: reject.path }), reply, rows.rejects)
    if (looksCoarse(ask, rows, neighboursOf(loading.store, ask))) return await carryParts(river, ask, reply, said)
    const counts = await load(loading, ask, reply, said)
    await sizes.grow(ask, reply.ms)
    return { counts, error: null, step: rows.stepS }
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error
    return await failed(error, reply)
  } finally {
    release(reply.body)
  }
}

/** Carries the pieces of an ask one after the other. */
async function carryPieces(river: River, ask: Ask, pieces: readonly Interval[]): Promise<Carried> {
  let all: Carried = { counts: NO_COUNTS, error: null, step: null }
  for (const piece of pieces) {
    const { counts, error } = await carry(river, within(river.service, ask, piece))
    all = { ...all, counts: addCounts(all.counts, counts), error: all.error ?? error }
  }
  return all
}

/** An answer that spans a change of resolution is not loaded: the day of the change is found, remembered, and both sides are asked. */
async function carryParts(river: River, ask: Ask, reply: Reply, said: Said): Promise<Carried> {
  const { service, loading } = river
  let counts = NO_COUNTS
  let error: SyncError | null = null
  const part = async (window: Interval): Promise<Carried> => {
    const carried = await carry(river, within(service, ask, window))
    counts = addCounts(counts, carried.counts)
    error ??= carried.error
    return carried
  }
  const window = ask.window!
  const change = await findChange(daysOf(ask.timeZone, window), async (day) => (await part(day)).step)
  if (change) {
    counts = addCounts(counts, await loadCoarse(loading, ask, reply, change, said.packed))
    for (const side of [
      { from: window.from, to: change.at },
      { from: change.at, to: window.to },
    ])
      await part(side)
  } else if (error === null) {
    // Both ends are as coarse as the whole: the service has nothing finer here.
    counts = addCounts(counts, await load(loading, ask, reply, said))
  }
  return { counts, error, step: null }
}
