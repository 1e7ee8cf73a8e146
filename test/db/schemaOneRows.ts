/* The rows that a migration of the fixtures of schema 1 must keep, and their judgement afterwards. */

/** Rows that stay as they are, by name. Steps are judged again; jobs are compared by name. */
export const KEPT: Readonly<Record<string, string>> = {
  values: 'select series_id, geo_id, at, value, fetch_id from observation order by 1, 2, 3',
  revisions:
    'select series_id, geo_id, at, value, step_s, fetch_id, superseded_by from observation_revision order by 1, 2, 3, 4, 6',
  coverage:
    'select series_id, geo_id, from_at, to_at, state, fetched_at, settled_s, since_at from _coverage order by 1, 2, 3',
  'changes of resolution': 'select series_id, from_at, step_s from _resolution order by 1, 2',
  rejects:
    'select id, fetch_id, path, reason, fragment, resolved_at, dismissed, dismissed_after from _quarantine order by 1',
  requests:
    'select id, run_id, entry, target, params, outcome, rows_new, rows_revised, reply_hash from _fetch order by 1',
  runs: 'select id, command, job, started_at, finished_at, outcome, requests from _run order by 1',
  replies: 'select hash from _reply order by 1',
  series:
    'select id, kind, indicator_id, time_trunc, geo_agg, time_zone, lookback_s, created_at from series order by 1',
  geos: 'select series_id, geo_id from series_geo order by 1, 2',
  texts: 'select kind, id, locale, name from indicator_text order by 1, 2, 3',
  contents: 'select kind, id from content order by 1, 2',
  'revisions of contents': 'select kind, id, locale, fetch_id, superseded_by from content_revision order by 1, 2, 3, 4',
  archives: 'select id from archive order by 1',
  widgets: 'select id from widget order by 1',
}

/** The ranges of jobs before, and the same after. */
export const RANGES = {
  before: 'select series_id, job, geo_ids, from_at, to_at, refresh_s from _job_range order by 1, 2',
  after: `select d.series_id, j.name as job, d.geo_ids, d.from_at, d.to_at, d.refresh_s
    from _duty d join _job j on j.id = d.job_id order by 1, 2`,
}

/** The jobs with their runs and lookbacks afterwards. */
export const JOBS = `select j.name, j.first_run_at, j.last_run_at, min(d.lookback_s) as shortest, max(d.lookback_s) as longest
  from _job j join _duty d on d.job_id = j.id group by j.name, j.first_run_at, j.last_run_at order by 1`
export const EXPECTED_JOBS = [
  {
    name: 'market',
    first_run_at: '2025-11-02T12:00:00.250Z',
    last_run_at: '2025-11-05T12:00:00.250Z',
    shortest: 2 * 86_400,
    longest: 3 * 86_400,
  },
  {
    name: 'settlement',
    first_run_at: '2025-11-02T12:01:38.250Z',
    last_run_at: '2025-11-05T12:01:24.750Z',
    shortest: 2 * 86_400,
    longest: 248 * 86_400,
  },
]

/** The judged timelines: indicator, unit of time, geo, kind and step. */
export const CADENCES = `select s.indicator_id, s.time_trunc, c.geo_id, c.kind, c.step_s
  from _cadence c join series s on s.id = c.series_id order by s.id, c.geo_id, c.from_at`
export const EXPECTED_CADENCES = [
  [600, null, 1, 'regular', 900],
  [600, null, 3, 'regular', 900],
  [9001, null, 3, 'regular', 3600],
  [9001, null, 8741, 'regular', 3600],
  // Eight days of hours before the quarter-hours are too few to be native (C5).
  [9002, null, 3, 'regular', 900],
  // Too few values on too many days (C2).
  [9003, null, 3, 'irregular', null],
  [9004, null, 3, 'regular', 30 * 86_400],
  [9001, 'day', 3, 'regular', 86_400],
  [9001, 'day', 8741, 'regular', 86_400],
  // Less than a week.
  [25, null, 0, 'irregular', null],
  [9005, null, 8741, 'regular', 3600],
  [9005, null, 8742, 'regular', 3600],
  [9006, null, 3, 'irregular', null],
]

/** The missing periods, with the hours that are now missing quarter-hours as one row. */
export const ABSENCES = `select s.indicator_id, a.geo_id, min(a.from_at) as from_at, max(a.to_at) as to_at, sum(a.missing) as missing
  from _absent a join series s on s.id = a.series_id where a.reason = 'absent' group by s.id, s.indicator_id, a.geo_id order by s.id, a.geo_id`
export const EXPECTED_ABSENCES = [
  [9001, 3, 1_761_210_000, 1_761_220_800, 3],
  // A value that was withdrawn, and one before it: its lookback is that of settlements, so neither is final.
  [9001, 8741, 1_762_077_600, 1_762_084_800, 2],
  // Three quarter-hours of each of the 193 hours before the quarter-hours.
  [9002, 3, 1_760_912_100, 1_761_606_000, 579],
  [9004, 3, 1_748_728_800, 1_751_320_800, 1],
]

/** The kinds of gaps just after the last run: those of schema 1, for each geo, and the quarter-hours of 9002. */
export const EXPECTED_GAPS = [
  [9001, 3, 'absent'],
  [9002, 3, 'absent'],
  [9002, 3, 'unverified'],
  // Also the hours after its last reply: a later request for them failed.
  [9003, 3, 'failed'],
  [9004, 3, 'absent'],
  [9404, 0, 'failed'],
  [25, 0, 'unverified'],
  [9005, 8742, 'unverified'],
  [9006, 3, 'unverified'],
]

/** The begins and ends of what has one state, however it is cut: rows of schema 1 are merged, which a replay does not merge. */
const listBorders = (table: string, condition: string): string[] => {
  const isApart = (border: string) =>
    `not exists (select 1 from ${table} b where b.series_id = a.series_id and b.geo_id = a.geo_id and b.state = a.state and ${border})`
  return [
    `select series_id, geo_id, state, from_at from ${table} a where ${condition} and ${isApart('b.to_at = a.from_at')} order by 1, 2, 4`,
    `select series_id, geo_id, state, to_at from ${table} a where ${condition} and ${isApart('b.from_at = a.to_at')} order by 1, 2, 4`,
  ]
}

/** What follows from the values and replies. The reasons of missing periods are left out: withdrawals of the past are known to a replay only. */
export const JUDGED: readonly string[] = [
  'select series_id, geo_id, at, value, step_s from observation order by 1, 2, 3',
  'select series_id, geo_id, from_at, kind, step_s from _cadence order by 1, 2, 3',
  'select * from series_geo order by 1, 2',
  'select series_id, geo_id, from_at, to_at, step_s, missing from _absent order by 1, 2, 3',
  ...listBorders('_coverage', 'true'),
  "select series_id, geo_id, from_at, to_at, fetched_at, since_at from _coverage where state = 'unverified' order by 1, 2, 3",
  ...listBorders("(select * from _span where reason = 'stored')", 'true'),
  `select series_id, geo_id, from_at, to_at, state, next_at, due_at from _span
   where reason not in ('absent', 'null', 'withdrawn', 'stored') order by 1, 2, 3, 4, 5`,
]
