import type { Changes } from '../store.ts'
import { connectAlone } from './connection/connection.ts'

/** Watches for what others write; each time it is asked, it tells what was found out since the time before. */
export function watchChanges(address: string): Changes {
  let known: string | undefined
  let changed = false
  let busy = false
  async function look(): Promise<void> {
    busy = true
    try {
      const client = await connectAlone(address)
      try {
        // Every transaction that writes takes a number.
        const { rows } = await client.query<{ number: string }>(
          'select pg_snapshot_xmax(pg_current_snapshot())::text as number',
        )
        const { number } = rows[0]!
        changed ||= known !== undefined && known !== number
        known = number
      } finally {
        await client.end()
      }
    } catch {
      // Whoever requests a page is told what is wrong with it.
    } finally {
      busy = false
    }
  }
  return {
    changed() {
      if (!busy) void look()
      const told = changed
      changed = false
      return told
    },
    close: () => undefined,
  }
}

let asked = 0
/** Nobody knows from outside whether something was written: each text is another one. */
export const stampOf = (): string => `${Date.now()} ${++asked}`
