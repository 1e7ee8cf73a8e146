import { type Coordination, requireCoordination } from '../db/coordination.ts'
import type { Store } from '../db/store.ts'
import { callLimits, createBudgetError } from '../fetch/budget.ts'
import type { Pacer } from '../fetch/pacer.ts'
import { createLongPauseError, MAX_WAIT_MS } from '../fetch/waits.ts'
import type { Pace } from '../job/job.ts'
import { SignalError, type StoppedError } from '../util/errors.ts'
import { DAY_MS } from '../util/time/instant.ts'
import { wait } from '../util/time/wait.ts'

export interface PacerOptions {
  /** Whether the process waits for the end of a spent budget or a long pause, as workers do. Default: the run ends. */
  readonly isPatient?: boolean
  /** Called when calls wait for `ms` milliseconds. */
  readonly onPause?: ((ms: number, reason: string, error?: StoppedError) => void) | undefined
}

/** Milliseconds before a slot at which it is taken. A pause that starts meanwhile delays all but one call of each process. */
const AHEAD_MS = 1_000
/** Milliseconds after a slot at which it expires, such as for a suspended process, which takes another one. */
const LATE_MS = 1_000
/** Milliseconds by which the windows of a budget are extended, because calls reach the service a little after their slots. */
const SLACK_MS = LATE_MS + 1_000
/** The share by which the distance between slots grows, because calls take different times to the service. */
const JITTER = 0.1
/** Milliseconds between two checks of a spent budget or a long pause. */
const POLL_MS = 30_000

/**
 * Creates a pacer that all processes of a database share. One statement takes the next slot in the row of the host and counts the
 * call, by the clock of the server. A process that dies wastes its slot.
 */
export function createSharedPacer(
  store: Pick<Store, 'coordination' | 'file'>,
  pace: Pace,
  options: PacerOptions,
): Pacer {
  const coordination = requireCoordination(store)
  let last: Promise<unknown> = Promise.resolve()
  return {
    take(host, signal) {
      // One at a time, because a process with many reserved slots would call during a pause.
      const taken = last.then(() => takeSlot(coordination, host, pace, signal, options))
      last = taken.catch(() => undefined)
      return taken
    },
    pause: (host, ms) => coordination.delayHost(host, ms),
  }
}

async function takeSlot(
  { takeSlot }: Coordination,
  host: string,
  pace: Pace,
  signal: AbortSignal,
  { isPatient = false, onPause }: PacerOptions,
): Promise<void> {
  const limits = callLimits(pace)
  const gap = Math.ceil((1000 * (1 + JITTER)) / pace.perSecond)
  const terms = {
    gap,
    ahead: AHEAD_MS,
    limits: limits.map(({ calls, ms }) => ({ calls, ms: ms + SLACK_MS })),
    remembered: DAY_MS + SLACK_MS,
  }
  let isReported = false
  const report = (ms: number, reason: string, error?: StoppedError): void => {
    if (!isReported) onPause?.(ms, reason, error)
    isReported = true
  }
  for (;;) {
    if (signal.aborted) throw new SignalError(signal.reason)
    const sentAt = performance.now()
    const { isTaken, beginsIn, spent } = await takeSlot(host, terms)
    if (spent !== null) {
      const error = createBudgetError(limits[spent]!)
      if (!isPatient) throw error
      report(POLL_MS, error.message, error)
      await wait(POLL_MS, signal)
    } else if (isTaken) {
      const late = (): number => performance.now() - sentAt - beginsIn
      await wait(Math.max(0, -late()), signal)
      if (late() <= LATE_MS) return
    } else {
      if (beginsIn > MAX_WAIT_MS && !isPatient) throw createLongPauseError(beginsIn)
      if (beginsIn > AHEAD_MS + gap) report(beginsIn, 'all calls to the host are paused')
      await wait(Math.min(beginsIn - AHEAD_MS + 1, POLL_MS), signal)
    }
  }
}
