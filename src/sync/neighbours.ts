import { prepared } from '../db/prepared.ts'
import { findSeries } from '../db/queries/seriesLookup.ts'
import type { Reader } from '../db/store.ts'
import { ALL_GEOS } from '../db/tables/codes.ts'
import { identityRow, type PlannedRequest } from '../job/plannedRequest.ts'
import type { Neighbours } from '../job/plannerState.ts'
import type { Interval } from '../util/time/interval.ts'
import { LONGEST_DAY_S } from '../util/time/localDay.ts'

/** For every geo, the step of the value nearest to an instant on one side of it. */
const stepsBeside = (side: 'before' | 'after') =>
  prepared((db, of: { seriesId: number; at: number }) =>
    db
      .selectFrom('series_geo as g')
      .where('g.series_id', '=', of.seriesId)
      .select((geo) =>
        geo
          .selectFrom('observation as o')
          .select('o.step_s')
          .whereRef('o.series_id', '=', 'g.series_id')
          .whereRef('o.geo_id', '=', 'g.geo_id')
          .where('o.at', side === 'before' ? '<' : '>=', of.at)
          .orderBy('o.at', side === 'before' ? 'desc' : 'asc')
          .limit(1)
          .as('step'),
      )
      .distinct(),
  )
const SIDES = [stepsBeside('before'), stepsBeside('after')]

const changesAt = prepared((db, of: { seriesId: number; from: number; to: number }) =>
  db
    .selectFrom('_resolution')
    .select('from_at')
    .where('series_id', '=', of.seriesId)
    .where('from_at', 'in', [of.from, of.to]),
)

/** What is stored of the resolution around and inside the window of a planned request. */
export async function readNeighbours({ kysely }: Reader, { series, window }: PlannedRequest): Promise<Neighbours> {
  const known = series && window ? await findSeries(kysely, identityRow(series)) : undefined
  if (known === undefined || !window) return { steps: [], bordered: false }
  const seriesId = known.id
  const steps = new Set<number>()
  for (const side of SIDES)
    for (const at of [window.from, window.to])
      for (const { step } of await side.all(kysely, { seriesId, at })) if (step !== null) steps.add(step)
  const bordered = (await changesAt.first(kysely, { seriesId, ...window })) !== undefined
  return { steps: [...steps], bordered }
}

const idsOfDays = prepared((db, of: { seriesId: number }) =>
  db
    .selectFrom('_fetch')
    .select('resolution_id')
    .distinct()
    .where('series_id', '=', of.seriesId)
    .where('outcome', '=', 'ok')
    .where((row) => row(row('to_at', '-', row.ref('from_at')), '<=', LONGEST_DAY_S))
    .where('resolution_id', 'is not', null)
    .$narrowType<{ resolution_id: number }>(),
)

/** The resolution ids with which single days of a planned request's series were answered. */
export async function readDayIds({ kysely }: Reader, { series }: PlannedRequest): Promise<readonly number[]> {
  const known = series ? await findSeries(kysely, identityRow(series)) : undefined
  if (known === undefined) return []
  const rows = await idsOfDays.all(kysely, { seriesId: known.id })
  return rows.map(({ resolution_id }) => resolution_id)
}

const absencesIn = prepared((db, of: { seriesId: number; from: number; to: number }) =>
  db
    .selectFrom('_absent')
    .select(['geo_id', 'from_at as from', 'to_at as to'])
    .where('series_id', '=', of.seriesId)
    .where('from_at', '<', of.to)
    .where('to_at', '>', of.from),
)

/** The absences in the window of a planned request, of its geos and of all geos. */
export async function readAbsences(
  { kysely }: Reader,
  { series, window, geoIds }: PlannedRequest,
): Promise<Interval[]> {
  const known = series && window ? await findSeries(kysely, identityRow(series)) : undefined
  if (known === undefined || !window) return []
  const rows = await absencesIn.all(kysely, { seriesId: known.id, ...window })
  return rows.filter(({ geo_id }) => geo_id === ALL_GEOS || geoIds.includes(ALL_GEOS) || geoIds.includes(geo_id))
}
