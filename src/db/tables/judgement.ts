import type { GapReason } from './codes.ts'
import { flag, instant, integer, moment, optional, rowid, table, text, word } from './declare.ts'
import type { CoveredState } from './series.ts'

/** `missing` from `due_at` on, if that is set; expected before. */
export type SpanState = 'complete' | 'provisional' | 'missing'
/** `stored`: a range with a reply; the other reasons are those of missing data. */
export type StoredSpanReason = 'stored' | GapReason

export const _span = table(
  'What is complete, missing and due of each series and geo, judged when its data or a job changed. Read it through gaps and coverage. A row with a reason takes precedence over stored ranges that contain it.',
  {
    series_id: integer('Series (series.id)'),
    reason: word<StoredSpanReason>('stored (a range with a response), or the reason of missing data (gaps.reason)'),
    geo_id: integer('Geo (geo.id); 0 = all, while no geo is known, and other geos that may exist'),
    from_at: instant('Start'),
    to_at: optional(instant('End, exclusive; NULL = it grows with time')),
    lag_s: optional(
      integer('If the end follows the clock: the seconds that it stays behind, negative for the future; else NULL'),
    ),
    state: word<SpanState>(
      'complete, provisional (may still be revised or published) or missing (expected before due_at)',
    ),
    response: optional(word<CoveredState>('Content of the response: values, empty or unverified; NULL without one')),
    fetched_at: optional(instant('Earliest fetch time of any data in the range; NULL without a response')),
    step_s: optional(integer('Length of a missing period, in seconds; NULL if unknown')),
    missing: optional(integer('Number of missing periods; NULL if unknown')),
    since_at: optional(instant('Missing since')),
    next_at: optional(instant('Earliest next request; NULL if no sync will request it')),
    due_at: optional(instant('Missing from then on, expected before; NULL if that does not depend on time')),
    job: optional(text('First job that selects it; NULL if none')),
    job_id: optional(integer('Its id (_job.id)')),
    accepted: flag('1 if somebody accepted that the data is missing (gaps accept)'),
    tolerated: flag('1 if it is one of a few lost values of a day, which are not a finding'),
  },
  { key: ['series_id', 'reason', 'geo_id', 'from_at'], references: { series: ['series_id'] }, withoutRowid: true },
)

export const _accept = table(
  'Missing data that somebody accepted (gaps accept).',
  {
    id: rowid('Id'),
    series_id: integer('Series (series.id)'),
    geo_id: integer('Geo (geo.id); 0 = all, while no geo is known'),
    from_at: instant('Start'),
    to_at: optional(instant('End, exclusive; NULL = the series or geo has ended')),
    note: text('Reason'),
    created_at: moment('Time of the acceptance'),
  },
  { key: ['id'], references: { series: ['series_id'] } },
)

export const _judged = table(
  'When everything was last judged, in one row. Series are judged again as their data and jobs change.',
  {
    id: integer('1'),
    rules: integer('Version of the rules'),
    judged_at: moment('Time of the judgement'),
  },
  { key: ['id'] },
)
