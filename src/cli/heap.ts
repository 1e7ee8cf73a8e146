import { flushCompileCache } from 'node:module'

/*
 * The options of V8 with which a command starts again in this same process, where the system can do that and nobody has set
 * others: they are for the command line of Node. V8 lets a heap with a lower bound grow in smaller steps. What they save and cost is
 * in docs/decisions/006-speed.md.
 */
const HEAPS = {
  /** Answers are large and soon thrown away. The bound leaves room for the largest body in its slowest form. */
  replies: ['--max-semi-space-size=2', '--max-old-space-size=1024'],
  /** What reads row by row, a lake or the server of the page, needs a quarter of this bound. */
  rows: ['--max-semi-space-size=2', '--max-old-space-size=512'],
} as const

/** Bodies get pages of their own and give them back: otherwise glibc, having freed one, keeps room for others in its heap. */
const MALLOC = { MALLOC_MMAP_THRESHOLD_: String(1024 * 1024) }

/** What a heap is for. */
export type Heap = keyof typeof HEAPS

/** Whether this process can restart itself with a small heap: it has no small heap yet, and the user has not chosen one. */
export const canShrinkHeap = (): boolean =>
  typeof process.execve === 'function' &&
  process.platform !== 'win32' &&
  !process.send &&
  !/(semi|old)[-_]space|optimize[-_]for[-_]size/.test([...process.execArgv, process.env.NODE_OPTIONS ?? ''].join(' '))

/** Begins this command once more with a small heap, in the same process; nothing may be open that has to be closed. */
export function shrinkHeap(heap: Heap): never {
  // The compile cache is written at the end of a process, which this one does not reach.
  flushCompileCache()
  return process.execve!(
    process.execPath,
    [process.execPath, ...process.execArgv, ...HEAPS[heap], ...process.argv.slice(1)],
    { ...MALLOC, ...process.env },
  )
}
