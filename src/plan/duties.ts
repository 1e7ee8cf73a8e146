import type { Duty, EarlierLookback, SelectedRange } from '../job/duty.ts'
import { seriesKey } from '../job/plannedRequest.ts'
import type { Instant } from '../util/time/instant.ts'

/* What a job requires of its series after its definition is stored (docs/decisions/011-jobs.md). */

/** Duties by series and window, as `scopeKey` names them. */
export type Duties = ReadonlyMap<string, readonly Duty[]>

/** A key that is equal for selections of the same series with the same window. */
export const scopeKey = ({ series, window }: Pick<Duty, 'series' | 'window'>): string =>
  `${seriesKey(series)} ${window}`

/** Groups duties by series and window. */
export const groupDuties = (duties: readonly Duty[]): Duties => Map.groupBy(duties, scopeKey)

/** The geos of two selections; null if they share none. An empty list selects all. */
function intersectGeos(a: readonly number[], b: readonly number[]): readonly number[] | null {
  if (a.length === 0) return b
  if (b.length === 0) return a
  const both = a.filter((geoId) => b.includes(geoId))
  return both.length === 0 ? null : both
}

/** Whether a selection of geos includes another one. An empty list selects all. */
export const includesGeos = (outer: readonly number[], inner: readonly number[]): boolean =>
  outer.length === 0 || (inner.length > 0 && inner.every((geoId) => outer.includes(geoId)))

/** Whether two selections share a geo. */
export const sharesGeo = (a: readonly number[], b: readonly number[]): boolean => intersectGeos(a, b) !== null

/**
 * The shorter lookbacks that still apply after a change to `lookbackS`: a longer lookback applies only to data that is younger than
 * it now, so older final data is not fetched again.
 */
function changeLookback(
  { lookbackS: former, earlierLookbacks }: Pick<Duty, 'lookbackS' | 'earlierLookbacks'>,
  lookbackS: number,
  now: Instant,
): readonly EarlierLookback[] {
  const all =
    lookbackS > former
      ? [...earlierLookbacks, { before: now - lookbackS, lookbackS: former }]
      : earlierLookbacks.filter((earlier) => earlier.lookbackS < lookbackS)
  const isCovered = (one: EarlierLookback): boolean =>
    all.some((other) => other !== one && other.before >= one.before && other.lookbackS <= one.lookbackS)
  return all.filter((one) => !isCovered(one))
}

interface DutyOptions {
  readonly now: Instant
  /** Whether stored ends stay: a run of a range of the user does not reach to the present. */
  readonly keepsEnds: boolean
  /** Whether series that were selected by the catalogue stay, because it is not stored now. */
  readonly keepsSelected: boolean
}

/**
 * Decides what a job requires, from its stored duties and what its definition selects now. A period that was once selected stays required
 * while an entry has its series, geo and window.
 */
export function decideDuties(
  stored: readonly Duty[],
  selected: readonly SelectedRange[],
  options: DutyOptions,
): Duty[] {
  const storedScopes = groupDuties(stored)
  const storedSeries = Map.groupBy(stored, ({ series }) => seriesKey(series))
  const scopes = Map.groupBy(selected, scopeKey)
  const decided = [...scopes].flatMap(([key, ranges]) => {
    const ofSeries = storedSeries.get(seriesKey(ranges[0]!.series)) ?? []
    // An older version recorded no window.
    const adopted = ofSeries.filter(
      ({ window, entryPath }) => window === '' && ranges.some((range) => range.entryPath === entryPath),
    )
    return decideScope([...(storedScopes.get(key) ?? []), ...adopted], ranges, ofSeries, options)
  })
  if (!options.keepsSelected) return decided
  return [...decided, ...stored.filter((duty) => duty.selector !== null && !scopes.has(scopeKey(duty)))]
}

/** Decides the duties of one series and window. `ofSeries`: all stored duties of the series. */
function decideScope(
  stored: readonly Duty[],
  ranges: readonly SelectedRange[],
  ofSeries: readonly Duty[],
  { now, keepsEnds }: DutyOptions,
): Duty[] {
  /** The requirements of the current definition for some geos. If several entries select them, the strictest times apply. */
  const describe = (geoIds: readonly number[]): Omit<SelectedRange, 'from' | 'geoIds'> => {
    const entries = ranges.filter((range) => sharesGeo(range.geoIds, geoIds))
    return {
      ...entries[0]!,
      to: Math.max(...entries.map(({ to }) => to)),
      lookbackS: Math.max(...entries.map(({ lookbackS }) => lookbackS)),
      refreshS: Math.min(...entries.map(({ refreshS }) => refreshS)),
      expect: entries.find(({ expect }) => expect !== null)?.expect ?? null,
      selector: entries.find(({ selector }) => selector !== null)?.selector ?? null,
    }
  }
  const decided = new Map<string, Duty>()
  const remember = (duty: Duty): void => {
    const key = duty.geoIds.join()
    const same = decided.get(key)
    if (!same) decided.set(key, duty)
    else {
      const elder = duty.sinceAt < same.sinceAt ? duty : same
      decided.set(key, { ...elder, from: Math.min(duty.from, same.from), to: Math.max(duty.to, same.to) })
    }
  }
  for (const duty of stored)
    for (const range of ranges) {
      const geoIds = intersectGeos(duty.geoIds, range.geoIds)
      if (geoIds === null) continue
      const { to, ...described } = describe(geoIds)
      const earlierLookbacks = changeLookback(duty, described.lookbackS, now)
      const { from, sinceAt } = duty
      remember({ ...described, geoIds, from, to: keepsEnds ? duty.to : to, sinceAt, earlierLookbacks })
    }
  for (const { geoIds, from, to } of ranges) {
    const key = geoIds.join()
    const same = decided.get(key)
    if (same) decided.set(key, from < to ? { ...same, from: Math.min(same.from, from) } : same)
    else if (from < to) {
      const described = describe(geoIds)
      const former = ofSeries
        .filter((duty) => sharesGeo(duty.geoIds, geoIds))
        .toSorted((a, b) => b.lookbackS - a.lookbackS)[0]
      const earlierLookbacks = former ? changeLookback(former, described.lookbackS, now) : []
      decided.set(key, { ...described, geoIds, from, sinceAt: now, earlierLookbacks })
    }
  }
  const own = new Set(ranges.map(({ geoIds }) => geoIds.join()))
  const all = [...decided.values()]
  const isCovered = (duty: Duty): boolean =>
    all.some((other) => other !== duty && includesGeos(other.geoIds, duty.geoIds) && other.from <= duty.from)
  return all.filter((duty) => own.has(duty.geoIds.join()) || !isCovered(duty))
}
