/* R7: days before the first and after the last value of a geo, which are requested again in rounds. */
import { DAY, HOUR } from '../calendar.ts'
import { judgeState } from '../judgedState.ts'
import { knownGeos, storedValues } from '../oracle.ts'
import type { EntryUnit } from './entryUnit.ts'

/** R7: returns the geos for which a unit may be requested again, because it has the first or last value or none of those between. */
export function geosToRepeat({ scene, truth, unit, geo }: EntryUnit): number[] {
  return knownGeos(truth, geo).filter((known) => {
    const stored = storedValues(truth, known)
    const isOutside = stored.every(({ at }) => at >= unit.from) || stored.every(({ at }) => at < unit.to)
    // A day with a dismissed reject shares the row of the values after it, which may have the time of an older reply.
    const { hasRejects, lastTry } = judgeState(truth, unit, known)
    return isOutside && (hasRejects || scene.now - lastTry >= DAY - 2 * HOUR)
  })
}
