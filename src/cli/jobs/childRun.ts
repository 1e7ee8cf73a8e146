import { type ChildProcess, spawn } from 'node:child_process'
import { StoreError } from '../../util/errors.ts'
import { asSyncError } from '../../util/systemErrors.ts'
import { EXIT } from '../terminal/fail.ts'
import type { watchSignals } from '../terminal/signals.ts'

/** The environment variable that marks a child process of `schedule`, for one run of one job. */
const CHILD_RUN = 'INDICATOR_SYNC_CHILD_RUN'

/** What a child process of `schedule` runs. */
export interface ChildRun {
  /** The place of the job among those of the command line. */
  readonly index: number
  /** The id of the process that started it. */
  readonly parent: number
}

/** What this process runs as a child of `schedule`; undefined where it is not such a child. */
export function readChildRun(): ChildRun | undefined {
  const [index, parent] = (process.env[CHILD_RUN] ?? '').split(':').map(Number)
  return Number.isInteger(index) && parent === process.ppid ? { index: index!, parent } : undefined
}

let lastReport = -Infinity

/** Reports progress to the parent process, at most once a second. */
export function reportAlive(): void {
  if (performance.now() - lastReport < 1000 || !process.connected) return
  lastReport = performance.now()
  process.send?.('alive')
}

/** Why a run could not start. */
interface BeginFailure {
  readonly refused: { readonly code: string; readonly reason: string; readonly hint: string | undefined }
}

const beginFailure = (thrown: unknown): BeginFailure => {
  const { code, message, hint } = asSyncError(thrown)
  return { refused: { code, reason: message, hint } }
}

/** The process of a run was not started, or ended before it ran anything of this program. */
const noProcess = (message: string, hint: string, cause?: unknown): StoreError =>
  new StoreError(message, { hint, code: 'no-process', cause })

/** An error of the system while a process was started, told as such: its words are about a file. */
const asStartError = (thrown: unknown): unknown =>
  thrown instanceof Error && 'syscall' in thrown
    ? noProcess(
        `its process did not start (${thrown.message}).`,
        'If this repeats, this machine has too many processes or open files, or no memory left.',
        thrown,
      )
    : thrown

/** Tells the parent process that the run cannot begin. */
export function reportRefusal(error: unknown): void {
  process.send?.(beginFailure(error))
}

/** What a child process tells its parent: that it is alive, or why the run cannot begin. */
type RunMessage = 'alive' | BeginFailure

/** How the process of a run ended: its exit code, that it was ended for its silence, the signal that ended it, or why it could not start. */
export type ChildEnd = number | 'stalled' | NodeJS.Signals | BeginFailure

/** How long a process may take to begin, on a slow machine. */
const BEGIN_MS = 60_000

/** How long a process may take to end after a signal; what it was doing then is requested again by the next run. */
const LAST_MS = 4_000

/** On Windows, Ctrl-C reaches every process of the console, and no process can send a signal to another. */
const SHARES_CONSOLE = process.platform === 'win32'

/** Waits until a process has ended; throws where it could not be started. */
const ended = (child: ChildProcess): Promise<[code: number | null, signal: NodeJS.Signals | null]> =>
  new Promise((resolve, reject) => {
    child.once('exit', (...how) => resolve(how))
    // A process that runs may also fail to take a signal or a message: its end is still waited for.
    child.on('error', (error) => child.pid === undefined && reject(error))
  })

/** Runs one job in a process of its own: one that cannot be started, hangs, or uses up its memory is told and the others continue. */
export async function runInChild(
  index: number,
  { stallMs, signals }: { stallMs: number; signals: Pick<ReturnType<typeof watchSignals>, 'signal' | 'code'> },
): Promise<ChildEnd> {
  let child: ChildProcess | undefined
  let stalled = false
  const giveUp = () => {
    stalled = true
    child?.kill('SIGKILL')
  }
  let watch: NodeJS.Timeout | undefined
  let last: NodeJS.Timeout | undefined
  const pass = () => {
    if (!SHARES_CONSOLE) child?.kill(signals.code() === EXIT.sigint ? 'SIGINT' : 'SIGTERM')
    last = setTimeout(() => child?.kill('SIGKILL'), LAST_MS)
  }
  try {
    child = spawn(process.execPath, [...process.execArgv, ...process.argv.slice(1)], {
      // Not in the group of the terminal: Ctrl-C comes to it once, from here.
      detached: !SHARES_CONSOLE,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: { ...process.env, [CHILD_RUN]: `${index}:${process.pid}` },
    })
    const wait = Math.min(stallMs, 2 ** 31 - 1)
    watch = setTimeout(giveUp, Math.max(wait, BEGIN_MS))
    let refusal: BeginFailure | undefined
    let begun = false
    child.on('message', (message: RunMessage) => {
      begun = true
      if (typeof message === 'object') refusal = message
      clearTimeout(watch)
      watch = setTimeout(giveUp, wait)
    })
    if (signals.signal.aborted) pass()
    signals.signal.addEventListener('abort', pass, { once: true })
    const [code, signal] = await ended(child)
    if (code !== null && !begun && !signals.signal.aborted)
      throw noProcess(
        `its process exited immediately with code ${code}.`,
        'Check its stderr, and that the program was not moved.',
      )
    return stalled ? 'stalled' : (refusal ?? code ?? signal ?? EXIT.bug)
  } catch (error) {
    return beginFailure(asStartError(error))
  } finally {
    clearTimeout(watch)
    clearTimeout(last)
    signals.signal.removeEventListener('abort', pass)
  }
}
