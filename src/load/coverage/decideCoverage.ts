import { ALL_GEOS } from '../../db/tables/codes.ts'
import type { CoveredState } from '../../db/tables/series.ts'
import { EARLY_S } from '../../judge/limits.ts'
import type { Coverage } from '../../judge/stored.ts'
import { findRowChanges } from '../../util/rowChanges.ts'
import { type Instant, isFuture } from '../../util/time/instant.ts'
import { type Interval, intersect, overlaps, subtract } from '../../util/time/interval.ts'
import type { Periods } from '../../util/time/periods.ts'
import type { CoverageChange, Geo, Series, SeriesReply, StoredCoverage } from './coverageTypes.ts'

/* S1–S16 and M1 (docs/decisions/001-coverage.md): what a reply changes in `_coverage`. Pure. */

/** The state of a window; `kept`: stored values keep their age. */
type ReplyState = CoveredState | 'kept'

/** Decides what a reply about a window changes. A reply about one instant covers nothing (S13). */
export function decideCoverage(series: Series, reply: SeriesReply, stored: StoredCoverage): CoverageChange {
  const { newGeos } = reply
  const window = reply.window!
  const known = correctTimes(stored.coverage, reply.fetchedAt)
  // S11: new geos may show calendar periods that end after older rows.
  const before = newGeos.length > 0 ? limitSettled(known, series.periods) : known
  const unverified = new Set<Geo>()
  let rows = before
  for (const geo of reply.geos) {
    const state = decideState(geo, reply, stored)
    if (state === 'unverified') unverified.add(geo)
    // S6: a reply for all geos concerns the rows of every geo.
    if (geo === ALL_GEOS) {
      const change = isVerified(state) ? cutRow : renewUnverified(reply.fetchedAt)
      rows = rows.flatMap((row) => (row.geo === geo ? row : change(row, window, series)))
    }
    rows = replaceRows(rows, geo, window, createRows(series, reply, window, before, geo, state), series)
  }
  // S9: known geos with stored values are unverified if the reply lacks them.
  for (const geo of findUnverifiedGeos(series, reply, stored, unverified)) {
    unverified.add(geo)
    rows = replaceRows(rows, geo, window, createRows(series, reply, window, before, geo, 'unverified'), series)
  }
  // S10: so are days of which it lacks many stored final values.
  for (const [geo, days] of reply.unverifiedDays) {
    if (unverified.has(geo) || unverified.has(ALL_GEOS)) continue
    for (const day of intersect(days, [window]))
      rows = replaceRows(rows, geo, day, createRows(series, reply, day, before, geo, 'unverified'), series)
  }
  return toChange(stored.coverage, mergeRows(rows, series), unverified)
}

/** S1–S5: the state of the window for a geo. */
function decideState(geo: Geo, reply: SeriesReply, { omittedGeos }: StoredCoverage): ReplyState {
  const isForAll = geo === ALL_GEOS
  // S1: values could not be read.
  if (reply.hasUnreadValues) return 'unverified'
  // S2: the reply has values.
  if (isForAll ? reply.present.size > 0 : reply.present.has(geo)) return 'values'
  // S5: neither the reply nor the database has values.
  if (isForAll ? omittedGeos.size === 0 : !omittedGeos.has(geo)) return 'empty'
  // S4: dismissed rejects may be the stored values. S3: nothing explains their lack.
  return dismissalMayExplain(geo, reply) ? 'kept' : 'unverified'
}

/** Whether a reply can be trusted, with or without values. */
const isVerified = (state: ReplyState): state is 'values' | 'empty' => state === 'values' || state === 'empty'

/** S6: the unverified part of a row inside a window was requested at `fetchedAt`. */
const renewUnverified =
  (fetchedAt: Instant) =>
  (row: Coverage, window: Interval, series: Series): readonly Coverage[] => {
    if (row.state !== 'unverified') return [row]
    const requested = clipRow(row, window, series).map((part) => ({
      ...part,
      fetchedAt,
      settledFor: fetchedAt - lastPeriodEnd(part, series.periods),
    }))
    return [...cutRow(row, window, series), ...requested]
  }

/** Whether dismissed rejects may be the missing values of a geo: their place is unknown, or nothing of the reply or geo was read. */
const dismissalMayExplain = (geo: Geo, { present, dismissed }: SeriesReply): boolean =>
  dismissed.some((key) => key === null || present.size === 0 || (key.geo === geo && !present.has(geo)))

/** S9: known geos that a verified reply for all geos lacks, if they have stored values in the window. */
function findUnverifiedGeos(
  { knownGeos }: Series,
  { geos, present, dismissed }: SeriesReply,
  stored: StoredCoverage,
  unverified: ReadonlySet<Geo>,
): readonly Geo[] {
  if (!geos.includes(ALL_GEOS) || unverified.has(ALL_GEOS) || present.size === 0) return []
  const rejected = new Set(dismissed.map((key) => key?.geo))
  return knownGeos.filter((geo) => !present.has(geo) && !rejected.has(geo) && stored.omittedGeos.has(geo))
}

/** M1: the geos whose missing periods a reply decides: those of the request, or all known ones. */
export const listDecidedGeos = (
  { knownGeos }: Pick<Series, 'knownGeos'>,
  { geos }: Pick<SeriesReply, 'geos'>,
): readonly Geo[] => (geos.includes(ALL_GEOS) ? knownGeos : geos)

/** M1: whether a reply shows that periods of a geo are missing. */
export const provesMissing = (geo: Geo, reply: SeriesReply, unverified: ReadonlySet<Geo>): boolean =>
  !unverified.has(geo) && !unverified.has(ALL_GEOS) && !dismissalMayExplain(geo, reply)

/** The rows of a geo for the window of a reply, or a part of it. */
function createRows(
  series: Series,
  { fetchedAt }: SeriesReply,
  window: Interval,
  before: readonly Coverage[],
  geo: Geo,
  state: ReplyState,
): readonly Coverage[] {
  const createRow = ({ from, to }: Interval, state: CoveredState, sinceAt: Instant | null): Coverage => {
    const settledFor = fetchedAt - lastPeriodEnd({ from, to }, series.periods)
    return { geo, from, to, state, fetchedAt, settledFor, sinceAt }
  }
  if (isVerified(state)) return [createRow(window, state, null)]
  const valid = selectValidRows(before, geo, series)
  const older = state === 'kept' ? valid : valid.filter((row) => row.state === 'unverified')
  const rest = subtract([window], older)
  const parts = older.flatMap((row) => clipRow(row, window, series))
  // S4: stored values keep the time of their reply.
  if (state === 'kept')
    return [
      ...rest.map((part) => createRow(part, 'values', null)),
      ...parts.map(
        (part): Coverage => ({
          ...part,
          geo,
          state: part.state === 'unverified' ? 'values' : part.state,
          sinceAt: null,
        }),
      ),
    ]
  // S12: an unverified interval keeps its `sinceAt`.
  return [
    ...rest.map((part) => createRow(part, state, fetchedAt)),
    ...parts.map((part) => createRow(part, state, Math.min(part.sinceAt ?? fetchedAt, fetchedAt))),
  ]
}

/** The rows that are valid for a geo: its own, and beside them those of all geos. */
function selectValidRows(rows: readonly Coverage[], geo: Geo, series: Series): readonly Coverage[] {
  const ofGeo = rows.filter((row) => row.geo === geo)
  if (geo === ALL_GEOS) return ofGeo
  const ofAll = rows.filter((row) => row.geo === ALL_GEOS)
  return [...ofGeo, ...ofGeo.reduce((rest, geoRow) => rest.flatMap((row) => cutRow(row, geoRow, series)), ofAll)]
}

/** S7 and S8: replaces the rows of one geo inside a window. */
const replaceRows = (
  rows: readonly Coverage[],
  geo: Geo,
  window: Interval,
  inserted: readonly Coverage[],
  series: Series,
): readonly Coverage[] => [...rows.flatMap((row) => (row.geo === geo ? cutRow(row, window, series) : row)), ...inserted]

/** S8: the parts of a row outside a window. */
const cutRow = (row: Coverage, window: Interval, series: Series): readonly Coverage[] =>
  overlaps(row, window) ? takeParts(row, subtract([row], [window]), series) : [row]

/** The part of a row inside a window. */
const clipRow = (row: Coverage, window: Interval, series: Series): readonly Coverage[] =>
  takeParts(row, intersect([row], [window]), series)

/** S8: parts of a row. Each may end sooner than the row, so it may have been settled for longer. */
const takeParts = (row: Coverage, parts: readonly Interval[], { periods }: Series): readonly Coverage[] =>
  parts.map((part) => ({
    ...row,
    ...part,
    settledFor: Math.max(row.settledFor, row.fetchedAt - lastPeriodEnd(part, periods)),
  }))

/** When the last calendar period that begins in an interval ends. */
const lastPeriodEnd = ({ to }: Interval, periods: Periods | null): Instant =>
  periods?.isCalendar ? Math.max(to, periods.ceil(to)) : to

/**
 * S15: a row with a later time than this reply comes from a clock that was ahead. It was fetched before this reply, so what follows
 * is not settled.
 */
const correctTimes = (rows: readonly Coverage[], now: Instant): readonly Coverage[] =>
  rows.map((row) =>
    isFuture(row.fetchedAt, now)
      ? { ...row, fetchedAt: now, settledFor: Math.min(row.settledFor - (row.fetchedAt - now), now - row.to) }
      : row,
  )

/** S11: lowers `settledFor` of rows that end inside a calendar period. A merged row counts as fetched when its oldest part was. */
const limitSettled = (rows: readonly Coverage[], periods: Periods | null): readonly Coverage[] =>
  periods?.isCalendar
    ? rows.map((row) => ({ ...row, settledFor: Math.min(row.settledFor, row.fetchedAt - lastPeriodEnd(row, periods)) }))
    : rows

/** S16: merges adjacent rows that no entry needs to distinguish. */
function mergeRows(rows: readonly Coverage[], series: Series): readonly Coverage[] {
  const { longestLookback, periods } = series
  // A merged row may be settled for longer than its oldest reply shows.
  const isOneReply = (row: Coverage): boolean => row.settledFor <= row.fetchedAt - lastPeriodEnd(row, periods)
  return mergeAdjacent(rows, (last, row) => {
    // Rows without values, and the days of the first and last value, are requested again by their time. It must not fall back to that of
    // an older neighbour.
    const isSoonAfter = Math.abs(last.fetchedAt - row.fetchedAt) < EARLY_S
    const isSettled =
      Math.min(last.settledFor, row.settledFor) >= longestLookback &&
      (isSoonAfter || (row.state === 'values' && !hasEnd(series, last) && !hasEnd(series, row)))
    const isSame =
      last.state === 'unverified'
        ? isSoonAfter
        : isSettled || (last.fetchedAt === row.fetchedAt && isOneReply(last) && isOneReply(row))
    if (!isSame || last.state !== row.state || last.sinceAt !== row.sinceAt) return null
    return {
      ...last,
      to: row.to,
      fetchedAt: Math.min(last.fetchedAt, row.fetchedAt),
      settledFor: Math.min(last.settledFor, row.settledFor),
    }
  })
}

/** Whether the first or the last value of a timeline lies in a row. */
const hasEnd = ({ ends }: Series, { geo, from, to }: Coverage): boolean =>
  ends.some((end) => (geo === ALL_GEOS || geo === end.geo) && end.at >= from && end.at < to)

/** Sorts rows and merges adjacent ones of a geo. `join` returns the merged row, or null to keep both. */
function mergeAdjacent(rows: readonly Coverage[], join: (a: Coverage, b: Coverage) => Coverage | null): Coverage[] {
  const merged: Coverage[] = []
  for (const row of [...rows].sort((a, b) => a.geo - b.geo || a.from - b.from)) {
    const last = merged.at(-1)
    const joined = last && last.geo === row.geo && last.to === row.from ? join(last, row) : null
    if (joined) merged[merged.length - 1] = joined
    else merged.push(row)
  }
  return merged
}

/** Compares rows by all their columns. */
function toChange(
  before: readonly Coverage[],
  after: readonly Coverage[],
  unverified: ReadonlySet<Geo>,
): CoverageChange {
  const toKey = ({ geo, from, to, state, fetchedAt, settledFor, sinceAt }: Coverage): string =>
    [geo, from, to, state, fetchedAt, settledFor, sinceAt].join()
  const { removed, inserted } = findRowChanges(before, after, toKey)
  return { remove: removed, insert: inserted, unverified }
}
