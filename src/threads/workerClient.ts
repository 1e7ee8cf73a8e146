import { getCompileCacheDir } from 'node:module'
import { parentPort, type ResourceLimits, Worker } from 'node:worker_threads'

/** A worker thread that answers requests in order. It starts with the first request and does not keep the process alive. */
export interface WorkerClient<Question, Answer> {
  /** Sends a question and resolves with the answer; null when the thread died or could not start. Buffers in `transfer` belong to the worker from now on. */
  request(question: Question, transfer?: ArrayBuffer[]): Promise<Answer | null>
}

interface WorkerMessage<T> {
  readonly id: number
  readonly payload: T
}

/** A running thread and the requests that it has not answered; each thread resolves only its own. */
interface Thread<Answer> {
  readonly worker: Worker
  readonly waiting: Map<number, (answer: Answer | null) => void>
}

/**
 * The code that a worker starts with. The compile cache has to be enabled there too, and before anything is imported:
 * compiling the TypeScript of a clone takes 28 MB.
 */
const BOOTSTRAP = `
  const { workerData } = require('node:worker_threads')
  if (workerData.cached) require('node:module').enableCompileCache()
  import(workerData.file)`

/** After this many threads in a row have died without an answer, no other is started. */
const MAX_DEATHS = 3

/** Creates the client of the worker whose file `name` is beside the module `here` and calls `serveRequests`. */
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
    // Options of this process are not inherited: some, such as --eval, would end the worker.
    const workerData = { file, cached: getCompileCacheDir() !== undefined }
    const worker = new Worker(BOOTSTRAP, { eval: true, execArgv: [], workerData, resourceLimits })
    const begun: Thread<Answer> = { worker, waiting: new Map() }
    const { waiting } = begun
    worker.on('message', ({ id, payload }: WorkerMessage<Answer>) => {
      deaths = 0
      waiting.get(id)?.(payload)
      waiting.delete(id)
      if (waiting.size === 0) worker.unref()
    })
    // A dying thread emits `error` first and `exit` later, when its successor may be running.
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
  /** The running thread, or a new one; null where none can be started. */
  const current = (): Thread<Answer> | null => {
    if (thread || deaths >= MAX_DEATHS) return thread
    try {
      return begin()
    } catch {
      // No memory or no right for another thread.
      deaths = MAX_DEATHS
      return null
    }
  }
  return {
    request(payload, transfer = []) {
      thread = current()
      if (!thread) return Promise.resolve(null)
      const { worker, waiting } = thread
      const id = next++
      worker.ref()
      worker.postMessage({ id, payload } satisfies WorkerMessage<Question>, transfer)
      return new Promise((resolve) => waiting.set(id, resolve))
    },
  }
}

/** Answers every request of the client; to be called by the file of the worker. */
export function serveRequests<Question, Answer>(
  answer: (question: Question) => { readonly payload: Answer; readonly transfer: ArrayBuffer[] },
): void {
  parentPort?.on('message', ({ id, payload: question }: WorkerMessage<Question>) => {
    const { payload, transfer } = answer(question)
    parentPort?.postMessage({ id, payload } satisfies WorkerMessage<Answer>, transfer)
  })
}
