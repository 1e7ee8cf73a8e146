import { ALL_GEOS } from '../db/tables/codes.ts'
import { type Duty, type EarlierLookback, type SelectedRange, selectorText } from '../job/duty.ts'
import { seriesParams } from '../job/entryRoutes.ts'
import type { Job, SeriesEntry } from '../job/job.ts'
import { durationSeconds, resolveMoment, windowText } from '../job/moment.ts'
import { type SeriesIdentity, seriesKey } from '../job/plannedRequest.ts'
import type { Recall } from '../job/select.ts'
import { borderUnit, type Finality } from '../judge/finality.ts'
import type { Requirement } from '../judge/judgeTypes.ts'
import type { AnyParams } from '../service/routes.ts'
import { memoize } from '../util/memoize.ts'
import type { Instant } from '../util/time/instant.ts'
import { findPeriods } from '../util/time/periods.ts'
import { ceilTo } from '../util/time/zone.ts'
import { type Duties, includesGeos, scopeKey, sharesGeo } from './duties.ts'
import type { SeriesState } from './plannerState.ts'
import { findSelectedRange, type PlanContext } from './planning.ts'

/** The series of an entry for one of its indicators. */
export const toIdentity = (entry: SeriesEntry, indicatorId: number): SeriesIdentity => ({
  kind: entry.route,
  indicatorId,
  timeTrunc: entry.timeTrunc,
  timeAgg: entry.timeAgg,
  geoAgg: entry.geoAgg,
  geoTrunc: entry.geoTrunc,
  geoIds: entry.geoAgg === null || entry.geoIds.length === 0 ? null : [...entry.geoIds].sort((a, b) => a - b),
})

/** The geos under which coverage of an entry is recorded. With geo_agg they belong to the series; otherwise each has its own rows. */
const coveredGeos = ({ geoIds, geoAgg }: SeriesEntry): readonly number[] =>
  geoIds.length === 0 || geoAgg !== null ? [ALL_GEOS] : geoIds

/** The geos of a duty of an entry, in ascending order; empty for all. */
const dutyGeos = (entry: SeriesEntry): readonly number[] =>
  coversAllGeos(entry) ? [] : [...entry.geoIds].sort((a, b) => a - b)

/** Whether the requests of an entry cover all geos of its series, or an aggregate of some. */
export const coversAllGeos = (entry: SeriesEntry): boolean => coveredGeos(entry)[0] === ALL_GEOS

/** The keys of the series of an entry. */
export const seriesKeys = (entry: SeriesEntry): string[] =>
  entry.indicators.map((id) => seriesKey(toIdentity(entry, id)))

/** The geos that a request of an entry has as parameter; empty for all. */
export const sentGeos = ({ geoIds, geoAgg }: SeriesEntry, requested: readonly number[]): readonly number[] =>
  geoAgg === null ? requested.filter((geoId) => geoId !== ALL_GEOS) : geoIds

/** The parameters that all requests of an entry share. */
export const toParams = (entry: SeriesEntry, id: number, geoIds: readonly number[]): AnyParams => ({
  id,
  locale: entry.locale,
  ...seriesParams(entry, geoIds),
})

/** The longest lookback with which a job requests each of its series, in seconds. */
function findLongestLookbacks(job: Job): ReadonlyMap<string, number> {
  const cached = lookbacks.get(job)
  if (cached) return cached
  const longest = new Map<string, number>()
  for (const entry of job.series)
    for (const id of entry.window ? entry.indicators : []) {
      const key = seriesKey(toIdentity(entry, id))
      longest.set(key, Math.max(longest.get(key) ?? 0, durationSeconds(entry.lookback)))
    }
  lookbacks.set(job, longest)
  return longest
}
const lookbacks = new WeakMap<Job, ReadonlyMap<string, number>>()

/** Lists the selections of the entries of a job, without the options of the user. `withSelectors`: the job before these were resolved. */
export function listSelectedRanges(
  planning: Pick<PlanContext, 'job' | 'service' | 'now'>,
  withSelectors: Job,
): SelectedRange[] {
  const { job, service, now } = planning
  const selectors = new Map(withSelectors.series.map(({ path, select }) => [path, select && selectorText(select)]))
  return job.series.flatMap((entry) => {
    if (!entry.window) return []
    const unit = borderUnit(entry.timeTrunc)
    const range = findSelectedRange({ ...planning, options: {} }, entry.window, unit)
    // An empty window may still have an end that limits what it selected before.
    const end = ceilTo(service.timeZone, resolveMoment(entry.window.to, job.timeZone, now), unit)
    return entry.indicators.map((id) => ({
      ...(range.from < range.to ? range : { from: end, to: end }),
      entryPath: entry.path,
      series: toIdentity(entry, id),
      geoIds: dutyGeos(entry),
      window: windowText(entry.window!),
      timeZone: job.timeZone,
      lookbackS: durationSeconds(entry.lookback),
      refreshS: durationSeconds(entry.refresh),
      expect: entry.expect,
      selector: selectors.get(entry.path) ?? null,
    }))
  })
}

/** Returns the ids that an entry with a selector selected earlier, so that a catalogue without them drops nothing. */
export function createRecall(duties: Duties): Recall {
  const selected = Map.groupBy(
    [...duties.values()].flat().filter(({ selector }) => selector !== null),
    ({ selector, window }) => `${selector} ${window}`,
  )
  return (entry) => {
    if (!entry.select || !entry.window) return []
    const geoIds = dutyGeos(entry)
    return (selected.get(`${selectorText(entry.select)} ${windowText(entry.window)}`) ?? [])
      .filter((duty) => sharesGeo(duty.geoIds, geoIds))
      .filter(({ series }) => seriesKey(toIdentity(entry, series.indicatorId)) === seriesKey(series))
      .map(({ series }) => series.indicatorId)
  }
}

/** A series of an entry, with its selected range and its stored state. */
export interface SelectedSeries {
  readonly entry: SeriesEntry
  readonly series: SeriesIdentity
  readonly key: string
  readonly state: SeriesState
  /** The geos under which its coverage is recorded. */
  readonly geoIds: readonly number[]
  /** What the entry requires of it now, for the judgement. */
  readonly requirement: Requirement
  /** The borders at which its data becomes final. */
  readonly finality: Finality
  /** The longest lookback of its requests so far and of the job, in seconds. */
  readonly longestLookbackS: number
}

/** Lists the series of an entry with a window. A series whose geos were edited has a part for each range of some geos. */
export function* listSelectedSeries(planning: PlanContext, entry: SeriesEntry): Generator<SelectedSeries> {
  const { job, service, plannerState, now } = planning
  const { window } = entry
  if (!window) return
  const unit = borderUnit(entry.timeTrunc)
  const rangeFrom = memoize((earliest: Instant | undefined) => findSelectedRange(planning, window, unit, earliest))
  const lookbackS = durationSeconds(entry.lookback)
  const refreshS = durationSeconds(entry.refresh)
  for (const id of entry.indicators) {
    const identity = toIdentity(entry, id)
    const key = seriesKey(identity)
    const state = plannerState.series(key)
    const periods = state.period && findPeriods(service.timeZone, state.period)
    const finality = { zone: service.timeZone, unit, lookbackS, periods: periods?.isCalendar ? periods : undefined }
    for (const { geoIds, from, sinceAt = now, earlierLookbacks = [] } of listParts(planning, entry, identity))
      yield {
        entry,
        series: identity,
        key,
        geoIds,
        state,
        requirement: {
          ...rangeFrom(from),
          job: job.name,
          jobId: null,
          geoIds: geoIds.includes(ALL_GEOS) ? null : geoIds,
          lagS: null,
          lookbackS,
          earlierLookbacks,
          refreshS,
          // After the clock was set back, an entry may be from the future.
          sinceAt: Math.min(sinceAt, now),
          graceS: 0,
        },
        finality: { ...finality, earlierLookbacks },
        longestLookbackS: Math.max(state.lookbackS ?? 0, findLongestLookbacks(job).get(key)!),
      }
  }
}

/** A part of a series of an entry: some geos, and what its duty says of them. */
interface Part {
  readonly geoIds: readonly number[]
  readonly from?: Instant
  readonly sinceAt?: Instant
  readonly earlierLookbacks?: readonly EarlierLookback[]
}

/** Lists the part with all geos of an entry, then those that were selected earlier than the others. */
function listParts({ duties }: PlanContext, entry: SeriesEntry, series: SeriesIdentity): Part[] {
  const geoIds = dutyGeos(entry)
  const stored = duties?.get(scopeKey({ series, window: windowText(entry.window!) })) ?? []
  const isWhole = (duty: Duty): boolean => duty.geoIds.length === geoIds.length && includesGeos(geoIds, duty.geoIds)
  const parts = stored.filter((duty) => !isWhole(duty) && includesGeos(geoIds, duty.geoIds))
  return [{ ...stored.find(isWhole), geoIds: coveredGeos(entry) }, ...parts]
}
