import type { Transaction } from 'kysely'
import { geoRanges, type Observations } from '../../db/tables/rows.ts'
import type { Database } from '../../db/tables/schema.ts'
import type { Cadences } from './cadences.ts'
import { selectSteps, updateStep } from './stepQueries.ts'

/**
 * Gives stored values the steps that a reply states, as long as their timeline has no cadence that decides them. Guesses change
 * nothing. Returns whether any step changed; this makes no revisions.
 */
export async function alignSteps(
  tx: Transaction<Database>,
  seriesId: number,
  observations: Observations,
  cadences: Cadences,
): Promise<boolean> {
  const { at, steps, isStepGuessed } = observations
  if (isStepGuessed) return false
  let isChanged = false
  for (const { geoId, first, end } of geoRanges(observations)) {
    if (cadences.get(geoId)?.every(({ grid }) => grid !== null)) continue
    const range = { seriesId, geoId, from: at[first]!, to: at[end - 1]! + 1 }
    const stored = new Map((await selectSteps.all(tx, range)).map((row) => [row.at, row.step_s]))
    for (let i = first; i < end; i++) {
      const step = typeof steps === 'number' ? steps : steps[i]!
      if (stored.get(at[i]!) === step) continue
      await updateStep.run(tx, { seriesId, geoId, at: at[i]!, step })
      isChanged = true
    }
  }
  return isChanged
}
