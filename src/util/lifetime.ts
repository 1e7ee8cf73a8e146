import { Worker } from 'node:worker_threads'

/** Closes resources together that were opened one after the other. */
export interface Closers {
  /** Adds a resource, which is closed before those that were opened earlier. */
  add(close: () => unknown): void
  /** Closes all, the last one first, even if closing fails. Throws the first error. */
  close(): Promise<void>
}

/** Collects resources to close. A connection or timer that stays open keeps the process alive. */
export function createClosers(): Closers {
  const closers: (() => unknown)[] = []
  return {
    add: (close) => void closers.push(close),
    async close() {
      const errors: unknown[] = []
      for (let close = closers.pop(); close; close = closers.pop())
        try {
          await close()
        } catch (error) {
          errors.push(error)
        }
      if (errors.length > 0) throw errors[0]
    },
  }
}

/**
 * Kills this process when its parent has ended, or when it uses more than `maxBytes` of memory. A thread does it, because nothing
 * else interrupts a statement of SQLite, and this build of SQLite ignores `hard_heap_limit`.
 */
export function endWithParent(parent: number, maxBytes: number): void {
  const watch = new Worker(
    `const { workerData: { parent, maxBytes } } = require('node:worker_threads')
     const end = () => process.kill(process.pid, 'SIGKILL')
     const isRunning = () => { try { return process.kill(parent, 0) } catch (error) { return error.code === 'EPERM' } }
     // Windows leaves the number of the parent as it was.
     const isAlone = () => process.platform === 'win32' ? !isRunning() : process.ppid !== parent
     setInterval(() => isAlone() && end(), 200)
     setInterval(() => process.memoryUsage.rss() > maxBytes && end(), 10)`,
    { eval: true, workerData: { parent, maxBytes } },
  )
  watch.unref()
}
