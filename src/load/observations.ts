import type { Transaction } from 'kysely'
import { prepared } from '../db/prepared.ts'
import type { Observations } from '../db/tables/rows.ts'
import type { Database } from '../db/tables/schema.ts'
import { LONGEST_FIXED } from '../util/time/periods.ts'

const stepOfGeoBeside = (side: 'before' | 'after') =>
  prepared((db, of: { seriesId: number; geoId: number; at: number }) =>
    db
      .selectFrom('observation')
      .select('step_s')
      .where('series_id', '=', of.seriesId)
      .where('geo_id', '=', of.geoId)
      .where('at', side === 'before' ? '<=' : '>', of.at)
      .orderBy('at', side === 'before' ? 'desc' : 'asc')
      .limit(1),
  )
const GEO_SIDES = [stepOfGeoBeside('before'), stepOfGeoBeside('after')]

/** The step of the stored value of a geo that is nearest to an instant. */
async function stepNear(
  tx: Transaction<Database>,
  of: { seriesId: number; geoId: number; at: number },
): Promise<number | undefined> {
  for (const side of GEO_SIDES) {
    const found = await side.first(tx, of)
    if (found && found.step_s < LONGEST_FIXED) return found.step_s
  }
  return undefined
}

/** The same rows; where their steps are only guessed, with the steps of the stored values next to them. */
export async function likeStored(
  tx: Transaction<Database>,
  seriesId: number,
  rows: Observations,
): Promise<Observations> {
  const { geoIds, at, steps, guessed } = rows
  if (!guessed || typeof steps !== 'number' || steps >= LONGEST_FIXED) return rows
  const near = new Map<number, number>()
  for (const [i, geoId] of geoIds.entries())
    if (!near.has(geoId)) near.set(geoId, (await stepNear(tx, { seriesId, geoId, at: at[i]! })) ?? steps)
  return { ...rows, steps: geoIds.map((geoId) => near.get(geoId)!) }
}
