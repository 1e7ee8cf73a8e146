import type { Selectable } from 'kysely'
import type { Database } from '../../db/tables/schema.ts'
import type { Span } from '../../judge/judgeTypes.ts'
import type { Instant } from '../../util/time/instant.ts'

/** A row of `_span`. */
export type SpanRow = Selectable<Database['_span']>

/** The reasons of spans that follow from a row of `_absent` each. There may be many of them. */
export const PERIOD_REASONS = ['absent', 'null', 'withdrawn'] as const
/** All other reasons. */
export const RANGE_REASONS = ['stored', 'never requested', 'failed', 'unverified', 'late', 'no values'] as const

/** The rows of judged spans. Adjacent stored ranges with the same state are one row, as in the view `coverage`. */
export function toSpanRows(seriesId: number, spans: readonly Span[]): SpanRow[] {
  const rows: SpanRow[] = []
  for (const span of spans) {
    const row = toRow(seriesId, span)
    const last = rows.at(-1)
    if (last && span.reply && canJoin(last, row)) rows[rows.length - 1] = join(last, row)
    else rows.push(row)
  }
  return rows
}

function toRow(seriesId: number, span: Span): SpanRow {
  return {
    series_id: seriesId,
    reason: span.reason ?? 'stored',
    geo_id: span.geoId,
    from_at: span.from,
    to_at: span.to === Number.POSITIVE_INFINITY ? null : span.to,
    lag_s: span.lagS,
    state: span.state,
    response: span.reply?.state ?? null,
    fetched_at: span.reply?.fetchedAt ?? null,
    step_s: span.stepS,
    missing: span.periods,
    since_at: span.sinceAt,
    next_at: span.nextAt,
    due_at: span.dueAt,
    job: span.job,
    job_id: span.jobId,
    accepted: span.isAccepted ? 1 : 0,
    tolerated: span.isTolerated ? 1 : 0,
  }
}

const canJoin = (a: SpanRow, b: SpanRow): boolean =>
  a.to_at === b.from_at &&
  a.geo_id === b.geo_id &&
  a.reason === b.reason &&
  // What is unverified is requested only where a job requires it.
  (a.reason === 'stored' || a.job_id === b.job_id) &&
  a.state === b.state &&
  a.since_at === b.since_at &&
  a.accepted === b.accepted &&
  // The kind of an empty reply does not matter while values may still come.
  (a.response === b.response || (a.state === 'provisional' && a.reason === 'stored'))

const join = (a: SpanRow, b: SpanRow): SpanRow => ({
  ...a,
  to_at: b.to_at,
  fetched_at: earlier(a.fetched_at, b.fetched_at),
  next_at: earlier(a.next_at, b.next_at),
  job: a.job ?? b.job,
  job_id: a.job_id ?? b.job_id,
})

function earlier(a: Instant | null, b: Instant | null): Instant | null {
  if (a === null || b === null) return a ?? b
  return Math.min(a, b)
}

/** The rows to remove, and those to insert or to replace. Rows with equal keys and values need neither. */
export function compareRows(
  before: readonly SpanRow[],
  after: readonly SpanRow[],
): { readonly removed: readonly SpanRow[]; readonly changed: readonly SpanRow[] } {
  const old = new Map(before.map((row) => [rowKey(row), row]))
  const changed = after.filter((row) => {
    const key = rowKey(row)
    const stored = old.get(key)
    old.delete(key)
    return !stored || !isEqual(stored, row)
  })
  return { removed: [...old.values()], changed }
}

const rowKey = ({ reason, geo_id, from_at }: SpanRow): string => `${reason} ${geo_id} ${from_at}`
const isEqual = (a: SpanRow, b: SpanRow): boolean =>
  (Object.keys(b) as (keyof SpanRow)[]).every((name) => a[name] === b[name])
