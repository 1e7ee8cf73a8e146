import { prepareQuery } from '../../db/prepared.ts'
import type { Instant } from '../../util/time/instant.ts'
import type { Interval } from '../../util/time/interval.ts'

/* The steps of stored values. */

type Range = Interval & { readonly seriesId: number; readonly geoId: number }

export const selectSteps = prepareQuery((db, { seriesId, geoId, from, to }: Range) =>
  db
    .selectFrom('observation')
    .select(['at', 'step_s'])
    .where('series_id', '=', seriesId)
    .where('geo_id', '=', geoId)
    .where('at', '>=', from)
    .where('at', '<', to)
    .orderBy('at'),
)

export const updateStep = prepareQuery(
  (db, { seriesId, geoId, at, step }: { seriesId: number; geoId: number; at: Instant; step: number }) =>
    db
      .updateTable('observation')
      .set({ step_s: step })
      .where('series_id', '=', seriesId)
      .where('geo_id', '=', geoId)
      .where('at', '=', at),
)
