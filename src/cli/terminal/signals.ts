import { StoppedError } from '../../base/errors.ts'
import type { OnEvent } from '../../base/events.ts'
import { EXIT } from './fail.ts'

/** The exit code of the first signal that came, if one did. */
let received: number | undefined

/** The exit code of an error by which a signal stopped the command; undefined for any other error. */
export const signalCode = (error: unknown): number | undefined =>
  error instanceof StoppedError && error.code === 'signal' ? received : undefined

/** Turns the first SIGINT or SIGTERM into an aborted signal; a second one ends the process at once. */
export function watchSignals(
  tell: OnEvent,
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
      if (code !== undefined) process.exit(exit)
      code = exit
      received ??= exit
      const reason = 'Stopping after the replies in hand; once more to stop at once.'
      tell({ event: 'signal.received', signal: name, reason })
      controller.abort()
    }
    process.on(name, listener)
    return () => process.off(name, listener)
  }
  const releases = [on('SIGINT', EXIT.sigint), on('SIGTERM', EXIT.sigterm)]
  return {
    signal: controller.signal,
    code: () => code,
    release: () => {
      for (const release of releases) release()
    },
  }
}
