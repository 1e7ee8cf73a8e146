/* R2: which data can still change. */
import { border, DAY, SERVICE_ZONE, unitsOf } from '../calendar.ts'
import { judgeRequirement, judgeState, type Requirement } from '../judgedState.ts'
import { knownGeos, storedValues } from '../oracle.ts'
import type { Interval } from '../units.ts'
import type { EntryUnit } from './entryUnit.ts'
import { isMonthly } from './published.ts'

/** Returns the month that contains the start of a unit. */
const monthOf = ({ from }: Interval): Interval => ({
  from: border(SERVICE_ZONE, from, 'month'),
  to: border(SERVICE_ZONE, from, 'month', 1),
})

/** R1–R3: whether a unit is requested by its age, or by that of its month. */
export function requirementByAge(part: EntryUnit): Requirement {
  const { scene, entry, unit, judged } = part
  const own = judgeRequirement(judged, unit.to, scene.now, entry)
  const isDayOfMonth = entry.trunc === null && isMonthly(scene, entry.key)
  return own === 'not' && isDayOfMonth ? requirementByMonth(part) : own
}

/** R2: a day of a monthly series may be requested until its month is settled. */
function requirementByMonth(part: EntryUnit): Requirement {
  const { scene, truth, entry, unit, geo, judged } = part
  const month = monthOf(unit)
  const later = judgeRequirement(judged, month.to, scene.now, entry)
  const hasValue = knownGeos(truth, geo).some((known) => storedValues(truth, known).length > 0)
  // A monthly value appears and is revised at the start of its month. Without stored values, the month is unknown.
  if (unit.from === month.from && hasValue) return later
  return later !== 'not' || isMonthOpen(part, month) ? 'may' : 'not'
}

/**
 * R2: whether another day of a month may be requested. Days that were settled before the series proved monthly may be merged with days
 * of the month that were fetched earlier.
 */
function isMonthOpen({ scene, truth, entry, geo }: EntryUnit, month: Interval): boolean {
  const days = unitsOf(month.from, month.to, 'day').map((day) => judgeState(truth, day, geo))
  return days.some(
    (judged) => judged.state === 'complete' && judgeRequirement(judged, month.to, scene.now, entry) !== 'not',
  )
}

/** R2: whether a unit is settled for shorter lookbacks only. Settled units may be merged with older ones, which a longer one requests. */
export const isLookbackLonger = ({ scene, entry }: EntryUnit): boolean =>
  entry.lookback > (scene.lookbacks.get(entry.key) ?? 0)

/** R2: whether a source is up to two weeks behind. Then nothing is final from the day of its last value on. */
export const isSourceBehind = ({ scene, truth, unit, geo }: EntryUnit): boolean =>
  knownGeos(truth, geo)
    .map((known) => Math.max(...storedValues(truth, known).map(({ at }) => at)))
    .some((last) => unit.to > last && scene.now - last < 16 * DAY)

/** R2: whether the values of a group may be monthly. If so, they decide whether its periods are those of the group or months. */
export const isMonthOfGroupOpen = ({ scene, entry, unit, judged }: EntryUnit): boolean =>
  entry.trunc !== null &&
  isMonthly(scene, entry.key) &&
  judgeRequirement(judged, monthOf(unit).to, scene.now, entry) !== 'not'
