import { type Coordination, requireCoordination } from '../db/coordination.ts'
import type { Store } from '../db/store.ts'
import { budgetSpent, callLimits, DAY_MS } from '../fetch/budget.ts'
import type { Pacer } from '../fetch/pacer.ts'
import { MAX_WAIT_MS, tooLong } from '../fetch/waits.ts'
import type { Pace } from '../job/job.ts'
import { SignalError, type StoppedError } from '../util/errors.ts'
import { wait } from '../util/time/wait.ts'

/** How a process waits for its calls. */
export interface PacerOptions {
  /** Whether it waits until a budget or a long pause is over, as workers do, instead of ending its run. */
  readonly isPatient?: boolean
  /** Called when calls wait for a pause or a budget: for how many milliseconds, and why. */
  readonly onPause?: ((ms: number, reason: string, error?: StoppedError) => void) | undefined
}

/** Milliseconds. A slot is taken when it is so near: a pause that begins meanwhile delays all but one call of each process. */
const AHEAD_MS = 1_000
/** Milliseconds. A process that was suspended for longer than this after its slot began takes another one. */
const LATE_MS = 1_000
/** Milliseconds by which the windows of a budget are longer than agreed: calls reach the service a little after their slots. */
const SLACK_MS = LATE_MS + 1_000
/** Processes differ by this share in how long a call takes from its slot to the service. */
const JITTER = 0.1
/** How often to look whether a budget or a long pause is over. */
const POLL_MS = 30_000

/**
 * The pace that all processes of a database share. A call takes the next slot in the row of its host and is counted in the same
 * statement, by the clock of the server. A process that dies wastes its slot.
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
      // One at a time: a process that reserved many slots would call in the middle of a pause.
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
  let reported = false
  const report = (ms: number, reason: string, error?: StoppedError): void => {
    if (!reported) onPause?.(ms, reason, error)
    reported = true
  }
  for (;;) {
    if (signal.aborted) throw new SignalError(signal.reason)
    const sentAt = performance.now()
    const { isTaken, beginsIn, spent } = await takeSlot(host, terms)
    if (spent !== null) {
      const error = budgetSpent(limits[spent]!)
      if (!isPatient) throw error
      report(POLL_MS, error.message, error)
      await wait(POLL_MS, signal)
    } else if (isTaken) {
      const late = (): number => performance.now() - sentAt - beginsIn
      await wait(Math.max(0, -late()), signal)
      if (late() <= LATE_MS) return
    } else {
      if (beginsIn > MAX_WAIT_MS && !isPatient) throw tooLong(beginsIn)
      if (beginsIn > AHEAD_MS + gap) report(beginsIn, 'all calls to the host are paused')
      await wait(Math.min(beginsIn - AHEAD_MS + 1, POLL_MS), signal)
    }
  }
}
