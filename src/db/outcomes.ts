import { sql } from 'kysely'

/*
 * What became of a request, and why it was asked, as literals: an index of some rows is used only where its condition is asked for word for word,
 * and a parameter is none of its words.
 */

/** Answered, and believed. */
export const GOOD = (['ok', 'empty'] as const).map((outcome) => sql.lit(outcome))
/** All that is no failure. */
export const NO_FAILURE = (['ok', 'empty', 'coarse', 'too-large', 'stopped'] as const).map((outcome) =>
  sql.lit(outcome),
)
/** Asked because it was absent at the source. */
export const ABSENT = sql.lit('absent')
