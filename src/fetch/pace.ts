import PQueue from 'p-queue'
import type { Pace } from '../job/job.ts'

/** Lets calls out at a pace, and holds all of them when the service asks for it. */
export interface Gate {
  /** Runs a call when its turn has come: never more than `perSecond` in any second, nor more than `concurrency` at a time. */
  pass<T>(call: () => Promise<T>): Promise<T>
  /** Holds every call that has not begun for so long; a little longer by chance, so that not all wake at once. */
  hold(ms: number): void
  close(): void
}

export function createGate({ perSecond, concurrency }: Pick<Pace, 'perSecond' | 'concurrency'>): Gate {
  const queue = new PQueue({
    concurrency,
    // Less than one a second is one in a longer interval.
    interval: perSecond >= 1 ? 1000 : 1000 / perSecond,
    intervalCap: Math.max(1, Math.floor(perSecond)),
    strict: true,
  })
  let heldUntil = 0
  let timer: NodeJS.Timeout | undefined
  return {
    pass: (call) => queue.add(call),
    hold(ms) {
      const until = performance.now() + ms * (1 + Math.random() * 0.1)
      if (until <= heldUntil) return
      heldUntil = until
      queue.pause()
      clearTimeout(timer)
      timer = setTimeout(() => queue.start(), until - performance.now())
    },
    close() {
      clearTimeout(timer)
      queue.clear()
    },
  }
}

/**
 * Works through a list that may be endless, some at a time: the next element is only taken when there is room for it, so
 * that a plan of a million requests is never a million promises. Stops taking when `signal` is aborted; throws the first
 * error that a worker threw, after the others have finished.
 */
export async function feed<T>(
  items: Iterable<T>,
  concurrency: number,
  signal: AbortSignal,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = new PQueue({ concurrency })
  let failed = false
  let failure: unknown
  for (const item of items) {
    if (failed || signal.aborted) break
    queue
      .add(() => (failed ? Promise.resolve() : work(item)))
      .catch((error: unknown) => {
        if (!failed) failure = error
        failed = true
      })
    await queue.onSizeLessThan(1)
  }
  await queue.onIdle()
  if (failed) throw failure
}
