import { type ChildProcess, fork } from 'node:child_process'
import { on } from 'node:events'
import { statSync } from 'node:fs'
import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import type { AttachedTable } from '../../db/engine.ts'
import * as errors from '../../util/errors.ts'
import type { ExportTable } from '../exportValues.ts'
import type { OwnTable } from '../ownTables/readOwnTable.ts'

/** A user's statement, with the values of its parameters. */
export interface StatementRequest {
  readonly file: string
  readonly sql: string
  readonly parameters?: Readonly<Record<string, string | number | bigint | null>>
  /** Whether the types of all columns are needed. */
  readonly isTyped?: boolean
  /** CSV files that the statement reads as tables. */
  readonly ownTables?: readonly OwnTable[]
}

/** The limits of a result; undefined means none. */
export interface StatementLimits {
  /** Milliseconds for the whole result. */
  readonly ms?: number
  /** Milliseconds for each block of rows, without the time that the caller takes. */
  readonly blockMs?: number
  readonly rows?: number
  /** Characters of all cells together. The first row is always in the result. */
  readonly bytes?: number
  /** Characters of a cell. Longer ones are cut, and bytes become text. */
  readonly cellCharacters?: number
}

/** The limit that cut a result short. */
export type Cut = 'rows' | 'bytes' | null

/** What a CSV file became: its columns with the guessed types, and the number of its rows. */
export type AttachedSummary = Omit<AttachedTable, 'rows'> & { readonly rows: number }

/** The result of a statement. Its process ends with its rows. */
export interface StatementResult extends ExportTable {
  readonly attached: readonly AttachedSummary[]
  /** Known after the last row. */
  cut(): Cut
}

/** An error as it passes from one process to another. */
type SentError = Pick<errors.SyncError, 'name' | 'message' | 'hint' | 'code' | 'cause'>

/** A message of the child process: the columns, then blocks of rows, and `cut` at the end. */
export type StatementMessage =
  | { readonly columns: ExportTable['columns']; readonly attached: readonly AttachedSummary[] }
  | { readonly rows: readonly (readonly unknown[])[] }
  | { readonly cut: Cut }
  | { readonly error: SentError }

/** The first message to the child process; each later one requests the next block. */
export interface StatementOrder {
  readonly request: StatementRequest
  readonly limits: StatementLimits
}

/** A process for one statement. */
export interface StatementProcess {
  /** Undefined if the system refused to start it. */
  readonly child: ChildProcess | undefined
  /** False if it ended before it could take a statement. */
  readonly ready: Promise<boolean>
  /** Bytes of memory that it may use. */
  readonly memory: number
}

const MIB = 1024 * 1024

/** Selects the variables of the database driver (PGHOST, PGPASSWORD …), of password files and of temporary files. */
const databaseVariables = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    // biome-ignore lint/style/noProcessEnv: the driver and SQLite read these variables, too.
    Object.entries(process.env).filter(([name]) => /^(PG[A-Z]+|HOME|APPDATA|SQLITE_TMPDIR|TMPDIR)$/.test(name)),
  )

function startChild(memory: number): ChildProcess | undefined {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  const cache = getCompileCacheDir()
  try {
    return fork(new URL(`./statementChild.${extension}`, import.meta.url), [String(memory)], {
      // Without the other variables, because the process must not have the key.
      env: { ...databaseVariables(), ...(cache === undefined ? {} : { NODE_COMPILE_CACHE: dirname(cache) }) },
      execArgv: [`--max-old-space-size=${memory / MIB / 2}`],
      serialization: 'advanced',
      stdio: 'ignore',
    })
  } catch {
    return undefined
  }
}

/** Starts a process for a statement. It ends with this process, which may also end before it. */
export function startStatement(memory = 768 * MIB): StatementProcess {
  const child = startChild(memory)
  if (!child) return { child, ready: Promise.resolve(false), memory }
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  child.once('exit', () => process.off('exit', kill))
  const ready = new Promise<boolean>((resolve) => {
    child.once('message', () => resolve(true))
    child.once('exit', () => resolve(false))
    // A process that could not be started never exits.
    child.once('error', () => {
      process.off('exit', kill)
      resolve(false)
    })
  })
  keepAlive(child, false)
  return { child, ready, memory }
}

/** Whether this process waits for a child before it ends. */
function keepAlive(child: ChildProcess, isAwaited: boolean): void {
  const method = isAwaited ? 'ref' : 'unref'
  child[method]()
  child.channel?.[method]()
}

async function whileAwaited<T>(child: ChildProcess, work: Promise<T>): Promise<T> {
  keepAlive(child, true)
  try {
    return await work
  } finally {
    keepAlive(child, false)
  }
}

/** Restores a received error with its class. */
function restoreError({ name, cause, message, ...details }: SentError): unknown {
  const classes: Readonly<Record<string, unknown>> = errors
  if (name === errors.BugError.name) return cause
  const ErrorClass = classes[name] as typeof errors.SyncError
  return new ErrorClass(message, { ...details, cause } as never)
}

/** Names the CSV files of a statement, which share its memory, with their sizes. */
function filesText({ ownTables = [] }: StatementRequest): string {
  const sizeOf = (path: string): string => ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) / MIB).toFixed(1)
  const files = ownTables.map(({ path }) => `${path} (${sizeOf(path)} MiB)`)
  return files.length > 0 ? `, with the values of ${files.join(', ')}` : ''
}

/**
 * Runs a statement in its own process, because nothing inside a process can interrupt SQLite. Throws StoppedError after its time,
 * InputError for a wrong statement, and StoreError if the process could not be started.
 */
export async function runStatement(
  { child, ready, memory }: StatementProcess,
  request: StatementRequest,
  limits: StatementLimits = {},
): Promise<StatementResult> {
  if (!child || !(await whileAwaited(child, ready)))
    throw new errors.StoreError('The process for the statement could not be started.', {
      hint: 'Try again in a moment. If it fails again, this machine has too many processes or open files, or no memory left.',
      code: 'no-process',
    })
  let isLate = false
  const { ms, blockMs } = limits
  const killLate = (): void => {
    isLate = true
    child.kill('SIGKILL')
  }
  const timer = ms === undefined ? undefined : setTimeout(killLate, Math.min(ms, 2 ** 31 - 1)).unref()
  // Reads messages that were sent before the end.
  const messages = on(child, 'message', { close: ['disconnect'] })
  const end = (): void => {
    clearTimeout(timer)
    child.kill('SIGKILL')
    void messages.return?.()
  }
  const send = (message: StatementOrder | 'more'): void => void child.send(message, () => undefined)
  async function next(): Promise<Exclude<StatementMessage, { error: SentError }>> {
    const blockTimer = blockMs === undefined ? undefined : setTimeout(killLate, blockMs).unref()
    const { value, done } = await whileAwaited(child!, messages.next())
    clearTimeout(blockTimer)
    if (done)
      throw isLate
        ? new errors.StoppedError(`The statement took longer than ${(ms ?? blockMs)! / 1000} s and was stopped.`, {
            hint: 'Select less (where series_id = …, limit …), or use `indicator-sync query --timeout 600` in a terminal (0: no limit).',
            code: 'timeout',
          })
        : new errors.InputError(
            `The statement needs more memory than it may use (${memory / MIB} MiB)${filesText(request)}.`,
            {
              hint: `${request.ownTables?.length ? 'Leave out rows and columns of the CSV file that it does not need. ' : ''}Select less at once: fewer rows with limit, fewer columns, or substr(…) of long texts.`,
              code: 'no-memory',
            },
          )
    const [message] = value as [StatementMessage]
    if ('error' in message) throw restoreError(message.error)
    return message
  }
  let cut: Cut = null
  async function* rows(): ExportTable['rows'] {
    try {
      for (;;) {
        const message = (await next()) as Exclude<StatementMessage, { error: SentError } | { columns: unknown }>
        if ('cut' in message) {
          cut = message.cut
          return
        }
        // The child reads the next block while this one is used.
        send('more')
        yield message.rows
      }
    } finally {
      end()
    }
  }
  send({ request, limits })
  try {
    const { columns, attached } = (await next()) as Extract<StatementMessage, { columns: unknown }>
    return { columns, attached, rows: rows(), cut: () => cut }
  } catch (error) {
    end()
    throw error
  }
}

/** Parses the value of a parameter: a text that looks like a number becomes one. */
export function parseParameter(text: string): string | number | bigint {
  if (/^-?\d+$/.test(text)) {
    const whole = BigInt(text)
    return BigInt.asIntN(64, whole) === whole ? whole : Number(text)
  }
  return /^-?\d+\.\d+$/.test(text) ? Number(text) : text
}
