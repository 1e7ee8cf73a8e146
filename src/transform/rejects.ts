import type { ObservationKey, Reject } from '../tables/rows.ts'

/** So many rejects of one answer are kept with what stood there; the rest is counted, for the body is kept anyway. */
export const KEPT_REJECTS = 100

/** What of an answer could not be understood. */
export interface Rejected {
  /** The first of them. */
  readonly rejects: readonly Reject[]
  /** How many there are in all. */
  readonly rejected: number
}

/** Where rejects are gathered as an answer is read. */
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
