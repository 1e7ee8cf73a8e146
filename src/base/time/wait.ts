import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { SignalError } from '../errors.ts'

/** Waits for so many milliseconds. Throws SignalError where the signal comes before they are over. */
export async function wait(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch((cause) => {
    throw new SignalError(cause)
  })
}

/** Waits for a result, but not for longer than until the signal comes: then it throws SignalError. */
export async function orSignal<T>(result: Promise<T>, signal: AbortSignal): Promise<T> {
  const over = new AbortController()
  const stopped = async (): Promise<never> => {
    await once(signal, 'abort', { signal: over.signal })
    throw new SignalError()
  }
  if (signal.aborted) throw new SignalError()
  try {
    return await Promise.race([result, stopped()])
  } finally {
    over.abort()
  }
}

/** Longer waits are cut down to this: a wait of a century would make the database useless. */
export const MAX_ACCEPTED_WAIT_MS = 24 * 60 * 60_000
