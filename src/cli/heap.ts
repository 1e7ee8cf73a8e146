import { existsSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { setFlagsFromString } from 'node:v8'

/*
 * Answers are large and soon thrown away: a small heap needs a third less memory than the defaults for a tenth of the speed,
 * and the network is slower than either (docs/decisions/006-speed.md). Such options are for the command line of Node: a command
 * that fetches begins once more in this same process with them, where the system can do that and nobody has set others.
 */
const SMALL = ['--max-semi-space-size=4', '--optimize-for-size']
const STAYING_SMALL = ['--semi-space-growth-factor=1', '--optimize-for-size']
/** Commands that have something to fetch, or to read again and to write elsewhere; and one that stays up beside others. */
const FETCHING = ['backfill', 'restate', 'retry', 'schedule', 'replay', 'demo', 'lake', 'serve']

/** The file of the database as a command line or the environment names it; a guess, for nothing is read yet. */
function databaseOf(argv: readonly string[]): string {
  const at = argv.findIndex((word) => /^--database(?:=|$)/.test(word))
  const named = at < 0 ? undefined : (argv[at]!.split('=')[1] ?? argv[at + 1])
  return named ?? process.env.INDICATOR_SYNC_DATABASE ?? 'data/indicator-sync.db'
}

/** Whether a command line will certainly fetch. A `sync` into an existing database may find nothing to do, and decides later. */
export const isFetching = (argv: readonly string[]): boolean =>
  argv.some((word) => FETCHING.includes(word)) || (argv.includes('sync') && !existsSync(databaseOf(argv)))

/** Whether this process can restart itself with a small heap: it has no small heap yet, and the user has not chosen one. */
export const canShrinkHeap = (): boolean =>
  typeof process.execve === 'function' &&
  process.platform !== 'win32' &&
  !process.send &&
  !/semi[-_]space|optimize[-_]for[-_]size/.test([...process.execArgv, process.env.NODE_OPTIONS ?? ''].join(' '))

/**
 * Keeps the heap of a process small that stays up beside others: `serve`. What is young does not grow beyond the megabyte with
 * which it begins; this can be said to a process that runs, and so also where it cannot begin once more.
 */
export function keepHeapSmall(argv: readonly string[]): void {
  if (argv[0] === 'serve') for (const flag of STAYING_SMALL) setFlagsFromString(flag)
}

/** Begins this command once more with a small heap, in the same process; nothing may be open that has to be closed. */
export function shrinkHeap(): never {
  // Threads that each keep memory of their own need 10 MB more, which is much for a page that waits and nothing for a sync.
  const { MALLOC_ARENA_MAX = '1' } = process.env
  const env = process.argv[2] === 'serve' ? { ...process.env, MALLOC_ARENA_MAX } : process.env
  // What was compiled so far is kept at the end of a process, and this one does not come to it.
  flushCompileCache()
  return process.execve!(
    process.execPath,
    [process.execPath, ...process.execArgv, ...SMALL, ...process.argv.slice(1)],
    env,
  )
}
