/** The geo of requests for all geos, and of values without a geo. */
export const ALL_GEOS = 0

/** The values of `_fetch.outcome`, by their meaning for readers. */
export const FETCH_OUTCOMES = {
  /** The response is trusted. */
  good: ['ok', 'empty'],
  /** The response mixes resolutions and is not used. Its parts are requested instead: those of a repeat by a later run. */
  coarse: ['coarse'],
  /** No response and no failure: its parts were requested instead, or the run ended first. */
  abandoned: ['too-large', 'stopped'],
  /** Failed after all retries; `failed` stands for errors without an outcome of their own. */
  failed: ['refused', 'transient', 'shape', 'key', 'failed'],
} as const

export type FetchOutcome = (typeof FETCH_OUTCOMES)[keyof typeof FETCH_OUTCOMES][number]
/** Outcomes of failed requests. */
export type FailureOutcome = (typeof FETCH_OUTCOMES.failed)[number]
/** Outcomes of requests without response and failure. */
export type AbandonedOutcome = (typeof FETCH_OUTCOMES.abandoned)[number]

/** Outcomes with a response. */
export const REPLY_OUTCOMES = [...FETCH_OUTCOMES.good, ...FETCH_OUTCOMES.coarse] as const
/** Outcomes that are not failures. */
export const NOT_FAILED_OUTCOMES = [...REPLY_OUTCOMES, ...FETCH_OUTCOMES.abandoned] as const

/** The reasons of missing periods. */
const ABSENCE_REASONS = ['absent', 'null', 'withdrawn'] as const
/** Whether single periods are missing, from a response that is verified. */
export const isAbsence = (reason: string | null): boolean => ABSENCE_REASONS.some((absence) => absence === reason)

/** The reasons of the view `gaps`. */
export const GAP_REASONS = ['never requested', 'failed', 'unverified', ...ABSENCE_REASONS, 'late', 'no values'] as const
export type GapReason = (typeof GAP_REASONS)[number]

/** `indicator_unit.from_at` of the first row of an indicator: the first instant of the year 1. */
export const BEGINNING = -62_135_596_800
