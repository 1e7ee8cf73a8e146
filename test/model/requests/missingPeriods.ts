/* R4: missing periods are requested again at growing distances. */
import { DAY, HOUR } from '../calendar.ts'
import { periodsOf } from '../missing.ts'
import { type Event, knownGeos, type SeriesTruth, type StoredValue, storedValues } from '../oracle.ts'
import { covers, type Interval, includesGeo, isWithin, touches } from '../units.ts'
import type { EntryUnit } from './entryUnit.ts'
import { hasEveryPeriod } from './published.ts'

/** M3: whether a unit may have missing periods: a geo lacks a value in it, or the last reply for all geos was empty. */
export const lacksValues = ({ truth, unit, geo }: EntryUnit): boolean =>
  lacksPeriod(truth, unit, geo) || (geo === null && wasEmpty(truth, unit))

/** M3: whether a geo, or (null) any of them, lacks a value in a unit. */
function lacksPeriod(truth: SeriesTruth, unit: Interval, geo: number | null): boolean {
  const geos = geo === null ? [...truth.values.keys()] : [geo]
  return geos.length === 0 || geos.some((one) => hasHole(storedValues(truth, one), unit))
}

/** M3: whether the periods of values leave a part of a unit out; false if a value has no length. */
function hasHole(stored: readonly StoredValue[], unit: Interval): boolean {
  const steps = stored.map(({ version }) => version.step)
  if (steps.includes(null)) return false
  // Less than fourteen days of a coarser step beside a finer one count as thinned (C5).
  if (new Set(steps.filter((step) => step! <= HOUR)).size > 1) return true
  let end = unit.from
  for (const { at, version } of stored.toSorted((a, b) => a.at - b.at))
    if (at <= end) end = Math.max(end, at + version.step!)
  return end < unit.to
}

/** S5: whether the last reply for all geos was empty. Later replies for single geos do not change the state of others. */
const wasEmpty = ({ events }: SeriesTruth, unit: Interval): boolean =>
  events.findLast(({ request, outcome }) => outcome === 'loaded' && request.geos === null && covers(request, unit))
    ?.present.size === 0

/** R4: whether missing periods of a unit may be requested again. */
export function mayRetry(part: EntryUnit): boolean {
  const { scene, truth, entry, unit, geo } = part
  const replies = truth.events.filter(
    ({ request, outcome }) => outcome === 'loaded' && covers(request, unit) && includesGeo(request, geo),
  )
  const last = replies.at(-1)
  if (!last) return true
  // Periods that are missing by a cadence found later have the time of their coverage, which is that of its oldest part (S16).
  if ((scene.learnedAt.get(entry.key) ?? Number.NEGATIVE_INFINITY) >= last.at) return true
  return scene.now - last.at >= shortestDistance(part, replies, last) - 2 * HOUR
}

/** R4: returns the shortest distance to the next request: a day, then as long as periods were missing at the last one. */
function shortestDistance(part: EntryUnit, replies: readonly Event[], last: Event): number {
  const { scene, truth, entry, unit, geo } = part
  // Events may look regular in places, so that earlier missing periods are requested again.
  if (!hasEveryPeriod(scene, entry.key, entry.trunc)) return DAY
  const finalAt = unit.to + (scene.lookbacks.get(entry.key) ?? 2) * DAY
  // An unreadable row may have been the missing one.
  const first = replies.find(({ at, rejects }) => at >= finalAt && rejects.length === 0) ?? last
  const emptySince = geo === null ? findEmptySince(truth, unit, finalAt) : null
  // Merged rows use the times of the older one: a day either way.
  if (emptySince !== null && emptySince < first.at) return Math.max(DAY, last.at - emptySince - DAY)
  // A withdrawn value is missing since its withdrawal, whatever was missing before.
  return Math.max(DAY, last.at - Math.max(first.at, newestWithdrawal(truth, unit, geo)))
}

/** M4: returns when the newest missing value of a unit was withdrawn; 0 if none was. */
function newestWithdrawal({ values }: SeriesTruth, unit: Interval, geo: number | null): number {
  const times = [...values]
    .filter(([known]) => geo === null || known === geo)
    .flatMap(([, ofGeo]) => [...ofGeo])
    .filter(([at]) => isWithin(at, unit))
    .map(([, versions]) => versions.at(-1)?.to ?? 0)
  return Math.max(0, ...times)
}

/**
 * M5: returns since when a unit without values is missing for all geos: since any geo was fetched correctly after `finalAt`, if the last
 * reply for all was empty. Otherwise null.
 */
function findEmptySince(truth: SeriesTruth, unit: Interval, finalAt: number): number | null {
  const hadValues = [...truth.values.values()].some((ofGeo) => [...ofGeo.keys()].some((at) => isWithin(at, unit)))
  const attempts = truth.events.filter(({ request }) => touches(request, unit))
  const last = attempts.at(-1)
  if (hadValues || last?.request.geos !== null || last.present.size > 0) return null
  const isClean = ({ outcome, rejects, lost }: Event): boolean =>
    outcome === 'loaded' && rejects.length === 0 && lost.size === 0
  const clean = attempts.slice(attempts.findLastIndex((one) => !isClean(one)) + 1).filter(({ at }) => at >= finalAt)
  const geos = [...truth.values.keys()]
  if (geos.length === 0) return clean[0]?.at ?? null
  // What is missing for a geo is due by the requests that included it; the newest geo is due first.
  const times = geos.map((geo) => clean.find(({ request }) => includesGeo(request, geo))?.at)
  return times.includes(undefined) ? null : Math.max(...times.map((at) => at!))
}

/** R4: whether a unit lacks periods since its only reply, which is so old that a run must request some of them again. */
export function isOverdue(part: EntryUnit): boolean {
  const { scene, truth, entry, unit } = part
  const attempts = truth.events.filter(({ request }) => touches(request, unit))
  const [only] = attempts
  if (attempts.length !== 1 || only?.outcome !== 'loaded' || only.rejects.length > 0) return false
  const lookback = Math.max(entry.lookback, scene.lookbacks.get(entry.key) ?? 0) * DAY
  return (
    only.at >= unit.to + lookback + HOUR &&
    scene.now - only.at >= DAY + 2 * HOUR &&
    hasEveryPeriod(scene, entry.key, entry.trunc) &&
    hasEveryPeriod(scene, entry.key, entry.trunc, only.at) &&
    lacksSome(part)
  )
}

/** M3: whether a unit has values of a regular timeline, and lacks others between them. */
function lacksSome({ truth, unit, geo }: EntryUnit): boolean {
  const geos = knownGeos(truth, geo)
  const hasValues = geos.some((known) => storedValues(truth, known).some(({ at }) => isWithin(at, unit)))
  // A single value of a geo does not imply earlier ones.
  const lacksSeveral = knownGeos(truth, null).some(
    (known) => storedValues(truth, known).length > 1 && lacksPeriod(truth, unit, known),
  )
  const isMissing = geos.some((known) => {
    const periods = periodsOf(truth, known)
    return periods?.isRegular && periods.missing.some((at) => isWithin(at, unit))
  })
  return hasValues && (geo !== null || lacksSeveral) && isMissing
}
