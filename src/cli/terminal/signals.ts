import { SignalError } from '../../util/errors.ts'
import type { FieldsOf } from '../../util/events.ts'
import { EXIT } from './fail.ts'

/** The signals that stop a command in order: Ctrl-C, `kill`, and a closed terminal; each with its exit code. */
export const EXIT_BY_SIGNAL = { SIGINT: EXIT.sigint, SIGTERM: EXIT.sigterm, SIGHUP: EXIT.sighup } as const
export type StopSignal = keyof typeof EXIT_BY_SIGNAL
export const STOP_SIGNALS = Object.keys(EXIT_BY_SIGNAL) as readonly StopSignal[]

/** The exit code of the first signal that this process received. */
let received: number | undefined

/** Returns the exit code of an error by which a signal stopped the command; undefined for any other error. */
export const signalCode = (error: unknown): number | undefined => (error instanceof SignalError ? received : undefined)

/** Ends the process by the signal itself: `process.exit` waits for threads and calls exit listeners. */
function endNow(name: StopSignal): void {
  process.removeAllListeners(name)
  // On Windows this would exit with code 1.
  if (process.platform !== 'win32') process.kill(process.pid, name)
  // The first process of a container is not ended by its own signal.
  process.exit(EXIT_BY_SIGNAL[name])
}

/**
 * Aborts at the first stop signal. A second one ends the process at once: nothing listens any more, so the system ends it even
 * if the event loop is busy. A second SIGHUP does not, because a terminal that closes and its shell both send one.
 */
export function watchSignals(
  report: (fields: FieldsOf<'signal.received'>) => void = () => undefined,
  controller = new AbortController(),
): { readonly signal: AbortSignal; code(): number | undefined; release(): void } {
  /** The exit code of the received signal. */
  let code: number | undefined
  const listeners = STOP_SIGNALS.map((name) => {
    const listener = () => {
      if (code !== undefined) return name === 'SIGHUP' ? undefined : endNow(name)
      code = EXIT_BY_SIGNAL[name]
      received ??= code
      const next = name === 'SIGHUP' ? 'SIGTERM stops' : 'repeat the signal to stop'
      report({ signal: name, reason: `Stopping after the requests in flight; ${next} immediately.` })
      // In the next turn: if two came while the loop was busy, this listener must also get the second.
      setImmediate(() => {
        // PID 1 is not killed by an unhandled signal, so keep the listener.
        if (process.pid !== 1) release(['SIGINT', 'SIGTERM'])
        controller.abort()
      })
    }
    process.on(name, listener)
    return { name, listener }
  })
  const release = (names = STOP_SIGNALS): void => {
    for (const { name, listener } of listeners) if (names.includes(name)) process.off(name, listener)
  }
  return { signal: controller.signal, code: () => code, release: () => release() }
}
