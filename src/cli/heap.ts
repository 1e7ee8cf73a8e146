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
 * Keeps the heap of this process small from now on. For a server, which stays up beside other programs once its start is over;
 * `bin.js` sets its other flag at the start. The flag is set while the process runs, because a restart would take a fifth of the
 * time to the first page. The compile cache is written before that: its entries are valid only under the flags of the start.
 */
export function keepHeapSmall(): void {
  flushCompileCache()
  setFlagsFromString('--optimize-for-size')
}

/** Begins this command once more with a small heap, in the same process; nothing may be open that has to be closed. */
export function shrinkHeap(): never {
  // The compile cache is written at the end of a process, which this one does not reach.
  flushCompileCache()
  return process.execve!(
    process.execPath,
    [process.execPath, ...process.execArgv, ...SMALL, ...process.argv.slice(1)],
    process.env,
  )
}
