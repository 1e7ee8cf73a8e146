import PQueue from 'p-queue'
import { BusyError } from '../../base/errors.ts'
import { allRows } from '../../db/allRows.ts'
import { plain } from '../../products/cells.ts'
import {
  type Cut,
  runStatement,
  type StatementLimits,
  type StatementProcess,
  type StatementRequest,
  startStatement,
} from '../../products/statements/runner.ts'

/** The answer of a statement; `cut`: the limit that ended it early. */
export interface StatementAnswer {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly (string | number | null)[])[]
  readonly cut: Cut
}

/** Runs users' statements in processes of their own. */
export interface StatementRunner {
  /** The answer. Throws as `runStatement` does, and BusyError if too many wait. */
  run(request: StatementRequest): Promise<StatementAnswer>
  /** Starts a process for the next statement, which is then answered sooner. */
  warm(): void
  /** Ends all processes. */
  close(): void
}

/** The limits of the SQL page. */
export const STATEMENT_LIMITS = { rows: 1000, bytes: 1_000_000, cellLetters: 100_000, ms: 3000 }
/** Bytes of memory of a process. */
const MEMORY = 256 * 1024 * 1024
/** Statements that are answered at once, and those that wait for one of them. */
const MAX_STATEMENTS = 2
const WAITING = 8

/** A value as JSON can hold it exactly: whole numbers beyond doubles and non-finite numbers as text. */
const cellValue = (value: unknown): string | number | null =>
  value === null || (typeof value === 'number' && Number.isFinite(value)) ? value : plain(value)

/** Creates a runner of statements. The process of the next one is started in advance. */
export function createStatementRunner(limits: StatementLimits = STATEMENT_LIMITS): StatementRunner {
  const processes = new Set<StatementProcess>()
  const queue = new PQueue({ concurrency: MAX_STATEMENTS })
  let spare: StatementProcess | null = null

  function warm(): StatementProcess {
    if (spare) return spare
    const started = startStatement(MEMORY)
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

  async function answered(request: StatementRequest): Promise<StatementAnswer> {
    const own = warm()
    spare = null
    const { columns, rows, cut } = await runStatement(own, request, limits)
    const all = (await allRows(rows)).map((row) => row.map(cellValue))
    return { columns: columns.map(({ name }) => name), rows: all, cut: cut() }
  }

  return {
    warm: () => void warm(),
    async run(request) {
      if (queue.size >= WAITING)
        throw new BusyError('Too many statements are being answered.', { hint: 'Try again in a moment.', code: 'busy' })
      return queue.add(() => answered(request))
    },
    close() {
      for (const { child } of processes) child?.kill('SIGKILL')
    },
  }
}
