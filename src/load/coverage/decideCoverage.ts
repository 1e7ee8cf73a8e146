import { ALL_GEOS } from '../../db/tables/codes.ts'
import type { CoveredState } from '../../db/tables/series.ts'
import type { Absence, Coverage } from '../../job/plannerState.ts'
import type { Instant } from '../../util/time/instant.ts'
import { type Interval, intersect, subtract } from '../../util/time/interval.ts'
import type { Periods } from '../../util/time/periods.ts'
import type { Change, Geo, RowChanges, Series, SeriesReply, StoredCoverage } from './coverageTypes.ts'
import { decideAbsences } from './decideAbsences.ts'

/* The rules of coverage (docs/decisions/001-coverage.md): what a reply changes in `_coverage` and `_absent`. Pure. */

/** Decides what a reply changes. */
export function decideCoverage(series: Series, reply: SeriesReply, stored: StoredCoverage): Change {
  const { window, newGeos } = reply
  if (!window)
    return changes(
      stored,
      stored.coverage,
      decideAbsences(series, reply, stored, [], () => false),
    )
  const rows = newGeos.length > 0 ? limitSettled(stored.coverage, series.periods) : stored.coverage
  const unverified = new Set<Geo>()
  let next = [...rows]
  for (const geo of reply.geos) {
    const state = stateFor(geo, reply, stored)
    if (state === 'unverified') unverified.add(geo)
    // Rule 6: an all-geos reply replaces the rows of every geo, unless it is unverified or nothing in it was read.
    if (geo === ALL_GEOS && state !== 'unverified' && state !== 'kept')
      next = next.flatMap((row) => (row.geo === geo ? row : cutCoverage(row, window, series)))
    next = replaceRows(next, geo, window, newRows(series, reply, rows, geo, state), series)
  }
  for (const geo of lackingGeos(series, reply, stored, unverified)) {
    unverified.add(geo)
    next = replaceRows(next, geo, window, newRows(series, reply, rows, geo, 'unverified'), series)
  }
  const judged = judgedGeos(series, reply)
  const all = new Map([...reply.rows].map(([geo, values]) => [geo, stored.values.get(geo) ?? values]))
  const whole = { ...reply, rows: all }
  const isProof = (geo: Geo) => provesAbsence(geo, reply, unverified)
  const absences = decideAbsences(series, whole, { ...stored, coverage: rows }, judged, isProof)
  return changes(stored, mergeCoverage(next, series), absences)
}

/** Rule 14: decides what changes once the last open reject of a reply is dismissed. `rows` are the stored values of its window. */
export function decideAcceptance(
  series: Series,
  reply: SeriesReply & { readonly window: Interval },
  stored: StoredCoverage,
): Change {
  const { window, geos, rows, dismissed } = reply
  const next = stored.coverage.flatMap((row) => {
    const parts = geos.includes(row.geo) && row.state === 'unverified' ? intersect([row], [window]) : []
    if (parts.length === 0) return [row]
    const accepted = parts.map((part): Coverage => {
      const values = row.geo === ALL_GEOS ? [...rows.values()] : [rows.get(row.geo)]
      const isHeld = values.some((some) => some?.at.some((at) => at >= part.from && at < part.to))
      return {
        ...row,
        ...part,
        settledFor: settledFor(row, part, series),
        state: isHeld ? 'values' : 'empty',
        since: null,
      }
    })
    return [...cutCoverage(row, window, series), ...accepted]
  })
  const own = new Set(
    stored.coverage.flatMap(({ geo, from, to }) => (from < window.to && to > window.from ? [geo] : [])),
  )
  const judged = judgedGeos(series, reply).filter((geo) => geos.includes(geo) || !own.has(geo))
  const isKnown = rows.size > 0 && dismissed.every((key) => key !== null)
  const absences = isKnown
    ? decideAbsences(series, reply, stored, judged, (geo) => provesAbsence(geo, reply, new Set()))
    : stored.absences
  return changes(stored, mergeCoverage(next, series), absences)
}

/** Rules 1–5. `kept`: dismissed rejects may be all that the reply lacks, so that stored values keep their age. */
function stateFor(geo: Geo, reply: SeriesReply, stored: StoredCoverage): CoveredState | 'kept' {
  const { isIncomplete, rows } = reply
  if (isIncomplete) return 'unverified'
  if (geo === ALL_GEOS ? rows.size > 0 : rows.has(geo)) return 'values'
  if (!(geo === ALL_GEOS ? stored.valuesInWindow.size > 0 : stored.valuesInWindow.has(geo))) return 'empty'
  return isRejected(geo, reply) ? 'kept' : 'unverified'
}

/** Whether dismissed rejects may be what a reply lacks of a geo: their place is unknown, nothing was read, or nothing of the geo. */
const isRejected = (geo: Geo, { rows, dismissed }: SeriesReply): boolean =>
  dismissed.some((key) => key === null || rows.size === 0 || (key.geo === geo && !rows.has(geo)))

/** Rule 9: known geos with stored values in the window of which a trusted all-geos reply has nothing. */
function lackingGeos(
  { knownGeos }: Series,
  { geos, rows, dismissed }: SeriesReply,
  stored: StoredCoverage,
  unverified: ReadonlySet<Geo>,
) {
  if (!geos.includes(ALL_GEOS) || unverified.has(ALL_GEOS) || rows.size === 0) return []
  const rejected = new Set(dismissed.map((key) => key?.geo))
  return knownGeos.filter((geo) => !rows.has(geo) && !rejected.has(geo) && stored.valuesInWindow.has(geo))
}

/** Rule 16: the geos whose absences a reply decides. */
export function judgedGeos({ knownGeos }: Series, { geos, rows }: SeriesReply): Geo[] {
  if (!geos.includes(ALL_GEOS)) return [...geos]
  return rows.size === 0 ? [ALL_GEOS] : [...new Set([...rows.keys(), ...knownGeos])]
}

/** Rule 16: whether what a reply lacks of a geo is absent. */
const provesAbsence = (geo: Geo, reply: SeriesReply, unverified: ReadonlySet<Geo>): boolean =>
  !unverified.has(geo) && !unverified.has(ALL_GEOS) && !isRejected(geo, reply)

/** The rows that a reply writes for a geo. */
function newRows(
  series: Series,
  { window, fetchedAt }: SeriesReply,
  before: readonly Coverage[],
  geo: Geo,
  state: CoveredState | 'kept',
): Coverage[] {
  const whole = window!
  const row = (part: Interval, values: Pick<Coverage, 'state' | 'fetchedAt' | 'since'>): Coverage => ({
    geo,
    from: part.from,
    to: part.to,
    ...values,
    settledFor: values.fetchedAt - lastPeriodEnd(part, series.periods),
  })
  if (state === 'values' || state === 'empty') return [row(whole, { state, fetchedAt, since: null })]
  const old = effectiveRows(before, geo, series).filter((one) => state === 'kept' || one.state === 'unverified')
  const rest = subtract([whole], old)
  const parts = old.flatMap((one) =>
    intersect([one], [whole]).map((part) => ({ ...one, ...part, settledFor: settledFor(one, part, series) })),
  )
  if (state === 'kept')
    return [
      ...rest.map((part) => row(part, { state: 'values', fetchedAt, since: null })),
      ...parts.map(
        (part): Coverage => ({ ...part, geo, state: part.state === 'unverified' ? 'values' : part.state, since: null }),
      ),
    ]
  // Rule 12: what was unverified stays unverified since then.
  return [
    ...rest.map((part) => row(part, { state, fetchedAt, since: fetchedAt })),
    ...parts.map((part) => row(part, { state, fetchedAt, since: Math.min(part.since ?? fetchedAt, fetchedAt) })),
  ]
}

/** The rows that count for a geo: its own, and beside them those of all geos. */
function effectiveRows(rows: readonly Coverage[], geo: Geo, series: Series): Coverage[] {
  const own = rows.filter((row) => row.geo === geo)
  if (geo === ALL_GEOS) return own
  const rest = rows.filter((row) => row.geo === ALL_GEOS)
  return [...own, ...own.reduce((left, one) => left.flatMap((row) => cutCoverage(row, one, series)), rest)]
}

/** Rules 7 and 8: rows with those of one geo replaced inside a window. */
const replaceRows = (
  rows: readonly Coverage[],
  geo: Geo,
  window: Interval,
  inserted: readonly Coverage[],
  series: Series,
): Coverage[] => [...rows.flatMap((row) => (row.geo === geo ? cutCoverage(row, window, series) : row)), ...inserted]

/** Rule 8: what is left of a row outside a window. */
const cutCoverage = (row: Coverage, window: Interval, series: Series): Coverage[] =>
  row.from >= window.to || row.to <= window.from
    ? [row]
    : subtract([row], [window]).map((part) => ({ ...row, ...part, settledFor: settledFor(row, part, series) }))

/** The longest lookback for which a part of a row was past revision: a part may end sooner than the whole. */
const settledFor = (row: Coverage, part: Interval, { periods }: Series): number =>
  Math.max(row.settledFor, row.fetchedAt - lastPeriodEnd(part, periods))

/** When the last calendar period that begins in an interval ends. */
const lastPeriodEnd = ({ to }: Interval, periods: Periods | null): Instant =>
  periods?.isCalendar ? Math.max(to, periods.ceil(to)) : to

/**
 * Rows from before the series was known to have calendar periods: they are past revision only when the last period is. A row that
 * joins several replies may have parts that end within a period, so it counts as fetched when its oldest part was.
 */
const limitSettled = (rows: readonly Coverage[], periods: Periods | null): readonly Coverage[] =>
  periods?.isCalendar
    ? rows.map((row) => ({ ...row, settledFor: Math.min(row.settledFor, row.fetchedAt - lastPeriodEnd(row, periods)) }))
    : rows

/** Rule 15: whether no entry can tell two adjacent rows from one. */
function canMerge(a: Coverage, b: Coverage, { longestLookback, periods }: Series): boolean {
  if (a.to !== b.from || a.geo !== b.geo || a.state !== b.state || a.since !== b.since) return false
  // A row that joins several replies is past revision for longer than its oldest one alone: that would be lost.
  const isOneReply = (row: Coverage): boolean => row.settledFor <= row.fetchedAt - lastPeriodEnd(row, periods)
  return (
    a.state === 'unverified' ||
    Math.min(a.settledFor, b.settledFor) >= longestLookback ||
    (a.fetchedAt === b.fetchedAt && isOneReply(a) && isOneReply(b))
  )
}

function mergeCoverage(rows: readonly Coverage[], series: Series): Coverage[] {
  const merged: Coverage[] = []
  for (const row of [...rows].sort((a, b) => a.geo - b.geo || a.from - b.from)) {
    const last = merged.at(-1)
    if (last && canMerge(last, row, series))
      merged[merged.length - 1] = {
        ...last,
        to: row.to,
        fetchedAt: Math.min(last.fetchedAt, row.fetchedAt),
        settledFor: Math.min(last.settledFor, row.settledFor),
      }
    else merged.push(row)
  }
  return merged
}

/** The difference between stored rows and those that should be, by all of their columns. */
function difference<T extends object>(before: readonly T[], after: readonly T[], columns: readonly (keyof T)[]) {
  const text = (row: T): string => columns.map((column) => row[column]).join()
  const [old, fresh] = [new Set(before.map(text)), new Set(after.map(text))]
  const [remove, insert] = [before.filter((row) => !fresh.has(text(row))), after.filter((row) => !old.has(text(row)))]
  return { remove, insert } satisfies RowChanges<T>
}

const changes = (stored: StoredCoverage, coverage: readonly Coverage[], absences: readonly Absence[]): Change => ({
  coverage: difference(stored.coverage, coverage, ['geo', 'from', 'to', 'state', 'fetchedAt', 'settledFor', 'since']),
  absences: difference(stored.absences, absences, ['geo', 'from', 'to', 'step', 'since', 'checked']),
})
