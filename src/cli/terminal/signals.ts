import { SignalError } from '../../base/errors.ts'
import type { FieldsOf } from '../../base/events.ts'
import { EXIT } from './fail.ts'

/** The exit code of the first signal that came, if one did. */
let received: number | undefined

/** The exit code of an error by which a signal stopped the command; undefined for any other error. */
export const signalCode = (error: unknown): number | undefined => (error instanceof SignalError ? received : undefined)

/** Ends the process as the signal itself would: `process.exit` waits for threads, and calls everything that listens for the end. */
function endNow(name: 'SIGINT' | 'SIGTERM', exit: number): void {
  process.removeAllListeners(name)
  process.kill(process.pid, name)
  // The first process of a container is not ended by its own signal.
  process.exit(exit)
}

/**
 * Turns the first SIGINT or SIGTERM into an aborted signal. A second one ends the process at once, whatever the first waits for:
 * by then nobody listens any more, so the system ends it, also while the event loop is busy.
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
  const on = (name: 'SIGINT' | 'SIGTERM', exit: number) => {
    const listener = () => {
      if (code !== undefined) return endNow(name, exit)
      code = exit
      received ??= exit
      const reason = 'Stopping after the replies under way; repeat it to stop at once.'
      report({ signal: name, reason })
      // In the next turn: both may have come while the loop was busy, and whoever stops listening here would miss the second.
      setImmediate(() => {
        // The system does not end the first process of a container that does not listen.
        if (process.pid !== 1) release()
        controller.abort()
      })
    }
    process.on(name, listener)
    return () => process.off(name, listener)
  }
  const releases = [on('SIGINT', EXIT.sigint), on('SIGTERM', EXIT.sigterm)]
  const release = (): void => {
    for (const one of releases) one()
  }
  return { signal: controller.signal, code: () => code, release }
}
