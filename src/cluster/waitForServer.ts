import { setTimeout as sleep } from 'node:timers/promises'
import { errorFields } from '../util/eventFields.ts'
import type { EmitEvent } from '../util/events.ts'
import { asSyncError } from '../util/systemErrors.ts'

/** Milliseconds between two attempts to connect. */
const RETRY_MS = 3_000
/** Codes of a server that is down, restarts or cannot be reached. A host name that does not exist is a mistake. */
const DOWN = [
  'econnrefused',
  'econnreset',
  'ehostunreach',
  'etimedout',
  'eai_again',
  'enoent',
  'epipe',
  'lost',
  '57p01',
  '57p02',
  '57p03',
]

/** Opens a database on a server. While the server is down, reports that once, and tries again. */
export async function waitForServer<T>(open: () => Promise<T>, emit: EmitEvent, command: string): Promise<T> {
  let since: number | null = null
  for (;;)
    try {
      const opened = await open()
      if (since !== null) emit('database.back', { command, ms: Math.round(performance.now() - since) })
      return opened
    } catch (thrown) {
      const error = asSyncError(thrown)
      if (!DOWN.includes(error.code.toLowerCase())) throw thrown
      if (since === null) emit('database.lost', { command, ...errorFields(error) })
      since ??= performance.now()
      await sleep(RETRY_MS)
    }
}
