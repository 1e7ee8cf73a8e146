import { setTimeout as sleep } from 'node:timers/promises'
import { SignalError } from '../errors.ts'
import { DAY_MS } from './instant.ts'

/** Waits. Throws SignalError if the signal is aborted earlier. */
export async function wait(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch((cause) => {
    throw new SignalError(cause)
  })
}

/** Longer waits are shortened to this: a wait of a century would make the database useless. */
export const MAX_ACCEPTED_WAIT_MS = DAY_MS
