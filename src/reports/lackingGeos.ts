import { geoNameColumn } from '../db/queries/catalogueNames.ts'
import { isNotForgotten } from '../db/queries/jobRuns.ts'
import type { Reader } from '../db/store.ts'
import { ALL_GEOS, FETCH_OUTCOMES } from '../db/tables/codes.ts'
import type { Job } from '../job/job.ts'
import { parseNumbers } from '../util/json.ts'
import { DAY, type Instant } from '../util/time/instant.ts'

/** A geo of an indicator, as a job names it; `ALL_GEOS` if it names none. */
interface NamedGeo {
  readonly kind: string
  readonly indicatorId: number
  readonly geoId: number
}

/** Geos that jobs select of an indicator and for which the service answered without any value. */
export interface LackingGeos {
  /** The route of the values. */
  readonly kind: string
  /** The indicator. */
  readonly indicatorId: number
  /** Geos without any value; empty if the indicator has no values at all. */
  readonly geoIds: readonly number[]
  /** The geos for which values are stored. */
  readonly stored: readonly { readonly id: number; readonly name: string | null }[]
}

/** An answer counts if its window began this long before: until then, values of a geo may still be published. */
const PUBLISHED_AFTER = 2 * DAY

const keyOf = (kind: string, indicatorId: number): string => `${kind} ${indicatorId}`

/** The geos that a job selects. */
export const namedGeos = ({ series }: Job): NamedGeo[] =>
  series
    .filter(({ geoAgg }) => geoAgg === null)
    .flatMap(({ route, indicators, geoIds }) =>
      indicators.flatMap((indicatorId) =>
        (geoIds.length > 0 ? geoIds : [ALL_GEOS]).map((geoId) => ({ kind: route, indicatorId, geoId })),
      ),
    )

/** A request of one instant, for geos that its job names. */
interface InstantRequest extends Omit<NamedGeo, 'geoId'> {
  readonly geoIds: readonly number[]
  /** Whether the service answered after the values were due. */
  readonly isFetched: boolean
}

/**
 * The last request of each entry with an instant in place of a window, of some indicators or all: neither coverage nor what jobs want
 * includes it.
 */
async function readInstantRequests({ kysely }: Reader, indicators?: readonly number[]): Promise<InstantRequest[]> {
  const rows = await kysely
    .selectFrom('_fetch as f')
    .innerJoin('series as s', 's.id', 'f.series_id')
    .select(['s.kind', 's.indicator_id as indicatorId', 'f.params', 'f.finished_at', 'f.outcome'])
    .where('f.id', 'in', (of) =>
      of
        .selectFrom('_fetch as last')
        .innerJoin('_run as r', 'r.id', 'last.run_id')
        .select(({ fn }) => fn.max('last.id').as('id'))
        .where('last.from_at', 'is', null)
        .where(isNotForgotten)
        .where('last.series_id', 'in', (series) => {
          const ids = series.selectFrom('series').select('id')
          return indicators ? ids.where('indicator_id', 'in', indicators) : ids
        })
        .groupBy(['r.job', 'last.entry', 'last.series_id']),
    )
    .where('s.geo_agg', 'is', null)
    .orderBy('s.kind')
    .orderBy('s.indicator_id')
    .execute()
  return rows.map(({ kind, indicatorId, params, finished_at, outcome }) => {
    const { datetime, geo_ids = [ALL_GEOS] } = JSON.parse(params) as { datetime: Instant; geo_ids?: readonly number[] }
    const isDue = datetime + PUBLISHED_AFTER <= Date.parse(finished_at) / 1000
    const isFetched = isDue && (FETCH_OUTCOMES.good as readonly string[]).includes(outcome)
    return { kind, indicatorId, geoIds: geo_ids, isFetched }
  })
}

/** The geos that the stored jobs select. */
export async function storedNamedGeos(db: Reader): Promise<NamedGeo[]> {
  const rows = await db.kysely
    .selectFrom('_job_range as w')
    .innerJoin('series as s', 's.id', 'w.series_id')
    .select(['s.kind', 's.indicator_id as indicatorId', 'w.geo_ids'])
    .distinct()
    .where('s.geo_agg', 'is', null)
    .orderBy('s.kind')
    .orderBy('s.indicator_id')
    .execute()
  const wanted = rows.map(({ geo_ids, ...indicator }) => ({
    ...indicator,
    geoIds: parseNumbers(geo_ids) ?? [ALL_GEOS],
  }))
  return [...wanted, ...(await readInstantRequests(db))].flatMap(({ kind, indicatorId, geoIds }) =>
    geoIds.map((geoId) => ({ kind, indicatorId, geoId })),
  )
}

/** The geos of some indicators for which values are stored, whatever the step. */
async function readStoredGeos({ kysely }: Reader, indicators: readonly number[]) {
  const rows = await kysely
    .selectFrom('series_geo as g')
    .innerJoin('series as s', 's.id', 'g.series_id')
    .select(['s.kind', 's.indicator_id', 'g.geo_id as id'])
    .select(geoNameColumn('g.geo_id', 'name'))
    .distinct()
    .where('s.indicator_id', 'in', indicators)
    .where('s.geo_agg', 'is', null)
    .orderBy('g.geo_id')
    .execute()
  return Map.groupBy(rows, (row) => keyOf(row.kind, row.indicator_id))
}

/** The geos for which the service answered without values although they were due; `ALL_GEOS` if all geos were requested. */
async function readFetchedGeos(db: Reader, indicators: readonly number[]) {
  const rows = await db.kysely
    .selectFrom('_coverage as c')
    .innerJoin('series as s', 's.id', 'c.series_id')
    .select(['s.kind', 's.indicator_id', 'c.geo_id'])
    .distinct()
    .where('s.indicator_id', 'in', indicators)
    .where('s.geo_agg', 'is', null)
    .where((of) =>
      of.or([of('c.state', '=', 'empty'), of.and([of('c.geo_id', '=', ALL_GEOS), of('c.state', '=', 'values')])]),
    )
    .where((of) => of(of('c.from_at', '+', PUBLISHED_AFTER), '<=', of.ref('c.fetched_at')))
    .execute()
  const instants = (await readInstantRequests(db, indicators))
    .filter(({ isFetched }) => isFetched)
    .flatMap(({ kind, indicatorId, geoIds }) => geoIds.map((geo_id) => ({ kind, indicator_id: indicatorId, geo_id })))
  return Map.groupBy([...rows, ...instants], (row) => keyOf(row.kind, row.indicator_id))
}

/** Finds the selected geos for which the service answered and never had a value, by indicator. */
export async function findLackingGeos(db: Reader, named: readonly NamedGeo[]): Promise<LackingGeos[]> {
  if (named.length === 0) return []
  const indicators = [...new Set(named.map(({ indicatorId }) => indicatorId))]
  const [stored, answered] = [await readStoredGeos(db, indicators), await readFetchedGeos(db, indicators)]
  return [...Map.groupBy(named, (one) => keyOf(one.kind, one.indicatorId))].flatMap(([key, geos]) => {
    const has = stored.get(key) ?? []
    const empty = new Set((answered.get(key) ?? []).map(({ geo_id }) => geo_id))
    const { kind, indicatorId } = geos[0]!
    const named = new Set(geos.map(({ geoId }) => geoId))
    if (has.length === 0 && named.has(ALL_GEOS) && empty.has(ALL_GEOS))
      return [{ kind, indicatorId, geoIds: [], stored: [] }]
    const lacking = named.difference(new Set([ALL_GEOS, ...has.map(({ id }) => id)]))
    const geoIds = [...lacking].filter((geoId) => empty.has(geoId) || empty.has(ALL_GEOS)).sort((a, b) => a - b)
    if (geoIds.length === 0) return []
    return [{ kind, indicatorId, geoIds, stored: has.map(({ id, name }) => ({ id, name })) }]
  })
}

/** How many geos of an indicator are listed. */
const SHOWN_GEOS = 10

/** `indicator 600 has no values for geo 8741; values are stored for 1 (Portugal), 3 (España).` */
export function lackingGeosText({ kind, indicatorId, geoIds, stored }: LackingGeos): string {
  const indicator = `${kind.replace('_', ' ')} ${indicatorId}`
  if (geoIds.length === 0) return `${indicator} has no values: the service answered without any.`
  const lacks = `${indicator} has no values for geo ${geoIds.join(', ')}`
  if (stored.length === 0)
    return `${lacks}; no values are stored for any geo. Remove geoIds from the job to fetch all geos.`
  const listed = stored.slice(0, SHOWN_GEOS).map(({ id, name }) => (name === null ? `${id}` : `${id} (${name})`))
  const more = stored.length > SHOWN_GEOS ? ` and ${stored.length - SHOWN_GEOS} more` : ''
  return `${lacks}; values are stored for ${listed.join(', ')}${more}.`
}
