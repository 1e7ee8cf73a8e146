import PQueue from 'p-queue'
import { SignalError } from '../base/errors.ts'
import type { Pace } from '../job/job.ts'

/** Timers cannot run for more milliseconds. */
const LONGEST_TIMER = 2 ** 31 - 1

/** Lets calls out at a pace, and pauses all of them when the service asks for it. */
export interface Gate {
  /**
   * Runs a call when its turn has come: never more than `perSecond` are sent in any second, whatever delays them. The call must say
   * when it is sent; one that ends without that counts at its end. Throws SignalError when the signal comes before its turn.
   */
  pass<T>(call: (onSend: () => void) => Promise<T>): Promise<T>
  /** Pauses every call that has not begun for this long; a random bit longer, so that not all begin at once. */
  pause(ms: number): void
  /** Called after a good answer: one more request may be under way at once. */
  faster(): void
  /** Called when the service is overloaded: half as many may be under way at once. */
  slower(): void
  close(): void
}

/** The whole calls of a second, and the milliseconds that they take: at 1.9 a second, one call in 526. */
export function paceWindow({ perSecond }: Pick<Pace, 'perSecond'>): { readonly calls: number; readonly ms: number } {
  const calls = Math.max(1, Math.floor(perSecond))
  return { calls, ms: (1000 * calls) / perSecond }
}

/**
 * Concurrency begins at one, so that a wrong key costs one request, and then adapts: additive increase, multiplicative
 * decrease (Chiu and Jain, 1989), never beyond the job's own limit. An aborted signal ends every pause and every wait.
 * `recentCalls`: milliseconds since the calls of earlier runs that still count.
 */
export function createGate(
  pace: Pick<Pace, 'perSecond' | 'concurrency'>,
  signal: AbortSignal,
  recentCalls: readonly number[] = [],
): Gate {
  const { calls, ms: windowMs } = paceWindow(pace)
  const queue = new PQueue({ concurrency: 1 })
  /** When the last calls were sent, in order, by a monotonic clock: setting back another clock would stop all calls. */
  const sent = recentCalls.map((ms) => performance.now() - ms).sort((a, b) => a - b)
  /** Calls that have begun and are not sent yet. Each keeps its place, so that those that were delayed are not sent all at once. */
  let unsent = 0
  let pausedUntil = 0
  let timer: NodeJS.Timeout | undefined
  /** Lets calls out from the instant at which the next one may begin. */
  const schedule = (): void => {
    clearTimeout(timer)
    if (signal.aborted) return
    const places = calls - unsent
    // Without a place, the next call waits until one of those is sent.
    if (places <= 0) return void queue.pause()
    const pacedUntil = sent.length < places ? 0 : sent.at(-places)! + windowMs
    const left = Math.max(pausedUntil, pacedUntil) - performance.now()
    if (left <= 0) return void queue.start()
    queue.pause()
    timer = setTimeout(schedule, Math.min(left, LONGEST_TIMER))
  }
  const count = (): void => {
    if (sent.push(performance.now()) > calls) sent.shift()
    schedule()
  }
  /** Runs a call that has its place until it is sent. */
  async function begin<T>(call: (onSend: () => void) => Promise<T>): Promise<T> {
    let isSent = false
    const onSend = (): void => {
      if (!isSent) unsent--
      isSent = true
      count()
    }
    unsent++
    schedule()
    try {
      return await call(onSend)
    } finally {
      if (!isSent) onSend()
    }
  }
  const stop = (): void => {
    clearTimeout(timer)
    // Calls that still wait for their turn are rejected.
    queue.clear()
    queue.start()
  }
  signal.addEventListener('abort', stop, { once: true })
  schedule()
  return {
    async pass(call) {
      if (signal.aborted) throw new SignalError(signal.reason)
      let begun = false
      try {
        return await queue.add(() => {
          begun = true
          return begin(call)
        })
      } catch (error) {
        if (!begun && signal.aborted) throw new SignalError(error)
        throw error
      }
    },
    pause(ms) {
      const until = performance.now() + ms * (1 + Math.random() * 0.1)
      if (until <= pausedUntil || signal.aborted) return
      pausedUntil = until
      schedule()
    },
    faster: () => {
      if (queue.concurrency < pace.concurrency) queue.concurrency++
    },
    slower: () => {
      queue.concurrency = Math.max(1, Math.floor(queue.concurrency / 2))
    },
    close() {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
      queue.clear()
    },
  }
}
