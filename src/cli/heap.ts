import { flushCompileCache } from 'node:module'
import { setFlagsFromString } from 'node:v8'

/*
 * Answers are large and soon thrown away: a small heap needs a third less memory than the defaults for a tenth of the speed,
 * and the network is slower than either (docs/decisions/006-speed.md). Such options are for the command line of Node: a command
 * that fetches begins once more in this same process with them, where the system can do that and nobody has set others.
 */
const SMALL = ['--max-semi-space-size=4', '--optimize-for-size']

/** Whether this process can restart itself with a small heap: it has no small heap yet, and the user has not chosen one. */
export const canShrinkHeap = (): boolean =>
  typeof process.execve === 'function' &&
  process.platform !== 'win32' &&
  !process.send &&
  !/semi[-_]space|optimize[-_]for[-_]size/.test([...process.execArgv, process.env.NODE_OPTIONS ?? ''].join(' '))

/**
 * Keeps the heap of a process small from now on, one that stays up beside others and has done what it had to do soon (`bin.js` says
 * the other half at its start). Said while it runs, for to begin once more takes a fifth of the time to the first page. What was
 * compiled is kept before: with other options it would be of no use to the next process.
 */
export function keepHeapSmall(): void {
  flushCompileCache()
  setFlagsFromString('--optimize-for-size')
}

/** Begins this command once more with a small heap, in the same process; nothing may be open that has to be closed. */
export function shrinkHeap(): never {
  // What was compiled so far is kept at the end of a process, and this one does not come to it.
  flushCompileCache()
  return process.execve!(
    process.execPath,
    [process.execPath, ...process.execArgv, ...SMALL, ...process.argv.slice(1)],
    process.env,
  )
}
