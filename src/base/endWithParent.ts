import { Worker } from 'node:worker_threads'

/** Ends this process when its parent has ended, however that happened: nothing else interrupts SQLite in the middle of a statement. */
export function endWithParent(parent: number): void {
  const watch = new Worker(
    `const { workerData: parent } = require('node:worker_threads')
     setInterval(() => { if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL') }, 200)`,
    { eval: true, workerData: parent },
  )
  watch.unref()
}
