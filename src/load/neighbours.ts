import { prepareQuery } from '../db/prepared.ts'
import { findSeries } from '../db/queries/seriesLookup.ts'
import type { Reader } from '../db/store.ts'
import { ALL_GEOS } from '../db/tables/codes.ts'
import { type PlannedRequest, toIdentityRow } from '../job/plannedRequest.ts'
import type { Interval } from '../util/time/interval.ts'
import { LONGEST_DAY_S } from '../util/time/localDay.ts'
import { readStepsAround } from './stepsAround.ts'

/** The stored resolution around a window before its reply is loaded. */
export interface Neighbours {
  /** Steps in seconds of values stored just before, inside and just after the window. */
  readonly steps: readonly number[]
  /** Whether a change of resolution is stored exactly at one of the window's ends. */
  readonly isBordered: boolean
}

const changesAt = prepareQuery((db, { seriesId, from, to }: { seriesId: number } & Interval) =>
  db.selectFrom('_resolution').select('from_at').where('series_id', '=', seriesId).where('from_at', 'in', [from, to]),
)

/** Reads the stored steps next to the window of a request, and whether a change of resolution borders it. */
export async function readNeighbours({ kysely }: Reader, { series, window }: PlannedRequest): Promise<Neighbours> {
  const stored = series && window ? await findSeries(kysely, toIdentityRow(series)) : undefined
  if (stored === undefined || !window) return { steps: [], isBordered: false }
  const seriesId = stored.id
  const steps = new Set<number>()
  for (const at of [window.from, window.to])
    for (const { before, after } of await readStepsAround(kysely, { seriesId, at }))
      for (const step of [before, after]) if (step !== null) steps.add(step)
  const isBordered = (await changesAt.first(kysely, { seriesId, ...window })) !== undefined
  return { steps: [...steps], isBordered }
}

const dayResolutionIds = prepareQuery((db, { seriesId }: { seriesId: number }) =>
  db
    .selectFrom('_fetch')
    .select('resolution_id')
    .distinct()
    .where('series_id', '=', seriesId)
    .where('outcome', '=', 'ok')
    .where((row) => row(row('to_at', '-', row.ref('from_at')), '<=', LONGEST_DAY_S))
    .where('resolution_id', 'is not', null)
    .$narrowType<{ resolution_id: number }>(),
)

/** Reads the resolution ids of replies for single days of a request's series. */
export async function readDayIds({ kysely }: Reader, { series }: PlannedRequest): Promise<readonly number[]> {
  const stored = series ? await findSeries(kysely, toIdentityRow(series)) : undefined
  if (stored === undefined) return []
  const rows = await dayResolutionIds.all(kysely, { seriesId: stored.id })
  return rows.map(({ resolution_id }) => resolution_id)
}

const absencesIn = prepareQuery((db, { seriesId, from, to }: { seriesId: number } & Interval) =>
  db
    .selectFrom('_absent')
    .select(['geo_id', 'from_at as from', 'to_at as to'])
    .where('series_id', '=', seriesId)
    .where('from_at', '<', to)
    .where('to_at', '>', from),
)

/** Reads the absences of the geos of a request in its window. */
export async function readAbsences(
  { kysely }: Reader,
  { series, window, geoIds }: PlannedRequest,
): Promise<Interval[]> {
  const stored = series && window ? await findSeries(kysely, toIdentityRow(series)) : undefined
  if (stored === undefined || !window) return []
  const rows = await absencesIn.all(kysely, { seriesId: stored.id, ...window })
  return rows.filter(({ geo_id }) => geoIds.includes(ALL_GEOS) || geoIds.includes(geo_id))
}
