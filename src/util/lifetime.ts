import { Worker } from 'node:worker_threads'

/** What was opened one after the other, and is closed together. */
export interface Closers {
  /** Closes something later, before what was opened earlier. */
  add(close: () => unknown): void
  /** Closes all, the last one first, each also where another cannot be closed. Throws the first error. */
  close(): Promise<void>
}

/** Nothing to close yet. Who opens several things closes those that are open where the next one cannot be: a connection or a timer that stays keeps its process alive. */
export function createClosers(): Closers {
  const closers: (() => unknown)[] = []
  return {
    add: (close) => void closers.push(close),
    async close() {
      const failed: unknown[] = []
      for (let close = closers.pop(); close; close = closers.pop())
        try {
          await close()
        } catch (error) {
          failed.push(error)
        }
      if (failed.length > 0) throw failed[0]
    },
  }
}

/**
 * Kills this process when its parent has ended, or when it takes more than so many bytes of memory. A thread of its own does it:
 * nothing else interrupts SQLite in the middle of a statement, and this build of SQLite ignores `hard_heap_limit`.
 */
export function endWithParent(parent: number, maxBytes = Number.POSITIVE_INFINITY): void {
  const watch = new Worker(
    `const { workerData: { parent, maxBytes } } = require('node:worker_threads')
     const end = () => process.kill(process.pid, 'SIGKILL')
     const isRunning = () => { try { return process.kill(parent, 0) } catch (error) { return error.code === 'EPERM' } }
     // Windows leaves the number of the parent as it was.
     const isAlone = () => process.platform === 'win32' ? !isRunning() : process.ppid !== parent
     setInterval(() => isAlone() && end(), 200)
     if (maxBytes < Infinity) setInterval(() => process.memoryUsage.rss() > maxBytes && end(), 10)`,
    { eval: true, workerData: { parent, maxBytes } },
  )
  watch.unref()
}
