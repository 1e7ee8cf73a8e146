import type { RecordedOutcome } from '../base/runOutcome.ts'
import { blob, flag, instant, integer, json, moment, optional, rowid, table, text, word } from './declare.ts'
import type { FetchOutcome } from './sql/fetchOutcome.ts'

/** Why something is requested: it was never held, may still be revised, is in doubt, was absent at the source, or the user wants it again. */
export type Reason = 'missing' | 'refresh' | 'doubt' | 'absent' | 'restate' | 'retry'

export const _run = table(
  'One run of a command that writes.',
  {
    id: rowid('Its number'),
    command: text('sync, backfill, retry …'),
    job: text('The name of the job'),
    job_file: optional(text('Path of the job file, as it was given to the command')),
    narrowed: optional(flag('1 if it covered only a part of the job: --only, a range, or retry; else NULL')),
    version: text('The version of indicator-sync'),
    started_at: moment('When it began'),
    finished_at: optional(moment('When it ended; NULL while it runs, or after a crash')),
    outcome: word<RecordedOutcome>('running, done, partial, stopped or failed'),
    requests: integer(
      'Requests that were sent, whatever became of them, as many as rows of _fetch; one that was repeated counts once',
    ),
    failed: integer('Requests that failed for good'),
    bytes: integer('Bytes of the answers, decoded'),
    rows_new: integer('Rows that were not there before, or in which only empty columns were filled'),
    rows_unchanged: integer('Rows that were there and equal'),
    rows_revised: integer('Rows that were there and changed; of values and texts the old version is in the history'),
    rows_withdrawn: integer('Values, items and links that a complete answer no longer held'),
    rows_rejected: integer('Rows and fields that went to quarantine'),
    message: optional(text('Why it stopped, when it did')),
    schedule: optional(text('The cron expression of its job, where it has one')),
    time_zone: optional(text('The zone in which that expression is meant')),
  },
  { key: ['id'] },
)

export const _fetch = table(
  'One request with its outcome.',
  {
    id: rowid('Its number'),
    run_id: integer('The run it was sent by (_run.id)'),
    entry: text('The place in the job file that requested it, such as series[0]'),
    route: text('The route'),
    target: text('Path and query as sent; never the key'),
    params: json('The parameters of the call, as JSON; instants in epoch seconds'),
    series_id: optional(integer('The series it requested (series.id)')),
    geo_ids: optional(text('The geos it requested, separated by commas; NULL for all')),
    from_at: optional(instant('First instant of the window')),
    to_at: optional(instant('First instant after the window')),
    started_at: moment('When it was sent'),
    finished_at: moment('When it was recorded'),
    outcome: word<FetchOutcome>(
      'ok, empty, coarse (it spans a change of resolution and was requested again in parts), too-large (for the service; its parts were requested), stopped (the run ended before the answer), or a failure: refused, passing, shape, key, failed',
    ),
    status: optional(integer('HTTP status; NULL when there was no answer')),
    attempts: integer('How often it was sent: the calls that it took, as the service and _budget count them'),
    ms: integer('Milliseconds from the first sending to the last byte'),
    bytes: integer('Bytes of the body, decoded'),
    reply_hash: optional(text('SHA-256 of the body (_reply.hash)')),
    step_s: optional(integer('The resolution that the answer claims, in seconds')),
    resolution_id: optional(integer("The service's number for that resolution (tiempo)")),
    source_updated_at: optional(text('values_updated_at of the answer, as it came')),
    rows_new: integer('Rows that were not there before, or in which only empty columns were filled'),
    rows_unchanged: integer('Rows that were there and equal'),
    rows_revised: integer('Rows that were there and changed; of values and texts the old version is in the history'),
    rows_withdrawn: integer('Values, items and links that the answer no longer held'),
    rows_rejected: integer('Rows and fields that went to quarantine; those that were dismissed before are not counted'),
    rows_outside: integer('Rows outside the window, dropped'),
    message: optional(text('What went wrong')),
    hint: optional(text('What to do next')),
    evidence: optional(text('The first 2 kB of a body that could not be read')),
    settled_before: optional(instant('What ended before this counted as past revision')),
    time_zone: optional(text('The zone of the service, in which its days were counted')),
    complete: optional(flag('1 when an item that the answer lacks has been withdrawn: the listing was not filtered')),
    lookback_s: optional(
      integer(
        'The longest lookback that the series was requested with by then, in seconds; NULL for listings and retries',
      ),
    ),
    last_at: optional(instant('The last instant with a value in the answer')),
    doubts: optional(json('What a coarse answer left in doubt, as JSON: intervals with from and to, in epoch seconds')),
    reason: optional(
      word<Reason>(
        'Why it was requested: missing, refresh, doubt, absent, restate or retry; NULL before that was recorded',
      ),
    ),
    code: optional(
      text('What went wrong, as a word for programs, such as server-error; NULL before that was recorded'),
    ),
  },
  {
    key: ['id'],
    references: [
      { columns: ['run_id'], of: '_run' },
      { columns: ['series_id'], of: 'series' },
    ],
  },
)

export const _reply = table(
  'The body of a reply; equal bodies are kept once.',
  {
    hash: text('SHA-256 of the decoded body, hex'),
    body: blob('The decoded body, compressed with zstd'),
    bytes: integer('Bytes of the decoded body'),
    first_seen_at: moment('When it first came'),
  },
  { key: ['hash'] },
)

export const _quarantine = table(
  'A row, a field or a reply that could not be understood.',
  {
    id: rowid('Its number'),
    run_id: integer('The run (_run.id)'),
    fetch_id: integer('The fetch that brought it (_fetch.id)'),
    path: text('Where in the body, as a JSON path'),
    reason: text('Why it could not be understood'),
    fragment: text('The part of the body that could not be understood, as JSON, at most 4 kB'),
    created_at: moment('When it was found'),
    resolved_at: optional(
      moment('When it was understood by a replay, its window was answered without rejects, or it was dismissed'),
    ),
    dismissed: optional(text('The reason of its dismissal; NULL when it was not dismissed')),
    dismissed_after: optional(
      integer(
        'The last fetch before it was dismissed (_fetch.id): equal rejects of later answers are dismissed with it',
      ),
    ),
    geo_id: optional(integer('The geo of the value that it would be; NULL where that is not known')),
    at: optional(instant('The instant of the value that it would be')),
  },
  {
    key: ['id'],
    references: [
      { columns: ['run_id'], of: '_run' },
      { columns: ['fetch_id'], of: '_fetch' },
    ],
  },
)

export const _budget = table(
  'The calls of the last day, for limits that outlive a process.',
  {
    id: rowid('Its number'),
    host: text('The host that was called'),
    called_at: integer('When the call was sent (epoch milliseconds, UTC)'),
  },
  { key: ['id'] },
)

export const _source = table(
  'A service that was called.',
  {
    host: text('Its host, with the port where one is given'),
    base_url: text('Its base address, without a name or password'),
    service: text('The service that it was taken for'),
    first_asked_at: moment('When it was first called'),
    wait_until: optional(integer('The end of a pause that the service asked for (epoch milliseconds, UTC)')),
  },
  { key: ['host'], withoutRowid: true },
)

export const _lock = table(
  'Who is writing, for messages only: the lock itself is held by the operating system on the file with the ending `.lock`.',
  {
    name: text('writer'),
    fence: integer('The number that the holder took (_fence.number)'),
    pid: integer('Its process'),
    host: text('Its machine'),
    command: text('What it runs'),
    acquired_at: moment('Since when'),
  },
  { key: ['name'], withoutRowid: true },
)

export const _fence = table(
  'How often the lock was taken: a writer with an older number must not write.',
  { name: text('writer'), number: integer('It only grows') },
  { key: ['name'], withoutRowid: true },
)
