import { setTimeout as sleep } from 'node:timers/promises'
import { SignalError } from '../base/errors.ts'
import { orSignal, wait } from '../base/time/wait.ts'
import type { Store } from '../db/store.ts'
import { BREAKER, type BreakerOptions, createBreaker } from '../fetch/breaker.ts'
import {
  type CheckLease,
  LapsedError,
  MAX_WAIT_MS,
  NotNowError,
  type OnSend,
  type Turns,
  tooLong,
} from '../fetch/turns.ts'
import type { Pace } from '../job/job.ts'
import {
  ALIVE_MS,
  forgetCall,
  giveBack,
  isPaused,
  LATE_MS,
  recordAnswer,
  recordFailedCall,
  renewCalls,
  reserveTurn,
  TURN_POLL_MS,
} from './hostTurns.ts'

/**
 * Milliseconds by which a turn is reserved before it begins, at first, at least and at most: a message to the database and back, and
 * a new connection to the service.
 */
const FIRST_LEAD_MS = 200
const LEAST_LEAD_MS = 5
const MOST_LEAD_MS = 2_000
/** Milliseconds that whoever ends waits for a reservation under way, to give it back. */
const ABANDONED_MS = 1_000
/** Milliseconds before a turn at which a connection is opened where there is none: it takes longer than a turn lasts. */
const OPENING_MS = 1_000

/** A turn that is ours; when it was asked for and when it begins by the clock of this process. */
interface Reserved {
  readonly askedAt: number
  readonly id: number
  readonly begins: number
  readonly beginsAt: number
}

/** What a process needs to take turns with all others that call a host. */
export interface SharedTurnsOptions {
  readonly store: Store
  readonly pace: Pace
  readonly signal: AbortSignal
  readonly breaker?: BreakerOptions | undefined
  /** Whether a host that keeps failing ends the run. Workers wait for it instead. */
  readonly givesUp?: boolean
  readonly onPause?: ((ms: number, reason: string) => void) | undefined
}

/**
 * The turns of all processes that share a database. A call reserves its beginning in the row of its host, by the clock of the
 * database, and spends its budget in the same transaction, which is one round trip. No two calls begin nearer than the pace allows, whichever process
 * they come from; one that could not be sent within its turn, or whose host asked for a pause meanwhile, waits for another. A
 * process that dies wastes the turn that it had, and adds none.
 */
export function createSharedTurns({
  store,
  pace,
  signal,
  breaker = BREAKER,
  givesUp = false,
  onPause,
}: SharedTurnsOptions): Turns {
  // The pauses are those of the host, whoever failed; giving up is judged by the calls of this process.
  const own = givesUp ? createBreaker(breaker) : undefined
  // Milliseconds that it takes until a request can be sent: a turn that begins earlier would be over by then.
  let lead = FIRST_LEAD_MS
  // Milliseconds before a turn at which to look whether a pause began since it was reserved: twice as long as that takes on average.
  let lookLead = FIRST_LEAD_MS
  const calls = new Set<number>()
  /** Reservations that nobody waits for any more: what they bring is given back. */
  const abandoned = new Set<Promise<unknown>>()

  const waitFor = async (ms: number): Promise<void> => {
    if (ms > 0) await wait(ms, signal)
  }

  /** Forgets a call. Where that cannot be written, the call counts as over after a while. */
  const forget = async (id: number): Promise<void> => {
    calls.delete(id)
    await forgetCall(store, id).catch(() => undefined)
  }

  /** Gives back what a reservation brings that comes too late. */
  function abandon(host: string, reserving: ReturnType<typeof reserveTurn>): void {
    const over = reserving
      .then(async (found) => {
        if (!('id' in found)) return
        await giveBack(store, host, found.begins)
        await forget(found.id)
      })
      .catch(() => undefined)
      .finally(() => abandoned.delete(over))
    abandoned.add(over)
  }

  /** Reserves a turn as soon as there is one. */
  async function reserved(host: string, checkLease?: CheckLease): Promise<Reserved> {
    let reported = false
    for (;;) {
      if (signal.aborted) throw new SignalError()
      checkLease?.()
      const began = performance.now()
      const reserving = reserveTurn(store, host, pace, lead)
      const found = await orSignal(reserving, signal).catch((error: unknown) => {
        if (error instanceof SignalError) abandon(host, reserving)
        throw error
      })
      if ('id' in found) {
        calls.add(found.id)
        return { ...found, askedAt: began, beginsAt: began + found.beginsIn }
      }
      if (found.paused && found.askIn > MAX_WAIT_MS) throw tooLong(found.askIn)
      if (found.paused && !reported) onPause?.(found.askIn, 'all calls to the host are paused')
      reported ||= found.paused
      // A random bit longer, so that not all wake at once.
      const more = found.paused ? found.askIn * Math.random() * 0.1 : 0
      await waitFor(found.askIn + more + Math.random() * TURN_POLL_MS)
    }
  }

  // Only the first call that waits in a process asks for a turn: those behind it would only make the turn late.
  let row: Promise<unknown> = Promise.resolve()
  const inRow = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = row.then(work)
    row = mine.catch(() => undefined)
    return mine
  }

  /** Throws NotNowError where a turn, by now, lies in a pause. */
  async function look(host: string, { begins }: Reserved): Promise<void> {
    const began = performance.now()
    // Where the database does not answer, asking for another turn tells what follows.
    if (await isPaused(store, host, begins).catch(() => true)) throw new NotNowError()
    lookLead = Math.min(MOST_LEAD_MS, lookLead / 2 + (performance.now() - began))
  }

  /** Makes a call within its turn. Throws NotNowError where it was too late for that, or all calls are paused by now. */
  async function within<T>(
    host: string,
    turn: Reserved,
    call: (onSend: OnSend) => Promise<T>,
    checkLease?: CheckLease,
  ): Promise<T> {
    const { askedAt, beginsAt } = turn
    const late = (): number => performance.now() - beginsAt
    await waitFor(-OPENING_MS - late())
    if (late() < 0)
      // Everything but the sending: what is done once, and a connection, take longer than a turn lasts.
      try {
        return await call(() => {
          throw new NotNowError()
        })
      } catch (error) {
        if (!(error instanceof NotNowError)) throw error
      }
    if (beginsAt - lookLead > askedAt) {
      await waitFor(-lookLead - late())
      await look(host, turn)
    }
    await waitFor(-late())
    return call(() => {
      const ms = late()
      const isLate = ms > LATE_MS
      lead = isLate ? Math.min(MOST_LEAD_MS, Math.max(lead * 2, ms)) : Math.max(LEAST_LEAD_MS, lead * 0.9)
      if (isLate) throw new NotNowError()
      checkLease?.()
    })
  }

  const renew = setInterval(() => {
    if (calls.size > 0) renewCalls(store, calls).catch(() => undefined)
  }, ALIVE_MS / 3)
  renew.unref()

  return {
    async pass(host, call, checkLease) {
      for (;;) {
        const turn = await inRow(() => reserved(host, checkLease))
        try {
          return await within(host, turn, call, checkLease)
        } catch (error) {
          if (!(error instanceof NotNowError)) throw error
          await giveBack(store, host, turn.begins).catch(() => undefined)
          if (error instanceof LapsedError) throw error
        } finally {
          await forget(turn.id)
        }
      }
    },
    async report(host, result) {
      const { what, waitMs, isUnreachable = false } = result
      if (what !== 'failed') own?.alive()
      if (what !== 'failed' && waitMs <= 0) {
        await recordAnswer(store, host, what === 'good', pace)
        return { pauseMs: 0, giveUp: false }
      }
      const giveUp = what === 'failed' && own !== undefined && own.failed(isUnreachable) === undefined
      return { pauseMs: await recordFailedCall(store, host, result, breaker), giveUp }
    },
    async close() {
      clearInterval(renew)
      for (const id of calls) await forget(id)
      await Promise.race([Promise.all(abandoned), sleep(ABANDONED_MS, undefined, { ref: false })])
    },
  }
}
