import { sql } from 'kysely'

/*
 * Outcomes and reasons of requests, as SQL literals: a partial index is used only where its condition stands word for word in
 * the query, which a parameter does not.
 */

/** Answered, and the answer is trusted. */
export const GOOD = (['ok', 'empty'] as const).map((outcome) => sql.lit(outcome))
const NOT_FAILED = ['ok', 'empty', 'coarse', 'too-large', 'stopped'] as const
/** All outcomes that are not failures. */
export const NO_FAILURE = NOT_FAILED.map((outcome) => sql.lit(outcome))
/** Whether a request came to nothing. */
export const isFailure = (outcome: string): boolean => !(NOT_FAILED as readonly string[]).includes(outcome)
/** Requested because it was absent at the source. */
export const ABSENT = sql.lit('absent')
