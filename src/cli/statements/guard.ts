import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import { InputError, StoppedError } from '../../base/errors.ts'
import { EXIT_BY_SIGNAL, STOP_SIGNALS, type StopSignal } from '../terminal/signals.ts'

/** The environment variable that names the parent of a guarded process. */
const GUARDED = 'INDICATOR_SYNC_GUARDED'

/** The process that guards this one; null when none does. */
export const guardian = (): number | null => (process.env[GUARDED] === undefined ? null : Number(process.env[GUARDED]))

/** Signals by which a process ends that has no memory left. */
const NO_MEMORY: readonly (NodeJS.Signals | null)[] = ['SIGABRT', 'SIGKILL', 'SIGTRAP', 'SIGILL']

/**
 * Runs the same command in a process that can be ended in the middle of a statement, which nothing inside can do:
 * nothing can interrupt SQLite while it searches for the first row. No time limit when `seconds` is 0.
 */
export async function guarded(seconds: number): Promise<number> {
  // The child ends by what ends us, and then so do we. It has got Ctrl-C already, but no signal that was sent to us alone.
  const pass = (name: NodeJS.Signals) => child.kill(name)
  for (const name of STOP_SIGNALS) process.on(name, pass)
  const child = spawn(process.execPath, [...process.execArgv, ...process.argv.slice(1)], {
    stdio: 'inherit',
    env: { ...process.env, [GUARDED]: String(process.pid) },
  })
  let late = false
  const end = (): void => {
    late = true
    child.kill('SIGKILL')
  }
  const timer = seconds === 0 ? undefined : setTimeout(end, Math.min(seconds * 1000, 2 ** 31 - 1))
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
  clearTimeout(timer)
  for (const name of STOP_SIGNALS) process.off(name, pass)
  if (late)
    throw new StoppedError(`The query took longer than ${seconds} s and was ended.`, {
      hint: 'Ask less (where series_id = …, indicator_id = …), or allow more: --timeout 600, or 0 for no limit.',
      code: 'timeout',
    })
  // When Node runs out of memory, it prints its own message and ends the process.
  if (NO_MEMORY.includes(signal) || code === 128 + constants.signals.SIGABRT)
    throw new InputError('The answer needs more memory than a query may take (768 MiB).', {
      hint: 'Ask for less at once: fewer rows with limit, fewer columns, or --format csv, which holds one row at a time.',
      code: 'no-memory',
    })
  return code ?? EXIT_BY_SIGNAL[signal as StopSignal] ?? EXIT_BY_SIGNAL.SIGTERM
}
