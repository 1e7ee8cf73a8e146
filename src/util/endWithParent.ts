import { Worker } from 'node:worker_threads'

/**
 * Kills this process when its parent has ended, or when it takes more than so many bytes of memory. A thread of its own does it:
 * nothing else interrupts SQLite in the middle of a statement, and this build of SQLite ignores `hard_heap_limit`.
 */
export function endWithParent(parent: number, maxBytes = Number.POSITIVE_INFINITY): void {
  const watch = new Worker(
    `const { workerData: { parent, maxBytes } } = require('node:worker_threads')
     const end = () => process.kill(process.pid, 'SIGKILL')
     setInterval(() => process.ppid !== parent && end(), 200)
     if (maxBytes < Infinity) setInterval(() => process.memoryUsage.rss() > maxBytes && end(), 10)`,
    { eval: true, workerData: { parent, maxBytes } },
  )
  watch.unref()
}
