/** A run with a request that failed, in any schema of either database. */
export const FAILED_EARLIER = `
  insert into _run (id, command, job, version, started_at, outcome, requests, failed, bytes,
      rows_new, rows_unchanged, rows_revised, rows_withdrawn, rows_rejected)
    values (1, 'sync', 'nightly', '0', 'then', 'partial', 1, 1, 0, 0, 0, 0, 0, 0);
  insert into _fetch (run_id, entry, route, target, params, started_at, finished_at, outcome, attempts, ms, bytes,
      rows_new, rows_unchanged, rows_revised, rows_withdrawn, rows_rejected, rows_outside, message)
    values (1, 'catalogue', 'indicators', '/indicators', '{}', 'then', 'then', 'passing', 1, 1, 0, 0, 0, 0, 0, 0, 0, 'It failed.');`
