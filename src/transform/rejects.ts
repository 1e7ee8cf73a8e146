import type { ObservationKey, Reject } from '../tables/rows.ts'

/** How many rejects of one answer are kept with their fragments; the rest is only counted, because the body is kept anyway. */
const KEPT_REJECTS = 100

/** The parts of an answer that could not be understood. */
export interface Rejected {
  /** The first of them. */
  readonly rejects: readonly Reject[]
  /** How many there are in all. */
  readonly rejected: number
}

/** Collects rejects while an answer is parsed. */
export interface Rejects {
  add(path: string, reason: string, fragment: unknown, observation?: ObservationKey): void
  done(): Rejected
}

export function gatherRejects(): Rejects {
  const rejects: Reject[] = []
  let rejected = 0
  return {
    add(path, reason, fragment, observation) {
      if (rejected++ < KEPT_REJECTS) rejects.push({ path, reason, fragment, observation })
    },
    done: () => ({ rejects, rejected }),
  }
}
