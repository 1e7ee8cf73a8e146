/* The constants of the judgement, with the reason for each. */

/** Consecutive local days that show a regular timeline. They include a weekend, so that working days alone do not. */
export const REGULAR_DAYS = 7
/** Consecutive periods of a week or longer that show a regular timeline. */
export const REGULAR_PERIODS = 3
/**
 * Consecutive days with values, on average, after which a day without any is noticed, although the timeline is irregular: solar at
 * night, sessions. Of activations that come on most days, a quiet day is nothing unusual.
 */
export const DAILY_DAYS = 28
/** Consecutive days of a coarser step that show a change of resolution. An outage that thins values is repaired sooner. */
export const CHANGED_DAYS = 14
/** The share of whole days that makes a stretch of the finest step, although some days between them lost values. */
export const HELD_SHARE = 3 / 4
/** Successive coarse periods inside a day that show a change of resolution within the day; fewer are lost values. */
export const CHANGED_PERIODS = 3
/** A reply may lack this share of the stored final values of a day before the day is unverified. */
export const WITHDRAWN_SHARE = 1 / 8
/** Seconds between two replies that together prove a withdrawal: the next nightly run, even if it is early. */
export const SECOND_REPLY_AFTER = 20 * 3600
