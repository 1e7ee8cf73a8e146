/* R5: repeats of missing periods and silent days take at most a tenth of the periods of a run. */
import { DAY, HOUR, unitsOf } from '../calendar.ts'
import { type Oracle, type SeriesTruth, storedValues } from '../oracle.ts'
import type { CommandRecords } from '../records.ts'
import { differ, type Plan, type Scene } from '../scene.ts'
import type { SeriesRequest } from '../service.ts'
import { type Interval, isPartOf, isWithin, unitOf } from '../units.ts'
import type { RequiredRanges } from './requiredRanges.ts'
import { requirementAt } from './requirements.ts'

/** Returns the periods in a second of a reply to a request for some geos; null for all. */
type Density = (geos: readonly number[] | null) => number

/** What decides how the periods of a request are counted, before a command. */
export interface PeriodCounts {
  readonly densities: ReadonlyMap<string, Density>
  /** The instants with a value, by series and geo. */
  readonly instants: ReadonlyMap<string, ReadonlyMap<number, readonly number[]>>
}

/** Returns how the periods of each series are counted. */
export const periodCounts = (oracle: Oracle): PeriodCounts => ({
  densities: new Map([...oracle].map(([key, truth]) => [key, densityOf(truth)])),
  instants: new Map(
    [...oracle].map(([key, { values }]) => [key, new Map([...values].map(([geo, ofGeo]) => [geo, [...ofGeo.keys()]]))]),
  ),
})

const HOURLY: Density = (geos) => (geos?.length ?? 1) / HOUR

/** Returns the density of a series by its newest value; NaN if that has no length. */
function densityOf(truth: SeriesTruth): Density {
  const { values } = truth
  const stored = values.size === 0 ? [] : storedValues(truth, Math.min(...values.keys()))
  const newest = stored.toSorted((a, b) => b.at - a.at)[0]
  const step = newest ? (newest.version.step ?? Number.NaN) : HOUR
  return (geos) => (geos?.length ?? Math.max(1, values.size)) / step
}

/** R5: returns the number of periods in a window of a request. */
const countPeriods = ({ densities }: PeriodCounts, { key, geos }: SeriesRequest, { from, to }: Interval): number =>
  (densities.get(key) ?? HOURLY)(geos) * (to - from)

/** R7: whether a window has only days without values, or those of the first and the last value. They are probably empty. */
function isSilent({ instants }: PeriodCounts, { key, geos, window }: SeriesRequest): boolean {
  return [...(instants.get(key) ?? [])].every(([geo, ofGeo]) => {
    const first = Math.min(...ofGeo)
    const last = Math.max(...ofGeo)
    const isNearEnd = (at: number): boolean => at - first < DAY || last - at < DAY
    const isOfOtherGeo = geos !== null && !geos.includes(geo)
    return isOfOtherGeo || ofGeo.filter((at) => isWithin(at, window!)).every(isNearEnd)
  })
}

/** R5: returns the number of periods that a repeat counts as: its periods, or one for each day of a silent window (R7). */
function countRepeated(counts: PeriodCounts, request: SeriesRequest): number {
  const { from, to } = request.window!
  return isSilent(counts, request) ? Math.round((to - from) / DAY) : countPeriods(counts, request, request.window!)
}

/** R5: returns the number of periods that one repeat a day may have beyond the share: a silent window, or one unit. */
function dailyAllowance(counts: PeriodCounts, repeat: SeriesRequest | undefined): number {
  if (!repeat) return 0
  if (isSilent(counts, repeat)) return countRepeated(counts, repeat)
  const [firstUnit] = unitsOf(repeat.window!.from, repeat.window!.to, unitOf(repeat.trunc))
  return countPeriods(counts, repeat, firstUnit!)
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0)

/** R5: expects repeats to keep to their share, and to contain nothing else. */
export function checkShare(
  scene: Scene,
  plan: Plan,
  { requirements, counts }: RequiredRanges,
  { fetches }: CommandRecords,
  isWhole: boolean,
): void {
  if (plan.do === 'retry') return
  const inWindows = fetches.flatMap(({ fetch, request }) => (request?.window ? [{ fetch, request }] : []))
  const requestsOf = (isRepeat: boolean): SeriesRequest[] =>
    inWindows.filter(({ fetch }) => (fetch.reason === 'absent') === isRepeat).map(({ request }) => request)
  const repeats = requestsOf(true)
  const others = requestsOf(false)
  const periods = (request: SeriesRequest): number => countPeriods(counts, request, request.window!)
  const wholeWindows = others.filter((request) => !others.some((other) => isPartOf(request, other)))
  const share = Math.floor(sum(wholeWindows.map(periods)) / 10)
  const last = scene.repeatedAt.get(plan.job)
  const isFirstOfDay = last === undefined || scene.now - last >= DAY - HOUR
  // The plan also counts windows of an id that this run finds to be unknown.
  const isCut = !isWhole || fetches.some(({ fetch }) => fetch.outcome === 'refused')
  const allowance = isFirstOfDay || isCut ? dailyAllowance(counts, repeats[0]) : 0
  const limit = plan.do === 'restate' ? 0 : Math.max(share, allowance)
  const repeated = sum(repeats.map((request) => countRepeated(counts, request)))
  scene.tally.comparisons++
  // The length of events is not known. A rounding error is not a period.
  const isKnown = !Number.isNaN(sum(inWindows.map(({ request }) => periods(request))))
  if (isKnown && !(repeated <= limit + 0.001))
    differ(
      `${plan.do}: repeats of missing periods have more than their share`,
      limit,
      repeats.map((request) => [request.target, countRepeated(counts, request)]),
    )
  for (const request of repeats) checkUnits(scene, plan, requirements, request)
  if (repeats.length > 0) scene.repeatedAt.set(plan.job, scene.now)
}

/** R4: expects each unit of a repeat to lack something. */
function checkUnits(
  { tally }: Scene,
  plan: Plan,
  requirements: RequiredRanges['requirements'],
  request: SeriesRequest,
): void {
  for (const unit of unitsOf(request.window!.from, request.window!.to, unitOf(request.trunc))) {
    tally.comparisons++
    if (requirementAt(requirements, request, unit) === 'not')
      differ(`${plan.do}: a repeat of missing periods has a day that lacks nothing`, unit, request.target)
  }
}
