import { spawn } from 'node:child_process'
import { StoreError } from '../../util/errors.ts'
import { EXIT } from '../terminal/fail.ts'
import type { watchSignals } from '../terminal/signals.ts'

/** The time for a process to end after a signal. The next run repeats its unfinished requests. */
const LAST_MS = 4_000

/** On Windows, Ctrl-C reaches every process of the console, and no process can send a signal to another. */
const SHARES_CONSOLE = process.platform === 'win32'

/** The error of a process that did not start; the system's own message is about a file. */
const createStartError = (error: Error): StoreError =>
  new StoreError(`its process did not start (${error.message}).`, {
    hint: 'If this repeats, this machine has too many processes or open files, or no memory left.',
    code: 'no-process',
    cause: error,
  })

/**
 * Runs a command of this program in a child process and passes signals on to it. Returns its exit code, or the signal that killed it.
 * Throws StoreError if it does not start.
 */
export async function runChild(
  words: readonly string[],
  { signal, code }: Pick<ReturnType<typeof watchSignals>, 'signal' | 'code'>,
): Promise<number | NodeJS.Signals> {
  const child = spawn(process.execPath, [...process.execArgv, process.argv[1]!, ...words], {
    // Outside of the terminal's process group, so that it receives Ctrl-C only once, from this process.
    detached: !SHARES_CONSOLE,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  let last: NodeJS.Timeout | undefined
  const passSignal = () => {
    if (!SHARES_CONSOLE) child.kill(code() === EXIT.sigint ? 'SIGINT' : 'SIGTERM')
    last = setTimeout(() => child.kill('SIGKILL'), LAST_MS)
  }
  if (signal.aborted) passSignal()
  signal.addEventListener('abort', passSignal, { once: true })
  try {
    return await new Promise((resolve, reject) => {
      child.once('exit', (exitCode, killedBy) => resolve(exitCode ?? killedBy ?? EXIT.bug))
      // A running process may also fail to receive a signal; wait for its end.
      child.on('error', (error) => child.pid === undefined && reject(createStartError(error)))
    })
  } finally {
    clearTimeout(last)
    signal.removeEventListener('abort', passSignal)
  }
}
