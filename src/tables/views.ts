const WHICH = {
  series_id: 'The series (series.id)',
  kind: 'indicator or offer_indicator',
  indicator_id: 'The indicator (indicator.id)',
  indicator_name: 'Its name, Spanish where held, else English',
}
const WHERE = { geo_id: 'The geo; 0 where the service names none', geo_name: 'Its name' }
const WHEN = {
  at_utc: 'When the period begins, YYYY-MM-DDTHH:MM:SSZ',
  at_local: "When the period begins in the series' zone, with offset",
  local_date: "The day in the series' zone",
  step_s: 'Length of the period in seconds',
}
const TOTALS = {
  count: 'Values that are not null',
  min: 'The smallest value',
  max: 'The largest value',
  avg: 'The average over time: each value counts as long as its period lasts',
  sum: 'The plain sum: for energy per period (MWh)',
  energy: 'The sum of value times hours: energy in MWh where the value is a power in MW',
  hours: 'Hours that the values cover',
}

/** Every view of the database: what a row is, and what its columns mean. The SQL is in the migrations. */
export const VIEWS = {
  observations: {
    about: 'Every current value with its names and its local time.',
    columns: {
      ...WHICH,
      ...WHERE,
      ...WHEN,
      value: 'The value',
      fetched_at: 'When this value came (UTC, ISO 8601 to the millisecond)',
    },
  },
  observation_history: {
    about: 'Every version of every value; what was known at T: valid_from <= T and (valid_to is null or valid_to > T).',
    columns: {
      ...WHICH,
      ...WHERE,
      ...WHEN,
      value: 'The value',
      fetched_at: 'When this version came',
      valid_from: 'Since when it was known here (UTC, ISO 8601 to the millisecond)',
      valid_to: 'Until when; NULL for the current version',
    },
  },
  observations_daily: {
    about: 'Values by local day: 23, 24 or 25 hours.',
    columns: { ...WHICH, ...WHERE, local_date: "The day in the series' zone", ...TOTALS },
  },
  observations_monthly: {
    about: 'Values by local month.',
    columns: { ...WHICH, ...WHERE, local_month: "The month in the series' zone, YYYY-MM", ...TOTALS },
  },
  latest: {
    about: 'The last value of every series and geo.',
    columns: { ...WHICH, ...WHERE, ...WHEN, value: 'The value', fetched_at: 'When this value came' },
  },
  coverage: {
    about: 'What is held, in local time.',
    columns: {
      ...WHICH,
      geo_id: 'The geo that was asked for; 0 when all were',
      from_local: 'First instant held',
      to_local: 'First instant after it',
      state: 'final, provisional or empty',
      fetched_at: 'When the oldest part of it was fetched',
    },
  },
  gaps: {
    about: 'Holes inside the range that was asked for: never asked, or asked and absent at the source.',
    columns: {
      ...WHICH,
      geo_id: 'The geo; 0 when all were asked for',
      from_local: 'First instant of the hole',
      to_local: 'First instant after it',
      reason: 'unasked: no answer for it is held; absent: the service answered without it',
      missing: 'Periods missing, for absent ones',
    },
  },
  freshness: {
    about: 'How far every series and geo reaches, and when it was last asked.',
    columns: {
      ...WHICH,
      ...WHERE,
      first_utc: 'The first instant with a value',
      last_utc: 'The last instant with a value',
      last_local: 'The same in local time',
      checked_at: 'When the series was last asked (UTC)',
    },
  },
  indicator_history: {
    about: 'Every version of the texts of every indicator, in every language.',
    columns: {
      kind: 'indicator or offer_indicator',
      id: 'The indicator (indicator.id)',
      locale: 'es or en',
      name: 'Its name',
      short_name: 'Its short name',
      description: 'Its description, HTML as it came',
      valid_from: 'Since when it was known here (UTC, ISO 8601 to the millisecond)',
      valid_to: 'Until when; NULL for the current version',
    },
  },
  runs: {
    about: 'What ran, the latest first.',
    columns: {
      id: 'Its number',
      command: 'sync, backfill, retry …',
      job: 'The name of the job',
      started_at: 'When it began',
      finished_at: 'When it ended',
      seconds: 'How long it took',
      outcome: 'running, done, partial, stopped or failed',
      requests: 'Requests',
      failed: 'Requests that failed for good',
      bytes: 'Bytes of the answers',
      rows_new: 'Rows that were not there before',
      rows_unchanged: 'Rows that were there and equal',
      rows_revised: 'Rows whose value changed',
      rows_withdrawn: 'Values that the service no longer has',
      rows_rejected: 'Rows in quarantine',
      message: 'Why it stopped',
    },
  },
} as const satisfies Record<string, { about: string; columns: Record<string, string> }>
