import { sql } from 'kysely'

/*
 * What became of a request, and why it was requested, as literals: an index of some rows is used only where its condition stands in the query word for word,
 * and a parameter is none of its words.
 */

/** Answered, and believed. */
export const GOOD = (['ok', 'empty'] as const).map((outcome) => sql.lit(outcome))
const NOT_FAILED = ['ok', 'empty', 'coarse', 'too-large', 'stopped'] as const
/** All that is no failure. */
export const NO_FAILURE = NOT_FAILED.map((outcome) => sql.lit(outcome))
/** Whether a request came to nothing. */
export const isFailure = (outcome: string): boolean => !(NOT_FAILED as readonly string[]).includes(outcome)
/** Requested because it was absent at the source. */
export const ABSENT = sql.lit('absent')
