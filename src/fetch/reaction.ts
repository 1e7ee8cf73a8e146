import {
  BrokenItemError,
  isOutage,
  KeyError,
  type SyncError,
  TransientError,
  UnavailableError,
} from '../util/errors.ts'
import type { Verdict } from './breaker.ts'
import type { AttemptFailure } from './classify.ts'
import { createLongPauseError, MAX_WAIT_MS } from './waits.ts'

/** A pause of all calls to a host. */
export interface Pause {
  readonly ms: number
  readonly reason: string
}

/** The reaction to a failed call, carried out after its pauses. `isGivenUp`: tells other processes that the host is down. */
export type Reaction =
  /** The request fails, unless the failure allows another attempt. */
  | {
      readonly kind: 'fail'
      readonly failure: AttemptFailure
      readonly pauses: readonly Pause[]
      readonly isGivenUp: boolean
    }
  /** The run ends. */
  | { readonly kind: 'end'; readonly error: SyncError; readonly pauses: readonly Pause[]; readonly isGivenUp: boolean }

/** True if a failure shows that its host does not work. */
export const isHostFailure = (
  failure: AttemptFailure,
): failure is AttemptFailure & { readonly error: TransientError } =>
  failure.error instanceof TransientError && !failure.isHostUp

const fail = (failure: AttemptFailure): Reaction => ({ kind: 'fail', failure, pauses: [], isGivenUp: false })
const end = (error: SyncError): Reaction => ({ kind: 'end', error, pauses: [], isGivenUp: false })

/**
 * Decides what follows from a failed call. `verdict`: that of the breaker of the host. `isService`: the host is that of the service.
 * `outagePauseMs`: the pause after a host is given up; null if that ends the run.
 */
export function reactTo(
  failure: AttemptFailure,
  verdict: Verdict,
  { isService, outagePauseMs }: { readonly isService: boolean; readonly outagePauseMs: number | null },
): Reaction {
  const { error, coolDownMs } = failure
  if (error instanceof KeyError) return end(error)
  if (!isHostFailure(failure)) return fail(failure)
  const isGivenUp = verdict.kind === 'giveUpHost'
  // Storage that is down fails its own files only; each further one costs a single call.
  if (!isService && (isGivenUp || verdict.kind === 'giveUpItem')) return fail({ ...failure, maxAttempts: 1 })
  if (verdict.kind === 'giveUpItem')
    return fail({ ...failure, error: new BrokenItemError(failure.error), maxAttempts: 1 })
  let breakerMs = verdict.kind === 'pause' ? verdict.ms : 0
  if (isGivenUp) {
    if (outagePauseMs === null) return end(new UnavailableError(error))
    breakerMs = outagePauseMs
  }
  const coolDown = { ms: coolDownMs, reason: error.message }
  if (coolDownMs > MAX_WAIT_MS && isOutage(error)) {
    const { message, hint } = createLongPauseError(coolDownMs)
    const outage = new TransientError(`${error.message} ${message}`, { code: error.code, cause: error })
    return { kind: 'end', error: new UnavailableError(outage, hint), pauses: [coolDown], isGivenUp }
  }
  const pauses = [{ ms: breakerMs, reason: 'the service keeps failing' }, coolDown].filter(({ ms }) => ms > 0)
  return coolDownMs > MAX_WAIT_MS
    ? { kind: 'end', error: createLongPauseError(coolDownMs), pauses, isGivenUp }
    : { kind: 'fail', failure, pauses, isGivenUp }
}
