/** What every exit code means. */
export const EXIT_CODES = [
  ['0', 'done, or nothing to do'],
  ['1', 'partial: some requests failed, the rest is kept; `retry` helps'],
  ['2', 'usage or configuration'],
  ['3', 'key refused'],
  ['4', 'stopped on purpose: the budget is spent; the same command continues'],
  ['5', 'another process writes'],
  ['6', 'a check failed'],
  ['7', 'database'],
  ['8', 'service unavailable: it is down or cannot be reached; the same command continues later'],
  ['70', 'a bug of ours'],
  ['129', 'stopped as by SIGTERM, because the terminal was closed (SIGHUP)'],
  ['130, 143', 'stopped by SIGINT or SIGTERM, after the replies under way'],
] as const
