import type { RecordedOutcome } from '../../util/eventFields.ts'
import type { FetchOutcome } from './codes.ts'
import {
  blob,
  flag,
  instant,
  integer,
  json,
  moment,
  optional,
  rowid,
  SEARCHED_KIND,
  table,
  text,
  word,
} from './declare.ts'

/** The reason for a request. `absent` is that of all repeats, also for silent ranges: stored values keep their names. */
export type Reason = 'missing' | 'refresh' | 'unverified' | 'absent' | 'restate' | 'retry'

const ROW_COUNTERS = {
  rows_new: integer('New rows, and stored rows that changed only by filling in NULLs'),
  rows_unchanged: integer('Unchanged rows'),
  rows_revised: integer('Changed rows; the history keeps their old values and texts'),
  rows_withdrawn: integer('Values, items and links missing from a complete response'),
}

export const _job = table(
  'A job. Jobs with one name differ by host and file; a job without a file belongs to a program that uses the library.',
  {
    id: rowid('Id'),
    name: text('Name'),
    host: optional(text('Host of the file; NULL without one')),
    file: optional(text('Real path of the job file; NULL without one')),
    definition: optional(
      json('The job with all defaults, without addresses for notifications; NULL if it was never stored'),
    ),
    definition_at: moment('Last change of the definition'),
    former_definition: optional(json('The definition before that; NULL without one')),
    returns: integer('Number of consecutive changes that restored the former definition'),
    first_run_at: optional(moment('Start of the first run; NULL before it')),
    last_run_at: optional(moment('Start of the last run; NULL before the first one')),
    usual_s: optional(
      integer('Usual seconds between runs, by the last runs, or the longest by the schedule; NULL if unknown'),
    ),
    forgotten_at: optional(moment('Time of `prune --job`; NULL if not forgotten')),
  },
  { key: ['id'] },
)

export const _run = table(
  'A run of a command that writes.',
  {
    id: rowid('Id'),
    command: text('sync, backfill, retry …'),
    job: text('Job name'),
    job_id: optional(integer('Job (_job.id); NULL for commands without a job')),
    job_file: optional(text('Path of the job file, as given on the command line')),
    part: optional(text('Command and flags that selected part of the job (--only, a range, retry); NULL = all of it')),
    from_at: optional(instant('Start of the range of the command; NULL without one')),
    to_at: optional(instant('End of the range, exclusive')),
    version: text('Version of indicator-sync'),
    started_at: moment('Start'),
    finished_at: optional(moment('End; NULL while running or after a crash')),
    outcome: word<RecordedOutcome>('running, done, partial, stopped or failed'),
    planned: optional(integer('Planned requests and parts of split ones; NULL before planning, or if not counted')),
    requests: integer('Requests sent, not counting retries; one per row of _fetch, unless pruned'),
    failed: integer('Requests that failed after all retries'),
    bytes: integer('Decoded bytes of all responses'),
    ...ROW_COUNTERS,
    rows_rejected: integer('Rows and fields quarantined'),
    message: optional(text('Reason for an early end')),
    code: optional(text('Error code of the message, such as budget')),
    schedule: optional(text('Cron expression of the job')),
    time_zone: optional(text('Time zone of the cron expression')),
  },
  { key: ['id'] },
)

export const _fetch = table(
  'A request with its outcome.',
  {
    id: rowid('Id'),
    run_id: integer('Run (_run.id)'),
    entry: text('Entry of the job file, such as series[0]'),
    route: text('Route'),
    target: text('Path and query, without the key'),
    params: json('Parameters as JSON; instants in epoch seconds'),
    series_id: optional(integer('Series (series.id)')),
    geo_ids: optional(text('Requested geos, comma-separated; NULL = all')),
    from_at: optional(instant('Start of the window')),
    to_at: optional(instant('End of the window, exclusive')),
    started_at: moment('Time when the request was sent'),
    finished_at: moment('Time when the response was recorded'),
    outcome: word<FetchOutcome>(
      'ok, empty, coarse (mixed resolutions, fetched again in parts), too-large (split), stopped (the run ended first), or a failure: refused (by the service), transient, shape (unexpected body), key (rejected), failed (other)',
    ),
    status: optional(integer('HTTP status; NULL without a response')),
    attempts: integer('Calls sent, retries included'),
    ms: integer('Milliseconds from the first call to the last byte'),
    bytes: integer('Decoded bytes of the body'),
    reply_hash: optional(text('SHA-256 of the body (_reply.hash)')),
    step_s: optional(integer('Step of the response')),
    resolution_id: optional(integer('Id of the resolution in the response (tiempo)')),
    source_updated_at: optional(text('values_updated_at as received')),
    ...ROW_COUNTERS,
    rows_rejected: integer('Rows and fields quarantined, without dismissed ones'),
    rows_outside: integer('Rows outside the window, which are ignored'),
    message: optional(text('Error message')),
    hint: optional(text('Suggested fix')),
    evidence: optional(text('First 2 kB of an unreadable body')),
    settled_before: optional(instant('Values before this instant were settled')),
    time_zone: optional(text('Time zone of the service')),
    complete: optional(flag('1 if the listing was unfiltered, so that missing items count as withdrawn')),
    lookback_s: optional(integer('Longest lookback of the series so far, in seconds; NULL for listings and retries')),
    last_at: optional(instant('Last instant with a value')),
    reason: optional(
      word<Reason>(
        'missing, refresh, unverified, absent (repeat for absent or silent ranges), restate or retry; NULL if not recorded',
      ),
    ),
    code: optional(text('Error code, such as server-error; NULL if not recorded')),
  },
  { key: ['id'], references: { _run: ['run_id'], series: ['series_id'] } },
)

export const _reply = table(
  'A stored response body. Identical bodies are stored once.',
  {
    hash: text('SHA-256 of the decoded body, hex'),
    body: blob('Decoded body, compressed with zstd'),
    bytes: integer('Decoded bytes'),
    first_seen_at: moment('First received'),
  },
  { key: ['hash'] },
)

export const _quarantine = table(
  'A row, field or response that could not be parsed.',
  {
    id: rowid('Id'),
    run_id: integer('Run (_run.id)'),
    fetch_id: integer('Fetch that received it (_fetch.id)'),
    path: text('JSON path in the body'),
    reason: text('Why it could not be parsed'),
    fragment: text('Rejected JSON, at most 4 kB'),
    created_at: moment('Time of the rejection'),
    resolved_at: optional(moment('Time when it was dismissed, parsed by a replay or replaced by a valid response')),
    dismissed: optional(text('Reason for the dismissal; NULL if not dismissed')),
    dismissed_after: optional(
      integer('Last fetch before the dismissal (_fetch.id); identical rejects from later fetches are dismissed too'),
    ),
  },
  { key: ['id'], references: { _run: ['run_id'], _fetch: ['fetch_id'] } },
)

export const _budget = table(
  'Calls of the last day, to enforce budgets across processes.',
  {
    id: rowid('Id'),
    host: text('Called host'),
    called_at: integer('Time of the call (epoch milliseconds, UTC)'),
  },
  { key: ['id'] },
)

export const _source = table(
  'A service from which data was requested.',
  {
    host: text('Host, with the port if not the default'),
    base_url: text('Base address, without user name and password'),
    service: text('Name of the service definition'),
    first_called_at: moment('Time of the first call'),
    wait_until: optional(integer('End of the pause that the service requested (epoch milliseconds, UTC)')),
    wait_outage: optional(flag('1 if the service was down when it requested the pause, 0 if it limits its callers')),
  },
  { key: ['host'], withoutRowid: true },
)

export const _lock = table(
  'The current writer, for messages. The lock itself is a file lock on the `.lock` file.',
  {
    name: text('Always `writer`: one row for all'),
    fence: integer('Fence number of the writer (_fence.number)'),
    pid: integer('Process id'),
    host: text('Host name'),
    command: text('Command'),
    acquired_at: moment('Time of the acquisition'),
  },
  { key: ['name'], withoutRowid: true },
)

export const _fence = table(
  'Counter of lock acquisitions. Writers with an older number are refused.',
  { name: text('Always `writer`: one row for all'), number: integer('Number of acquisitions') },
  { key: ['name'], withoutRowid: true },
)

export const data_dictionary = table(
  'Description of every table, view and column.',
  {
    object: text('Table or view'),
    column_name: text('Column; empty for the table or view itself'),
    kind: text('table or view'),
    position: integer('Position of the column, from 1; 0 for the table or view itself'),
    type: optional(text('integer, real, text or blob; NULL for columns of views')),
    unit: optional(text('Unit or format')),
    meaning: text('Description'),
  },
  { key: ['object', 'column_name'], withoutRowid: true },
)

export const setting = table(
  'Settings of the database. `migrate --language` sets the language of names: language, such as es (default: en, if stored).',
  { name: text('language'), value: text('Value') },
  { key: ['name'] },
)

export const search_item = table(
  'A searchable text. Its id is the rowid in `search`, an FTS5 index that ignores accents, over name, more and text.',
  {
    id: rowid('Local id'),
    kind: text(SEARCHED_KIND),
    item_id: integer('Indicator, item or archive'),
    locale: text('Language, such as es'),
  },
  { key: ['id'] },
)
