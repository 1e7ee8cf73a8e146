import { sql } from 'kysely'
import type { Reason } from '../tables/bookkeeping.ts'
import {
  type FailureOutcome,
  FETCH_OUTCOMES,
  type FetchOutcome,
  NOT_FAILED_OUTCOMES,
} from '../tables/sql/fetchOutcome.ts'

/*
 * Outcomes and reasons of requests, as SQL literals: a partial index is used only where its condition stands word for word in
 * the query, which a parameter does not.
 */

/** Answered, and the answer is trusted. */
export const GOOD_OUTCOMES = FETCH_OUTCOMES.good.map((outcome) => sql.lit(outcome))
/** All outcomes that are not failures. */
export const NO_FAILURE = NOT_FAILED_OUTCOMES.map((outcome) => sql.lit(outcome))
/** Whether a request came to nothing. */
export const isFailure = (outcome: FetchOutcome): outcome is FailureOutcome =>
  !(NOT_FAILED_OUTCOMES as readonly FetchOutcome[]).includes(outcome)
/** The statuses of answers by which the service does not know what was requested. */
export const UNKNOWN_STATUSES: readonly number[] = [404, 410]
/** Requested because it was absent at the source. */
export const ABSENT = sql.lit<Reason>('absent')
