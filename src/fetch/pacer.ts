import PQueue from 'p-queue'
import type { Store } from '../db/store.ts'
import type { Pace } from '../job/job.ts'
import { SignalError, SyncError } from '../util/errors.ts'
import { MINUTE_MS } from '../util/time/instant.ts'
import { wait } from '../util/time/wait.ts'
import { createBudgetError, recentCalls, spendCall } from './budget.ts'
import { parseHost } from './hosts.ts'
import { MAX_WAIT_MS, type OnPause } from './waits.ts'

/** Decides when the next call to a host may be sent. One process uses `createPacer`, a cluster `createSharedPacer`. */
export interface Pacer {
  /** Resolves when a call may be sent, and counts it. Throws BudgetError or StoppedError if none may be sent soon. */
  take(host: string, signal: AbortSignal): Promise<void>
  /** Delays all later calls by `ms` milliseconds; a shared pacer delays only those to the host. */
  pause(host: string, ms: number): Promise<void>
  close?(): void
}

/** Opens the pacer of a run. */
export type OpenPacer = (pace: Pace, onPause?: OnPause) => Pacer

/** Whole calls within an interval in milliseconds: at 1.9 calls a second, one call in 526 ms. */
function paceWindow({ perSecond }: Pick<Pace, 'perSecond'>): { readonly calls: number; readonly ms: number } {
  const calls = Math.max(1, Math.floor(perSecond))
  return { calls, ms: (1000 * calls) / perSecond }
}

/**
 * Creates the pacer of one process: never more than `perSecond` calls in any second. `account` runs before each call, one at a time;
 * its errors end `take`. `recent`: milliseconds since calls of earlier processes that still count.
 */
export function createPacer(
  pace: Pick<Pace, 'perSecond'>,
  account: (host: string, signal: AbortSignal) => Promise<void> = async () => undefined,
  recent: readonly number[] = [],
): Pacer {
  const { calls, ms: interval } = paceWindow(pace)
  const inOrder = new PQueue({ concurrency: 1 })
  const starts = new PQueue({ interval, intervalCap: calls, strict: true })
  let pausedUntil = 0
  let timer: NodeJS.Timeout | undefined
  const pauseFor = (ms: number): void => {
    const until = performance.now() + ms
    if (until <= pausedUntil) return
    pausedUntil = until
    starts.pause()
    clearTimeout(timer)
    timer = setTimeout(() => starts.start(), ms)
  }
  // Calls of earlier processes count in the first interval. If they fill it, nothing starts before the last one is over.
  if (recent.length >= calls) pauseFor(interval - Math.min(...recent))
  else for (const _ of recent) void starts.add(() => undefined)
  return {
    async take(host, signal) {
      try {
        await inOrder.add(
          async () => {
            await account(host, signal)
            await starts.add(() => undefined, { signal })
          },
          { signal },
        )
      } catch (error) {
        throw signal.aborted && !(error instanceof SyncError) ? new SignalError(error) : error
      }
    },
    async pause(_host, ms) {
      // A random extra keeps processes that share a host from starting all at once.
      pauseFor(ms * (1 + Math.random() * 0.1))
    },
    close() {
      clearTimeout(timer)
      starts.clear()
      inOrder.clear()
    },
  }
}

/**
 * Opens the pacer of one process, with the budget and the latest calls in the database. A call waits for a spent limit if that is
 * soon; longer limits than a minute may delay a run by a quarter of an hour in all.
 */
export async function openPacer(
  { store, baseUrl, nowMs }: { readonly store: Store; readonly baseUrl: string; readonly nowMs: () => number },
  pace: Pace,
  onPause?: OnPause,
): Promise<Pacer> {
  let waitedMs = 0
  async function account(host: string, signal: AbortSignal): Promise<void> {
    for (;;) {
      const spent = await spendCall(store, host, pace, nowMs())
      if (!spent) return
      const { limit, freeMs } = spent
      const ms = Math.max(1, freeMs - nowMs())
      const error = createBudgetError(limit, freeMs)
      if (limit.ms > MINUTE_MS) waitedMs += ms
      if (Math.max(ms, waitedMs) > MAX_WAIT_MS) throw error
      onPause?.(ms, error.message)
      await wait(ms, signal)
    }
  }
  return createPacer(pace, account, await recentCalls(store, parseHost(baseUrl), paceWindow(pace), nowMs()))
}
