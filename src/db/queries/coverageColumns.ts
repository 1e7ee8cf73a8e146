/* The columns of coverage and of missing periods, as the judgement reads them. */

/** Columns of `_coverage`. */
export const COVERAGE_COLUMNS = [
  'geo_id as geo',
  'from_at as from',
  'to_at as to',
  'state',
  'fetched_at as fetchedAt',
  'settled_s as settledFor',
  'since_at as sinceAt',
] as const

/** Columns of `_absent`. */
export const ABSENT_COLUMNS = [
  'geo_id as geo',
  'from_at as from',
  'to_at as to',
  'step_s as step',
  'missing as periods',
  'reason',
  'since_at as sinceAt',
  'checked_at as checkedAt',
] as const
