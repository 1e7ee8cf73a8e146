import type { Transaction } from 'kysely'
import { prepareQuery } from '../db/prepared.ts'
import { readStepsAround } from '../db/queries/stepsAround.ts'
import { ALL_GEOS } from '../db/tables/codes.ts'
import type { Rows } from '../db/tables/rows.ts'
import type { Database } from '../db/tables/schema.ts'
import type { PlannedRequest } from '../job/plannedRequest.ts'
import type { Instant } from '../util/time/instant.ts'
import type { Interval } from '../util/time/interval.ts'
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

/** The stretches of a series that a reply showed, beside the first ones. */
const selectNewStretches = prepareQuery((db, { seriesId, fetchId }: { seriesId: number; fetchId: number }) =>
  db
    .selectFrom('_cadence as c')
    .select(['c.from_at', 'c.step_s as step'])
    .select(({ selectFrom }) =>
      selectFrom('_cadence as b')
        .select('b.step_s')
        .whereRef('b.series_id', '=', 'c.series_id')
        .whereRef('b.geo_id', '=', 'c.geo_id')
        .whereRef('b.from_at', '<', 'c.from_at')
        .orderBy('b.from_at', 'desc')
        .limit(1)
        .as('before'),
    )
    .where('c.series_id', '=', seriesId)
    .where('c.fetch_id', '=', fetchId),
)

/** Whether two known steps differ. Those of calendar periods vary, and are not compared. */
const areDifferent = (before: number | null, after: number | null): boolean =>
  before !== null && after !== null && before !== after && !(isCalendarStep(before) && isCalendarStep(after))

/** Records where the resolution of a series changes, by a reply that was just loaded, so that later windows are cut there. */
export async function recordChanges(
  tx: Transaction<Database>,
  planned: PlannedRequest,
  { observations }: Rows,
  seriesId: number | null,
  fetchId: number,
): Promise<void> {
  const { window, series, service } = planned
  if (!window || !series || seriesId === null || series.timeTrunc !== null || service.steps.coarse === null) return
  if (!observations?.at.length) return
  // A coarser step is known only after some days.
  for (const { from_at: at, before, step } of await selectNewStretches.all(tx, { seriesId, fetchId }))
    if (areDifferent(before, step)) await insertChange.run(tx, { seriesId, at, step: step! })
  // A guessed step shows nothing.
  if (!observations.isStepGuessed) await recordChangesAtEnds(tx, seriesId, window)
}

/** Records at which ends of a window the resolution changes. A change needs coverage on both sides. */
async function recordChangesAtEnds(tx: Transaction<Database>, seriesId: number, window: Interval): Promise<void> {
  for (const at of [window.from, window.to]) {
    const changed = (await readStepsAround(tx, { seriesId, at })).filter(({ before, after }) =>
      areDifferent(before, after),
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
