import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { EXIT } from '../terminal/fail.ts'
import type { watchSignals } from '../terminal/signals.ts'

/** The environment variable that marks a child process of `schedule`, for one run of one job. */
const CHILD_RUN = 'INDICATOR_SYNC_TURN'

/** Which job has its turn, and in whose name. */
export interface ChildRun {
  readonly index: number
  readonly parent: number
}

/** The turn of this process; undefined in the one that gives turns. */
export function readChildRun(): ChildRun | undefined {
  const [index, parent] = (process.env[CHILD_RUN] ?? '').split(':').map(Number)
  return Number.isInteger(index) && parent === process.ppid ? { index: index!, parent } : undefined
}

let lastReport = 0

/** Reports progress to the parent process, at most once a second. */
export function reportAlive(): void {
  if (performance.now() - lastReport < 1000 || !process.connected) return
  lastReport = performance.now()
  process.send?.('alive')
}

/** So long may a process take to begin: on a slow machine that is longer than some jobs may be silent. */
const BEGIN_MS = 60_000

/** So long may a process take to end after a signal; what it has in hand is then requested again by the next run. */
const LAST_MS = 4_000

/**
 * Runs one job in a process of its own: one that hangs, or uses up its memory, is ended and the others go on. Answers its
 * exit code, `stalled` when nothing was heard of it for too long, or the signal that ended it.
 */
export async function runInChild(
  index: number,
  { stallMs, signals }: { stallMs: number; signals: Pick<ReturnType<typeof watchSignals>, 'signal' | 'code'> },
): Promise<number | 'stalled' | NodeJS.Signals> {
  const child = spawn(process.execPath, [...process.execArgv, ...process.argv.slice(1)], {
    // Not in the group of the terminal: Ctrl-C comes to it once, from here.
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, [CHILD_RUN]: `${index}:${process.pid}` },
  })
  let stalled = false
  const giveUp = () => {
    stalled = true
    child.kill('SIGKILL')
  }
  const wait = Math.min(stallMs, 2 ** 31 - 1)
  let watch = setTimeout(giveUp, Math.max(wait, BEGIN_MS))
  child.on('message', () => {
    clearTimeout(watch)
    watch = setTimeout(giveUp, wait)
  })
  let last: NodeJS.Timeout | undefined
  const pass = () => {
    child.kill(signals.code() === EXIT.sigint ? 'SIGINT' : 'SIGTERM')
    last = setTimeout(() => child.kill('SIGKILL'), LAST_MS)
  }
  if (signals.signal.aborted) pass()
  signals.signal.addEventListener('abort', pass, { once: true })
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
  clearTimeout(watch)
  clearTimeout(last)
  signals.signal.removeEventListener('abort', pass)
  return stalled ? 'stalled' : (code ?? signal ?? EXIT.bug)
}
