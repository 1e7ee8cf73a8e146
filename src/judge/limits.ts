import { DAY } from '../util/time/instant.ts'

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
export const WHOLE_DAYS_SHARE = 3 / 4
/** Successive coarse periods inside a day that show a change of resolution within the day; fewer are lost values. */
export const CHANGED_PERIODS = 3
/** A reply may lack this share of the stored final values of a day before the day is unverified. */
export const WITHDRAWN_SHARE = 1 / 8
/** Seconds between two replies that together prove a withdrawal: the next nightly run, even if it is early. */
export const SECOND_REPLY_AFTER_S = 20 * 3600

/** Seconds. Until the usual lag of a series is known, its last value may be as old as this, and as three steps. */
export const UNKNOWN_LAG_S = 7 * DAY
/** Seconds. Steps below this lose a few values every day for ever. */
export const TOLERANT_BELOW_S = 900
/** The share of a day that may be lost without a finding. */
export const TOLERATED_SHARE = 0.02
/** Seconds. A source that is further behind has probably ended, and is requested in rounds. */
export const AWAITED_S = 14 * DAY
/** A run may be late by this share of the interval between runs. */
export const LATE_SHARE = 0.25
/**
 * The most seconds by which a run may be late. A quarter of the year of a yearly job would hide a missed run for three months. A week
 * covers intervals that vary: months differ by three days, and runs that no schedule starts are seldom more punctual. It is longer than
 * the quarter for a daily or weekly job.
 */
export const MAX_LATE_S = 7 * DAY
/** The longest time between two attempts. */
export const LONGEST_PAUSE_S = 182 * DAY
/** Seconds by which a request may be early, because scheduled runs do not start at exactly the same time every day. */
export const EARLY_S = 3_600
