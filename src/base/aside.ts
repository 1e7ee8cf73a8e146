import { getCompileCacheDir } from 'node:module'
import { parentPort, Worker } from 'node:worker_threads'

/** Another thread that answers questions, one after the other. It begins with the first one, and keeps no process alive. */
export interface Aside<Question, Answer> {
  /** The answer; null when the thread died of it, or could not begin. What is `moved` belongs to the other side from now on. */
  ask(question: Question, moved?: ArrayBuffer[]): Promise<Answer | null>
}

interface Numbered<T> {
  readonly id: number
  readonly said: T
}

/**
 * How the other thread begins. What this process keeps of what it compiled is not used there unless it is said again, and
 * before anything is imported: compiling the TypeScript of a clone there takes 28 MB.
 */
const BEGIN = `
  const { workerData } = require('node:worker_threads')
  if (workerData.cached) require('node:module').enableCompileCache()
  import(workerData.file)`

/** Another thread that runs the file of a name beside the one at `here`, which calls `answerWith`. */
export function createAside<Question, Answer>(here: string, name: string): Aside<Question, Answer> {
  const file = new URL(`./${name}${here.endsWith('.ts') ? '.ts' : '.js'}`, here).href
  const waiting = new Map<number, (answer: Answer | null) => void>()
  let thread: Worker | null = null
  let next = 0
  const begin = (): Worker => {
    // The options of this process are not for the other thread: some, as for a program given as text, would end it.
    const workerData = { file, cached: getCompileCacheDir() !== undefined }
    const begun = new Worker(BEGIN, { eval: true, execArgv: [], workerData })
    begun.on('message', ({ id, said }: Numbered<Answer>) => {
      waiting.get(id)?.(said)
      waiting.delete(id)
      if (waiting.size === 0) begun.unref()
    })
    const giveUp = (): void => {
      thread = null
      for (const answer of waiting.values()) answer(null)
      waiting.clear()
    }
    begun.on('error', giveUp)
    begun.on('exit', giveUp)
    return begun
  }
  return {
    ask(said, moved = []) {
      thread ??= begin()
      thread.ref()
      const id = next++
      thread.postMessage({ id, said } satisfies Numbered<Question>, moved)
      return new Promise((resolve) => waiting.set(id, resolve))
    },
  }
}

/** What the other thread does with every question. */
export function answerWith<Question, Answer>(
  answer: (question: Question) => { readonly said: Answer; readonly moved: ArrayBuffer[] },
): void {
  parentPort?.on('message', ({ id, said: question }: Numbered<Question>) => {
    const { said, moved } = answer(question)
    parentPort?.postMessage({ id, said } satisfies Numbered<Answer>, moved)
  })
}
