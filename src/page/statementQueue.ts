import PQueue from 'p-queue'
import { allRows } from '../db/engine.ts'
import { plain } from '../reports/cells.ts'
import {
  type Cut,
  runStatement,
  type StatementLimits,
  type StatementProcess,
  type StatementRequest,
  type StatementResult,
  startStatement,
} from '../reports/statements/runner.ts'
import { BusyError } from '../util/errors.ts'

/** The collected rows of a statement; `cut`: the limit that ended it early. */
export interface CollectedResult {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly (string | number | null)[])[]
  readonly cut: Cut
}

/** The limits of the SQL page. */
export const STATEMENT_LIMITS = { rows: 1000, bytes: 1_000_000, cellCharacters: 100_000, ms: 3000 }
/** Bytes of memory of a process. */
const MEMORY_BYTES = 256 * 1024 * 1024
/** Statements that run at once, and those that wait. */
const MAX_STATEMENTS = 2
const WAITING = 8

/** A value for JSON; whole numbers beyond doubles and non-finite numbers are text. */
const cellValue = (value: unknown): string | number | null =>
  value === null || (typeof value === 'number' && Number.isFinite(value)) ? value : plain(value)

/** Creates a runner of statements that starts the next process in advance. */
export function createStatementRunner(limits: StatementLimits & { readonly ms: number } = STATEMENT_LIMITS) {
  const processes = new Set<StatementProcess>()
  const queue = new PQueue({ concurrency: MAX_STATEMENTS })
  let spare: StatementProcess | null = null

  function warm(): StatementProcess {
    if (spare) return spare
    const started = startStatement(MEMORY_BYTES)
    const forget = () => {
      processes.delete(started)
      if (spare === started) spare = null
    }
    spare = started
    processes.add(started)
    started.child?.once('exit', forget)
    void started.ready.then((isReady) => isReady || forget())
    return started
  }

  function add<T>(work: (process: StatementProcess) => Promise<T>): Promise<T> {
    if (queue.size >= WAITING)
      throw new BusyError('Too many statements are running.', { hint: 'Try again in a moment.', code: 'busy' })
    return queue.add(() => {
      const process = warm()
      spare = null
      return work(process)
    })
  }

  return {
    /** Starts a process for the next statement. */
    warm: () => void warm(),
    /** Collects the result. Throws as `runStatement`, and BusyError if too many wait. */
    run: async (request: StatementRequest): Promise<CollectedResult> =>
      add(async (process) => {
        const { columns, rows, cut } = await runStatement(process, request, limits)
        const cells = (await allRows(rows)).map((row) => row.map(cellValue))
        return { columns: columns.map(({ name }) => name), rows: cells, cut: cut() }
      }),
    /** Streams all rows. The first block is read before this returns. */
    stream: async (request: StatementRequest): Promise<Pick<StatementResult, 'columns' | 'rows'>> =>
      add(async (process) => {
        const { columns, rows } = await runStatement(process, request, { blockMs: limits.ms })
        const blocks = rows[Symbol.asyncIterator]()
        const first = await blocks.next()
        async function* remaining(): StatementResult['rows'] {
          try {
            for (let { value, done } = first; !done; { value, done } = await blocks.next()) yield value
          } finally {
            await blocks.return?.()
          }
        }
        return { columns, rows: remaining() }
      }),
    /** Ends all processes. */
    close(): void {
      for (const { child } of processes) child?.kill('SIGKILL')
    },
  }
}
