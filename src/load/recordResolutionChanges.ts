import type { Transaction } from 'kysely'
import { prepareQuery } from '../db/prepared.ts'
import { readStepsAround } from '../db/queries/stepsAround.ts'
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

/** The starts of the stretches of a series that a reply showed. */
const selectNewStretches = prepareQuery((db, { seriesId, fetchId }: { seriesId: number; fetchId: number }) =>
  db
    .selectFrom('_cadence')
    .select('from_at')
    .distinct()
    .where('series_id', '=', seriesId)
    .where('fetch_id', '=', fetchId),
)

/**
 * Records where the resolution of a series changes, so that later windows are cut there: at the ends of a window that was just
 * loaded, and where a stretch begins that it showed, because a coarser step is known only after some days. A change needs coverage on
 * both sides.
 */
export async function recordChanges(
  tx: Transaction<Database>,
  { window, series, service }: PlannedRequest,
  { observations }: Rows,
  seriesId: number | null,
  fetchId: number,
): Promise<void> {
  if (!window || !series || seriesId === null || series.timeTrunc !== null || service.steps.coarse === null) return
  if (!observations?.at.length) return
  // A guessed step shows nothing.
  const ends = observations.isStepGuessed ? [] : [window.from, window.to]
  const stretches = await selectNewStretches.all(tx, { seriesId, fetchId })
  for (const at of new Set([...ends, ...stretches.map(({ from_at }) => from_at)])) {
    const changed = (await readStepsAround(tx, { seriesId, at })).filter(
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
