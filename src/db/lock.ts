import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { BusyError } from '../base/errors.ts'
import { formatMillis } from '../base/instant.ts'
import type { Store } from './open.ts'

/** How often the holder says that it lives, and after which silence it is taken for dead. */
const BEAT_MS = 5_000
const STALE_MS = 30_000

/** Whether a process of this machine still runs; unknown for another machine, and then its heart-beat decides. */
function isGone(pid: number, host: string): boolean {
  if (host !== hostname()) return false
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

/** Takes the writer's lock and answers how to give it back. Throws BusyError, naming the holder, while another process has it. */
export async function lockWriter(store: Store, command: string, now: () => number): Promise<() => Promise<void>> {
  const holder = randomUUID()
  await store.write(async (tx) => {
    const other = await tx.selectFrom('_lock').selectAll().where('name', '=', 'writer').executeTakeFirst()
    if (other && now() - other.beat_at < STALE_MS && !isGone(other.pid, other.host))
      throw new BusyError(
        `Process ${other.pid} on ${other.host} has been writing to ${store.file} since ${other.acquired_at} (${other.command}).`,
        { hint: 'Wait for it, or stop it; readers are not affected.', code: 'writer-locked' },
      )
    const row = {
      holder,
      pid: process.pid,
      host: hostname(),
      command,
      acquired_at: formatMillis(now()),
      beat_at: now(),
    }
    await tx
      .insertInto('_lock')
      .values({ name: 'writer', ...row })
      .onConflict((conflict) => conflict.column('name').doUpdateSet(row))
      .execute()
  })
  const mine = () => store.kysely.updateTable('_lock').where('holder', '=', holder)
  const beat = setInterval(() => {
    // Inside a transaction of our own the beat is simply part of it; a beat that fails is not worth ending the run.
    mine()
      .set({ beat_at: now() })
      .execute()
      .catch(() => undefined)
  }, BEAT_MS)
  beat.unref()
  return async () => {
    clearInterval(beat)
    await store.kysely.deleteFrom('_lock').where('holder', '=', holder).execute()
  }
}
