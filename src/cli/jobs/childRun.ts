import { type ChildProcess, spawn } from 'node:child_process'
import { StoreError } from '../../util/errors.ts'
import { asSyncError } from '../../util/systemErrors.ts'
import { EXIT } from '../terminal/fail.ts'
import type { watchSignals } from '../terminal/signals.ts'

/** The environment variable that marks a child process of `schedule`, for one run of one job. */
const CHILD_RUN = 'INDICATOR_SYNC_CHILD_RUN'

/** The job that a child process of `schedule` runs. */
export interface ChildRun {
  /** The index of the job on the command line. */
  readonly index: number
  /** The id of the parent process. */
  readonly parent: number
}

/** The job that this process runs as a child of `schedule`; undefined if it is not such a child. */
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

/** The error of a process that did not start, or ended before it ran this program. */
const startError = (message: string, hint: string, cause?: unknown): StoreError =>
  new StoreError(message, { hint, code: 'no-process', cause })

/** Rewords a system error from starting a process, whose own message is about a file. */
const asStartError = (thrown: unknown): unknown =>
  thrown instanceof Error && 'syscall' in thrown
    ? startError(
        `its process did not start (${thrown.message}).`,
        'If this repeats, this machine has too many processes or open files, or no memory left.',
        thrown,
      )
    : thrown

/** Reports to the parent process that the run cannot start. */
export function reportRefusal(error: unknown): void {
  process.send?.(beginFailure(error))
}

/** A message to the parent process: the child is alive, or its run cannot start. */
type RunMessage = 'alive' | BeginFailure

/** How a child process ended: its exit code, a stall, the signal that killed it, or the reason why it did not start. */
export type ChildEnd = number | 'stalled' | NodeJS.Signals | BeginFailure

/** The time for a process to start, on a slow machine. */
const BEGIN_MS = 60_000

/** The time for a process to end after a signal. The next run repeats its unfinished requests. */
const LAST_MS = 4_000

/** On Windows, Ctrl-C reaches every process of the console, and no process can send a signal to another. */
const SHARES_CONSOLE = process.platform === 'win32'

/** Waits until a process has ended. Throws if it did not start. */
const ended = (child: ChildProcess): Promise<[code: number | null, signal: NodeJS.Signals | null]> =>
  new Promise((resolve, reject) => {
    child.once('exit', (...codeAndSignal) => resolve(codeAndSignal))
    // A running process may also fail to receive a signal or a message; wait for its end.
    child.on('error', (error) => child.pid === undefined && reject(error))
  })

/** Runs one job in a child process, so that the schedule continues if the job crashes, hangs or runs out of memory. */
export async function runInChild(
  index: number,
  { stallMs, signals }: { stallMs: number; signals: Pick<ReturnType<typeof watchSignals>, 'signal' | 'code'> },
): Promise<ChildEnd> {
  let child: ChildProcess | undefined
  let stalled = false
  const killStalled = () => {
    stalled = true
    child?.kill('SIGKILL')
  }
  let watch: NodeJS.Timeout | undefined
  let last: NodeJS.Timeout | undefined
  const passSignal = () => {
    if (!SHARES_CONSOLE) child?.kill(signals.code() === EXIT.sigint ? 'SIGINT' : 'SIGTERM')
    last = setTimeout(() => child?.kill('SIGKILL'), LAST_MS)
  }
  try {
    child = spawn(process.execPath, [...process.execArgv, ...process.argv.slice(1)], {
      // Outside of the terminal's process group, so that it receives Ctrl-C only once, from this process.
      detached: !SHARES_CONSOLE,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: { ...process.env, [CHILD_RUN]: `${index}:${process.pid}` },
    })
    const wait = Math.min(stallMs, 2 ** 31 - 1)
    watch = setTimeout(killStalled, Math.max(wait, BEGIN_MS))
    let refusal: BeginFailure | undefined
    let hasStarted = false
    child.on('message', (message: RunMessage) => {
      hasStarted = true
      if (typeof message === 'object') refusal = message
      clearTimeout(watch)
      watch = setTimeout(killStalled, wait)
    })
    if (signals.signal.aborted) passSignal()
    signals.signal.addEventListener('abort', passSignal, { once: true })
    const [code, signal] = await ended(child)
    if (code !== null && !hasStarted && !signals.signal.aborted)
      throw startError(
        `its process exited immediately with code ${code}.`,
        'Check its stderr, and that the program was not moved.',
      )
    return stalled ? 'stalled' : (refusal ?? code ?? signal ?? EXIT.bug)
  } catch (error) {
    return beginFailure(asStartError(error))
  } finally {
    clearTimeout(watch)
    clearTimeout(last)
    signals.signal.removeEventListener('abort', passSignal)
  }
}
