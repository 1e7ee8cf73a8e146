import type { Transaction } from 'kysely'
import { prepareQuery } from '../db/prepared.ts'
import { ALL_GEOS } from '../db/tables/codes.ts'
import type { Rows } from '../db/tables/rows.ts'
import type { Database } from '../db/tables/schema.ts'
import type { PlannedRequest } from '../job/plannedRequest.ts'
import type { Instant } from '../util/time/instant.ts'
import { isCalendarStep } from '../util/time/periods.ts'

const coverageAt = prepareQuery((db, parameters: { seriesId: number; at: Instant }) =>
  db
    .selectFrom('_coverage')
    .select(['geo_id', 'from_at', 'to_at'])
    .where('series_id', '=', parameters.seriesId)
    .where('from_at', '<=', parameters.at)
    .where('to_at', '>=', parameters.at),
)

/**
 * The steps that the replies of the nearest values stated, for every geo; null if there is none. Stored steps do not suffice: a
 * coarser one is written only after some days.
 */
const statedStepsAround = prepareQuery((db, { seriesId, at }: { seriesId: number; at: Instant }) =>
  db
    .selectFrom('series_geo as g')
    .where('g.series_id', '=', seriesId)
    .select((geo) => {
      const steps = geo
        .selectFrom('observation as o')
        .leftJoin('_fetch as f', 'f.id', 'o.fetch_id')
        .select(({ fn }) => fn.coalesce('f.step_s', 'o.step_s').as('step'))
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

const insertChange = prepareQuery((db, row: { seriesId: number; at: Instant; step: number }) =>
  db
    .insertInto('_resolution')
    .values({ series_id: row.seriesId, from_at: row.at, step_s: row.step })
    .onConflict((conflict) =>
      conflict
        .columns(['series_id', 'from_at'])
        .doUpdateSet({ step_s: row.step })
        .where('_resolution.step_s', '<>', row.step),
    ),
)

/**
 * Records at which ends of a window that was just loaded the resolution changes, so that later windows are cut there. A change
 * needs coverage on both sides. A guessed step shows nothing.
 */
export async function recordChanges(
  tx: Transaction<Database>,
  { window, series, service }: PlannedRequest,
  { observations }: Rows,
  seriesId: number | null,
): Promise<void> {
  if (!window || !series || seriesId === null || series.timeTrunc !== null || service.steps.coarse === null) return
  if (!observations?.at.length || observations.isStepGuessed) return
  for (const at of [window.from, window.to]) {
    const changed = (await statedStepsAround.all(tx, { seriesId, at })).filter(
      ({ before, after }) =>
        // Steps of calendar periods are not compared: they vary.
        before !== null && after !== null && before !== after && !(isCalendarStep(before) && isCalendarStep(after)),
    )
    if (changed.length === 0) continue
    const coverage = await coverageAt.all(tx, { seriesId, at })
    const isCovered = (geoId: number, side: 'before' | 'after'): boolean =>
      coverage.some(
        (row) =>
          (row.geo_id === geoId || row.geo_id === ALL_GEOS) && (side === 'before' ? row.from_at < at : row.to_at > at),
      )
    const joined = changed.find(({ geo_id: geoId }) => isCovered(geoId, 'before') && isCovered(geoId, 'after'))
    if (joined) await insertChange.run(tx, { seriesId, at, step: joined.after! })
  }
}
