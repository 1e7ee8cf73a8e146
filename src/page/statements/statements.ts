import { type ChildProcess, fork } from 'node:child_process'
import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import PQueue from 'p-queue'
import { BusyError, InputError, StoppedError, StoreError } from '../../base/errors.ts'

/** A user's statement, with the values of its parameters. */
export interface StatementRequest {
  readonly file: string
  readonly sql: string
  readonly parameters: Readonly<Record<string, string | number | bigint | null>>
}

/** The limits of an answer: size and time. */
export interface StatementLimits {
  readonly rows: number
  /** Letters of all cells together. */
  readonly bytes: number
  readonly ms: number
}

/** The answer of a statement; `cut`: the limit that ended it early. */
export interface StatementAnswer {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly (string | number | null)[])[]
  readonly cut: 'rows' | 'bytes' | null
}

/** Runs users' statements in processes of their own. */
export interface StatementRunner {
  /** The answer; throws InputError for what is wrong with the statement, StoppedError when it took too long, and StoreError when no process could be started for it. */
  run(request: StatementRequest): Promise<StatementAnswer>
  /** Starts a process for the next statement, which is then answered sooner. */
  warm(): void
  /** Ends all processes. */
  close(): void
}

/** The limits of the SQL page. */
export const STATEMENT_LIMITS: StatementLimits = { rows: 1000, bytes: 1_000_000, ms: 3000 }
/** Statements that are answered at once, and those that wait for one of them. */
const MAX_STATEMENTS = 2
const WAITING = 8

type StatementMessage =
  | { readonly done: StatementAnswer }
  | { readonly error: { message: string; hint?: string; code: string } }

/** A process that was started for one statement, and when it can take it: false when it ended before. */
interface Waiting {
  readonly child: ChildProcess
  readonly ready: Promise<boolean>
}

/** The variables by which a server is reached (PGHOST, PGPASSWORD …), and by which its file of passwords is found. */
const serverVariables = (): NodeJS.ProcessEnv =>
  // biome-ignore lint/style/noProcessEnv: the driver reads these variables, too.
  Object.fromEntries(Object.entries(process.env).filter(([name]) => /^(PG[A-Z]+|HOME|APPDATA)$/.test(name)))

/** Starts a process for a statement; throws what the system says at once of one that cannot be started, most of which comes later. */
function start(): Waiting {
  const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  const cache = getCompileCacheDir()
  const child = fork(new URL(`./statementChild.${ending}`, import.meta.url), {
    // Of our environment, only the variables by which a server is reached: a process that runs users' statements must not have the key.
    env: { ...serverVariables(), ...(cache === undefined ? {} : { NODE_COMPILE_CACHE: dirname(cache) }) },
    execArgv: ['--max-old-space-size=128'],
    serialization: 'advanced',
    stdio: 'ignore',
  })
  const ready = new Promise<boolean>((resolve) => {
    child.once('message', () => resolve(true))
    child.once('exit', () => resolve(false))
    child.once('error', () => resolve(false))
  })
  child.unref()
  child.channel?.unref()
  return { child, ready }
}

/** The message of a process about its statement; null when it ended before. */
function messageOf(
  child: ChildProcess,
  request: StatementRequest,
  limits: StatementLimits,
): Promise<StatementMessage | 'late' | null> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      resolve('late')
      child.kill('SIGKILL')
    }, limits.ms)
    const finish = (what: StatementMessage | null): void => {
      clearTimeout(timer)
      resolve(what)
    }
    child.once('message', finish)
    child.once('exit', () => finish(null))
    child.send({ request, limits }, (error) => error && finish(null))
  })
}

/**
 * Creates a runner of statements. Each statement has a process of its own, because nothing inside a process can interrupt
 * SQLite in a statement. The next process is started in advance.
 */
export function createStatementRunner(limits: StatementLimits = STATEMENT_LIMITS): StatementRunner {
  const children = new Set<ChildProcess>()
  const queue = new PQueue({ concurrency: MAX_STATEMENTS })
  let spare: Waiting | null = null

  const warm = (): void => {
    if (spare) return
    let begun: Waiting
    try {
      begun = start()
    } catch {
      // Whoever has a statement for it is told.
      return
    }
    const { child } = begun
    spare = begun
    children.add(child)
    const forget = () => {
      children.delete(child)
      if (spare === begun) spare = null
    }
    child.once('exit', forget)
    // Without an exit: it could not be started.
    child.once('error', forget)
  }

  async function answered(request: StatementRequest): Promise<StatementAnswer> {
    warm()
    const waiting = spare
    spare = null
    waiting?.child.ref()
    waiting?.child.channel?.ref()
    if (!waiting || !(await waiting.ready))
      throw new StoreError('The process for the statement could not be started.', {
        hint: 'Ask again in a moment. If it stays so, this machine has too many processes or open files, or no memory left.',
        code: 'no-process',
      })
    const what = await messageOf(waiting.child, request, limits)
    if (what === 'late')
      throw new StoppedError(`The statement took longer than ${limits.ms / 1000} s and was ended.`, {
        hint: 'Ask less (where series_id = …, limit …), or ask it in a terminal, where it may take longer.',
        code: 'timeout',
      })
    if (what === null)
      throw new InputError('The statement needs more memory than it may take (256 MiB).', {
        hint: 'Ask for less at once: fewer rows with limit, fewer columns, or substr(…) of long texts.',
        code: 'no-memory',
      })
    if ('error' in what) throw new InputError(what.error.message, what.error)
    return what.done
  }

  return {
    warm,
    async run(request) {
      if (queue.size >= WAITING)
        throw new BusyError('Too many statements are being answered.', { hint: 'Ask again in a moment.', code: 'busy' })
      return queue.add(() => answered(request))
    },
    close() {
      for (const child of children) child.kill('SIGKILL')
    },
  }
}
