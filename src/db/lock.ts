import { existsSync, lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { hostname } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import { BusyError, StoreError } from '../base/errors.ts'
import { formatMillis } from '../base/instant.ts'
import type { Database } from '../tables/schema.ts'
import { refuseForeignJournal, refuseForeignLog } from './kin.ts'
import { openReader, openStore, type Store, type StoreOptions } from './open.ts'
import { patiently } from './patience.ts'
import { asStoreError, isBusy } from './reasons.ts'
import { schemaState } from './schema.ts'
import { refuseOtherNames, requireSole } from './sole.ts'
import { holdFile, makeRoom } from './sqlite/connection.ts'

/** Two that ask at the same moment can each find the other in the way: so long is asked again. */
const MEETING_MS = 100
/** How long a new holder has for saying who it is; longer while it is still making the database, or brings it up to date. */
const INTRODUCTION_MS = 2_000
const MAKING_MS = 30_000

/** Where links lead, so that a database has one lock under all its names; also for a file that is not there yet. */
function realPathOf(file: string): string {
  if (existsSync(file)) return realpathSync(file)
  if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink())
    return realPathOf(resolve(dirname(file), readlinkSync(file)))
  return join(realpathSync(dirname(file)), basename(file))
}

/** The file that the writer of a database holds. It stays empty, and stays: whoever deleted it could hold another one. */
const lockFileOf = (file: string): string => `${realPathOf(file)}.lock`

/** Who writes, as it said itself. */
export interface Holder {
  readonly pid: number
  readonly host: string
  readonly command: string
  readonly acquired_at: string
}

/** Whether a process of this machine has ended; unknown, and so taken for alive, on another one. */
function isGone({ pid, host }: Holder): boolean {
  if (host !== hostname()) return false
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

/** What is written of the holder in the database; of one that is dead too, when it was killed. */
export const readHolder = (db: Kysely<Database>): Promise<Holder | undefined> =>
  db
    .selectFrom('_lock')
    .select(['pid', 'host', 'command', 'acquired_at'])
    .where('name', '=', 'writer')
    .executeTakeFirst()

/** Whether somebody holds a database for writing; undefined when it cannot be told. */
export function isHeld(file: string): boolean | undefined {
  try {
    const lock = lockFileOf(file)
    if (!existsSync(lock)) return false
    holdFile(lock)()
    return false
  } catch (error) {
    return isBusy(error) ? true : undefined
  }
}

/** Who holds a database; it may be making it just now, and then says so a little later. */
async function findHolder(file: string): Promise<Holder | undefined> {
  const began = performance.now()
  let patience = MAKING_MS
  do {
    try {
      const reader = openReader(file)
      try {
        const holder = await readHolder(reader.kysely)
        if (holder && !isGone(holder)) return holder
        patience = INTRODUCTION_MS
      } finally {
        await reader.close()
      }
    } catch {
      // It is not made, or not brought up to date yet; or its holder has gone meanwhile.
      if (isHeld(file) === false) return undefined
    }
    await sleep(50)
  } while (performance.now() - began < patience)
  return undefined
}

/** Takes the lock of a file, which need not be there yet, and answers how to give it back. Throws BusyError, naming the holder. */
async function hold(file: string, now: number): Promise<() => void> {
  const release = await holdPath(file)
  try {
    refuseOtherNames(realPathOf(file), now)
    return release
  } catch (error) {
    release()
    throw error
  }
}

async function holdPath(file: string): Promise<() => void> {
  let lock: string
  try {
    lock = lockFileOf(file)
    return await patiently(() => holdFile(lock), MEETING_MS)
  } catch (error) {
    if (!isBusy(error)) {
      const said = asStoreError(error) as Error
      throw new StoreError(`The lock of ${file} cannot be taken: ${said.message}`, {
        hint:
          said instanceof StoreError && said.code === 'lock-link'
            ? `Remove ${file}.lock: this program makes a file of its own there, and no link.`
            : `See that ${file}.lock can be made and written, and lies on a disk that knows locks.`,
        code: 'no-lock',
        cause: error,
      })
    }
    const who = await findHolder(file)
    throw new BusyError(
      who
        ? `Process ${who.pid} on ${who.host} has been writing to ${file} since ${who.acquired_at} (${who.command}).`
        : `Another process is writing to ${file}.`,
      { hint: 'Wait for it, or stop it; readers are not affected.', code: 'writer-locked' },
    )
  }
}

/** Says in the database who writes, and takes the next number: whoever has an earlier one does not write any more. */
async function enlist(store: Store, command: string, now: () => number): Promise<() => Promise<void>> {
  const fence = await store.write(async (tx) => {
    const { number } = await tx
      .insertInto('_fence')
      .values({ name: 'writer', number: 1 })
      .onConflict((conflict) => conflict.column('name').doUpdateSet((of) => ({ number: of('_fence.number', '+', 1) })))
      .returning('number')
      .executeTakeFirstOrThrow()
    const holder = { fence: number, pid: process.pid, host: hostname(), command, acquired_at: formatMillis(now()) }
    await tx
      .insertInto('_lock')
      .values({ name: 'writer', ...holder })
      .onConflict((conflict) => conflict.column('name').doUpdateSet(holder))
      .execute()
    return number
  })
  store.fence(fence)
  return async () => {
    try {
      await store.write((tx) => tx.deleteFrom('_lock').where('fence', '=', fence).execute())
    } catch {
      // It only tells who wrote; the lock itself is given back all the same.
    }
    store.fence(null)
  }
}

/**
 * Makes an open database the only one that writes to its file, and answers how to give that up. Throws BusyError, naming
 * the holder, while another one has it.
 */
export async function lockWriter(store: Store, command: string, now: () => number): Promise<() => Promise<void>> {
  const release = store.file === ':memory:' ? () => undefined : await hold(store.file, now())
  try {
    const leave = await enlist(store, command, now)
    return async () => {
      await leave()
      release()
    }
  } catch (error) {
    release()
    throw error
  }
}

/** Locks that several runs of one open database share. */
const shared = new WeakMap<Store, { runs: number; readonly unlock: Promise<() => Promise<void>> }>()

/** The same for a run of an open database that may have the lock already, or another run that began meanwhile. */
export async function lockForRun(store: Store, command: string, now: () => number): Promise<() => Promise<void>> {
  if (store.fenced() && !shared.has(store)) return async () => undefined
  const entry = shared.get(store) ?? { runs: 0, unlock: lockWriter(store, command, now) }
  shared.set(store, entry)
  entry.runs++
  const leave = async (): Promise<void> => {
    if (--entry.runs > 0) return
    shared.delete(store)
    await (await entry.unlock)()
  }
  try {
    await entry.unlock
  } catch (error) {
    if (--entry.runs === 0) shared.delete(store)
    throw error
  }
  return leave
}

/**
 * Opens a database as its only writer: the lock is taken before anything of the file is made or migrated, and given back
 * when it is closed.
 */
export async function openWriter(file: string, command: string, options: StoreOptions = {}): Promise<Store> {
  if (file === ':memory:') return openStore(file, options)
  makeRoom(file)
  // Another program's file is refused before a lock is put beside it.
  if (existsSync(file)) {
    const real = realPathOf(file)
    refuseOtherNames(real, Date.now())
    refuseForeignJournal(real)
    await requireSole(real)
    schemaState(file)
  }
  const release = await hold(file, Date.now())
  try {
    refuseForeignLog(realPathOf(file))
    const store = await openStore(file, options)
    try {
      const leave = await enlist(store, command, Date.now)
      return {
        ...store,
        async close() {
          await leave()
          await store.close()
          release()
        },
      }
    } catch (error) {
      await store.close()
      throw error
    }
  } catch (error) {
    release()
    throw error
  }
}
