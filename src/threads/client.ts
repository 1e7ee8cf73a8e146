import { getCompileCacheDir } from 'node:module'
import { parentPort, type ResourceLimits, Worker } from 'node:worker_threads'

/** Another thread that answers questions, one after the other. It begins with the first one, and keeps no process alive. */
export interface WorkerClient<Question, Answer> {
  /** The answer; null when the thread died of it, or could not begin. What is `moved` belongs to the other side from now on. */
  ask(question: Question, moved?: ArrayBuffer[]): Promise<Answer | null>
}

interface Numbered<T> {
  readonly id: number
  readonly said: T
}

/** One thread and what it was asked. What becomes of it is no matter of its successor. */
interface Thread<Answer> {
  readonly worker: Worker
  readonly waiting: Map<number, (answer: Answer | null) => void>
}

/**
 * How the other thread begins. What this process keeps of what it compiled is not used there unless it is said again, and
 * before anything is imported: compiling the TypeScript of a clone there takes 28 MB.
 */
const BEGIN = `
  const { workerData } = require('node:worker_threads')
  if (workerData.cached) require('node:module').enableCompileCache()
  import(workerData.file)`

/** After so many threads that died without one answer none is begun any more. */
const MOST_DEATHS = 3

/** Another thread that runs the file of a name beside the one at `here`, which calls `answerWith`. */
export function createWorkerClient<Question, Answer>(
  here: string,
  name: string,
  resourceLimits: ResourceLimits = {},
): WorkerClient<Question, Answer> {
  const file = new URL(`./${name}${here.endsWith('.ts') ? '.ts' : '.js'}`, here).href
  let thread: Thread<Answer> | null = null
  let deaths = 0
  let next = 0
  const begin = (): Thread<Answer> => {
    // The options of this process are not for the other thread: some, as for a program given as text, would end it.
    const workerData = { file, cached: getCompileCacheDir() !== undefined }
    const worker = new Worker(BEGIN, { eval: true, execArgv: [], workerData, resourceLimits })
    const begun: Thread<Answer> = { worker, waiting: new Map() }
    const { waiting } = begun
    worker.on('message', ({ id, said }: Numbered<Answer>) => {
      deaths = 0
      waiting.get(id)?.(said)
      waiting.delete(id)
      if (waiting.size === 0) worker.unref()
    })
    // A thread that ends says `error` first, and `exit` some time later, when another one may be at work.
    const giveUp = (): void => {
      if (thread === begun) {
        thread = null
        deaths++
      }
      for (const answer of waiting.values()) answer(null)
      waiting.clear()
      worker.unref()
    }
    worker.on('error', giveUp)
    worker.on('messageerror', giveUp)
    worker.on('exit', giveUp)
    return begun
  }
  /** The thread that is at work, or a new one; null where none can be. */
  const current = (): Thread<Answer> | null => {
    if (thread || deaths >= MOST_DEATHS) return thread
    try {
      return begin()
    } catch {
      // No memory or no right for another thread.
      deaths = MOST_DEATHS
      return null
    }
  }
  return {
    ask(said, moved = []) {
      thread = current()
      if (!thread) return Promise.resolve(null)
      const { worker, waiting } = thread
      const id = next++
      worker.ref()
      worker.postMessage({ id, said } satisfies Numbered<Question>, moved)
      return new Promise((resolve) => waiting.set(id, resolve))
    },
  }
}

/** What the other thread does with every question. */
export function serveRequests<Question, Answer>(
  answer: (question: Question) => { readonly said: Answer; readonly moved: ArrayBuffer[] },
): void {
  parentPort?.on('message', ({ id, said: question }: Numbered<Question>) => {
    const { said, moved } = answer(question)
    parentPort?.postMessage({ id, said } satisfies Numbered<Answer>, moved)
  })
}
