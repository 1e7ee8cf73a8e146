import { SILENT_MS } from '../../db/queries/workers.ts'

/** How often to look whether the database has been silent for too long. */
const POLL_MS = 1_000

/** Whether the database still answers a process that was asked to stop. */
export interface Silence {
  /** The database has answered. */
  heard(): void
  /** Ends when the database has not answered for a while since the process was asked to stop. */
  readonly tooLong: Promise<void>
  close(): void
}

/**
 * Watches for a database that says nothing while a process wants to end. What such a process has in hand is given to others as
 * soon as it lacks heartbeats, so it need not wait: a connection on which nothing comes can last for many minutes.
 */
export function watchSilence(signal: AbortSignal, limitMs = SILENT_MS): Silence {
  let since = performance.now()
  const heard = (): void => {
    since = performance.now()
  }
  signal.addEventListener('abort', heard)
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setInterval(() => {
    if (signal.aborted && performance.now() - since > limitMs) resolve()
  }, POLL_MS)
  return {
    heard,
    tooLong: promise,
    close() {
      clearInterval(timer)
      signal.removeEventListener('abort', heard)
    },
  }
}
