/** The geo under which the answer to a request for all geos is recorded. A value has it where the service names no geo. */
export const ALL_GEOS = 0

/** What may become of a request, as `_fetch.outcome` records it, by what it means for those who read the record. */
export const FETCH_OUTCOMES = {
  /** Answered, and the answer is trusted. */
  good: ['ok', 'empty'],
  /** Answered with several resolutions in one: no row of it is used, and it was requested again in parts; after a request for absences, by a later run. */
  coarse: ['coarse'],
  /** Neither answered nor failed: its parts were requested in its place, or the run ended before the answer. */
  unanswered: ['too-large', 'stopped'],
  /** Failed for good; `failed` stands for errors without a word of their own. */
  failed: ['refused', 'transient', 'shape', 'key', 'failed'],
} as const

export type FetchOutcome = (typeof FETCH_OUTCOMES)[keyof typeof FETCH_OUTCOMES][number]
/** The outcomes of requests that failed. */
export type FailureOutcome = (typeof FETCH_OUTCOMES.failed)[number]
/** The outcomes of requests that neither were answered nor failed. */
export type UnansweredOutcome = (typeof FETCH_OUTCOMES.unanswered)[number]

/** Outcomes with an answer of the service. */
export const ANSWERED_OUTCOMES = [...FETCH_OUTCOMES.good, ...FETCH_OUTCOMES.coarse] as const
/** Outcomes that are not failures. */
export const NOT_FAILED_OUTCOMES = [...ANSWERED_OUTCOMES, ...FETCH_OUTCOMES.unanswered] as const

/** The reasons of the view `gaps`; `failed`: requested without success, `unverified`: the answer is not trusted, `absent`: missing at the source. */
export const GAP_REASONS = ['never requested', 'failed', 'unverified', 'absent'] as const
export type GapReason = (typeof GAP_REASONS)[number]
