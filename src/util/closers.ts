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
