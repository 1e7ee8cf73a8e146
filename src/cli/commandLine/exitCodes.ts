/** The meaning of every exit code. */
export const EXIT_CODES = [
  ['0', 'done, or nothing to do'],
  ['1', 'partial: some requests failed, the rest is kept; run `retry`'],
  ['2', 'wrong usage or configuration'],
  ['3', 'key refused'],
  ['4', 'stopped: the budget is spent; run the same command later'],
  ['5', 'another process writes to the database'],
  ['6', 'a check failed'],
  ['7', 'database error'],
  ['8', 'service unavailable; run the same command later'],
  ['70', 'internal error'],
  ['129', 'the terminal was closed (SIGHUP)'],
  ['130, 143', 'stopped by SIGINT or SIGTERM'],
] as const
