import { SignalError } from '../../util/errors.ts'
import type { FieldsOf } from '../../util/events.ts'
import { EXIT } from './fail.ts'

/** The signals that end a command in order, with their exit codes: Ctrl-C, `kill`, and a terminal that closes. */
export const EXIT_BY_SIGNAL = { SIGINT: EXIT.sigint, SIGTERM: EXIT.sigterm, SIGHUP: EXIT.sighup } as const
export type StopSignal = keyof typeof EXIT_BY_SIGNAL
export const STOP_SIGNALS = Object.keys(EXIT_BY_SIGNAL) as readonly StopSignal[]

/** The exit code of the first signal that came, if one did. */
let received: number | undefined

/** The exit code of an error by which a signal stopped the command; undefined for any other error. */
export const signalCode = (error: unknown): number | undefined => (error instanceof SignalError ? received : undefined)

/** Ends the process as the signal itself would: `process.exit` waits for threads, and calls everything that listens for the end. */
function endNow(name: StopSignal): void {
  process.removeAllListeners(name)
  // On Windows this would exit with code 1.
  if (process.platform !== 'win32') process.kill(process.pid, name)
  // The first process of a container is not ended by its own signal.
  process.exit(EXIT_BY_SIGNAL[name])
}

/**
 * Turns the first of these signals into an aborted signal. A second one ends the process at once, whatever the first waits for:
 * by then nobody listens any more, so the system ends it, also while the event loop is busy. Only SIGHUP does not: a terminal that
 * closes sends it, and so does its shell.
 */
export function watchSignals(
  report: (fields: FieldsOf<'signal.received'>) => void,
  controller = new AbortController(),
): {
  readonly signal: AbortSignal
  /** The exit code of the signal that came, if one did. */
  code(): number | undefined
  release(): void
} {
  let code: number | undefined
  const on = (name: StopSignal) => {
    const listener = () => {
      if (code !== undefined) return name === 'SIGHUP' ? undefined : endNow(name)
      code = EXIT_BY_SIGNAL[name]
      received ??= code
      const again = name === 'SIGHUP' ? 'SIGTERM stops' : 'repeat the signal to stop'
      const reason = `Stopping after the requests in flight; ${again} immediately.`
      report({ signal: name, reason })
      // In the next turn: both may have come while the loop was busy, and whoever stops listening here would miss the second.
      setImmediate(() => {
        // The system does not end the first process of a container that does not listen.
        if (process.pid !== 1) release(['SIGINT', 'SIGTERM'])
        controller.abort()
      })
    }
    process.on(name, listener)
    return listener
  }
  const listeners = new Map(STOP_SIGNALS.map((name) => [name, on(name)]))
  const release = (names = STOP_SIGNALS): void => {
    for (const name of names) process.off(name, listeners.get(name)!)
  }
  return { signal: controller.signal, code: () => code, release: () => release() }
}
