import type { Kysely } from 'kysely'
import { prepareQuery } from '../db/prepared.ts'
import type { Database } from '../db/tables/schema.ts'
import type { Instant } from '../util/time/instant.ts'

/** The steps of the stored values nearest to an instant, in seconds; null if there is none. */
export interface StepsAround {
  readonly geo_id: number
  /** The step of the last value before the instant. */
  readonly before: number | null
  /** The step of the first value at or after the instant. */
  readonly after: number | null
}

/** Reads the steps of the values nearest to an instant, for every geo of a series. */
export const readStepsAround = (
  db: Kysely<Database>,
  series: { readonly seriesId: number; readonly at: Instant },
): Promise<StepsAround[]> => stepsAround.all(db, series)

const stepsAround = prepareQuery((db, { seriesId, at }: { seriesId: number; at: Instant }) =>
  db
    .selectFrom('series_geo as g')
    .where('g.series_id', '=', seriesId)
    .select((geo) => {
      const steps = geo
        .selectFrom('observation as o')
        .select('o.step_s')
        .whereRef('o.series_id', '=', 'g.series_id')
        .whereRef('o.geo_id', '=', 'g.geo_id')
        .limit(1)
      return [
        'g.geo_id',
        steps.where('o.at', '<', at).orderBy('o.at', 'desc').as('before'),
        steps.where('o.at', '>=', at).orderBy('o.at').as('after'),
      ]
    }),
)
