import { existsSync, renameSync, rmSync } from 'node:fs'
import { tapeState } from '../audit/tape.ts'
import { InputError, StoreError } from '../base/errors.ts'
import { formatMillis } from '../base/instant.ts'
import { lockWriter } from '../db/lock.ts'
import { openReader, openStore } from '../db/open.ts'
import { beginRun, endRun } from '../load/run.ts'
import { type Replayed, replay } from '../replay.ts'
import { readSettings } from './config.ts'
import { EXIT } from './fail.ts'
import type { CommonArgs, DatabaseArgs } from './flags.ts'
import { logFor } from './logging.ts'
import { grouped, print } from './output.ts'
import { version } from './version.ts'

interface ReplayArgs extends CommonArgs, DatabaseArgs {
  readonly into?: string
  readonly incomplete: boolean
  readonly json: boolean
}

/** Refuses a tape with holes: what came in them would be lost. */
function checkTape(file: string, incomplete: boolean): void {
  const reader = openReader(file)
  const { missing } = tapeState(reader)
  reader.raw.close()
  if (missing === 0 || incomplete) return
  throw new InputError(
    `${grouped(missing)} answers of ${file} are not on the tape (keep: latest or none, or pruned); a rebuilt database would lack what they brought.`,
    {
      hint: 'Rebuild beside it what the tape does hold: indicator-sync replay --into other.db --incomplete. Or ask the service again: indicator-sync restate.',
      code: 'incomplete-tape',
    },
  )
}

/** Builds a database from the tape of another one in a file that is thrown away unless it gets whole. */
async function build(file: string, scratch: string, onProgress: (replies: number) => void): Promise<Replayed> {
  rmSync(scratch, { force: true })
  const source = openReader(file)
  const store = await openStore(scratch, { durability: 'none' })
  try {
    const done = await replay(source, store, { now: Date.now, onProgress })
    if (store.all('pragma foreign_key_check').length > 0)
      throw new StoreError(`The tape of ${file} does not make a whole database.`, {
        hint: 'Run `indicator-sync doctor` on it; it stays as it is.',
        code: 'dangling-rebuild',
      })
    store.tidy()
    return done
  } finally {
    await store.close()
    await source.close()
  }
}

/** Rebuilds a database in place: readers see the old one or the new one, and so does a crash. */
export async function rebuild(file: string, onProgress: (replies: number) => void): Promise<Replayed> {
  checkTape(file, false)
  // One name for all: the lock lets one process only, and what a killed one left is overwritten.
  const scratch = `${file}.rebuilt`
  const store = await openStore(file)
  try {
    const unlock = await lockWriter(store, 'replay', Date.now)
    try {
      const done = await build(file, scratch, onProgress)
      const built = await openStore(scratch, { durability: 'none' })
      await built.copyInto(file).finally(() => built.close())
      const began = formatMillis(Date.now())
      const run = await beginRun(store, { command: 'replay', job: 'replay', version: version(), now: began })
      await endRun(store, run, 'done', null, formatMillis(Date.now()))
      store.tidy()
      return done
    } finally {
      await unlock()
    }
  } finally {
    await store.close()
    rmSync(scratch, { force: true })
  }
}

/** Builds a new database beside. */
async function rebuildInto(file: string, into: string, onProgress: (replies: number) => void): Promise<Replayed> {
  if (existsSync(into))
    throw new InputError(`${into} is there already.`, {
      hint: 'Name a new file; it is made only when it is whole.',
      code: 'file-exists',
    })
  const scratch = `${into}.${process.pid}.part`
  try {
    const done = await build(file, scratch, onProgress)
    // From now on it is a database like any other, with a write-ahead log.
    await (await openStore(scratch)).close()
    renameSync(scratch, into)
    return done
  } finally {
    rmSync(scratch, { force: true })
  }
}

export async function run(args: ReplayArgs): Promise<number> {
  const log = logFor(args, [])
  const file = readSettings(args).database.value
  if (args.incomplete && args.into === undefined)
    throw new InputError('--incomplete goes with --into: a database is never replaced by a part of itself.', {
      code: 'incomplete-in-place',
    })
  const began = performance.now()
  let told = began
  const onProgress = (replies: number): void => {
    if (performance.now() - told < 10_000) return
    told = performance.now()
    log.info(`${grouped(replies)} replies read again`)
  }
  checkTape(file, args.incomplete)
  const done = args.into ? await rebuildInto(file, args.into, onProgress) : await rebuild(file, onProgress)
  const seconds = (performance.now() - began) / 1000
  print(
    args.json
      ? JSON.stringify({ database: args.into ?? file, ...done, seconds }, null, 2)
      : `${args.into ?? file} is rebuilt from ${grouped(done.replies)} stored replies in ${seconds.toFixed(1)} s: ${grouped(done.rows)} rows written${done.unread > 0 ? `; ${grouped(done.unread)} replies still cannot be read` : ''}.`,
  )
  return EXIT.done
}
