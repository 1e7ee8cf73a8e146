import { geoNameColumn } from '../db/queries/catalogueNames.ts'
import { isNotForgotten } from '../db/queries/jobRuns.ts'
import { hasValues } from '../db/queries/seriesLookup.ts'
import type { Reader } from '../db/store.ts'
import { ALL_GEOS, FETCH_OUTCOMES } from '../db/tables/codes.ts'
import type { Job } from '../job/job.ts'
import { parseNumbers } from '../util/json.ts'
import { DAY, type Instant } from '../util/time/instant.ts'

/** A geo of an indicator that a job selects; `ALL_GEOS` if it names none. */
interface NamedGeo {
  readonly job: string
  readonly kind: string
  readonly indicatorId: number
  readonly geoId: number
}

/** Selected geos of an indicator for which the service responded without any value. */
export interface LackingGeos {
  /** A job that selects them. */
  readonly job: string
  /** The route of the values. */
  readonly kind: string
  /** The indicator. */
  readonly indicatorId: number
  /** Geos without any value; empty if the indicator has no values at all. */
  readonly geoIds: readonly number[]
  /** The geos for which values are stored. */
  readonly stored: readonly { readonly id: number; readonly name: string | null }[]
}

/** A response counts if its window began this long before: values may be published that late. */
const PUBLISHED_AFTER = 2 * DAY

const makeKey = (kind: string, indicatorId: number): string => `${kind} ${indicatorId}`

/** Lists the geos that a job selects. */
export const listNamedGeos = ({ name, series }: Job): NamedGeo[] =>
  series
    .filter(({ geoAgg }) => geoAgg === null)
    .flatMap(({ route, indicators, geoIds }) =>
      indicators.flatMap((indicatorId) =>
        (geoIds.length > 0 ? geoIds : [ALL_GEOS]).map((geoId) => ({ job: name, kind: route, indicatorId, geoId })),
      ),
    )

/**
 * Reads the geos of the last request of each entry with an instant in place of a window, of some indicators or all. Neither coverage
 * nor `_duty` includes these. `hasResponse`: whether the service responded after the values were due.
 */
async function readInstantGeos(
  { kysely }: Reader,
  indicators?: readonly number[],
): Promise<(NamedGeo & { readonly hasResponse: boolean })[]> {
  const series = kysely.selectFrom('series').select('id')
  const lastRequests = kysely
    .selectFrom('_fetch as last')
    .innerJoin('_run as r', 'r.id', 'last.run_id')
    .select(({ fn }) => fn.max('last.id').as('id'))
    .where('last.from_at', 'is', null)
    .where('last.series_id', 'in', indicators ? series.where('indicator_id', 'in', indicators) : series)
    .where(isNotForgotten)
    .groupBy(['r.job', 'r.job_id', 'last.entry', 'last.series_id'])
  const rows = await kysely
    .selectFrom('_fetch as f')
    .innerJoin('series as s', 's.id', 'f.series_id')
    .innerJoin('_run as r', 'r.id', 'f.run_id')
    .select(['r.job', 's.kind', 's.indicator_id as indicatorId', 'f.params', 'f.finished_at', 'f.outcome'])
    .where('f.id', 'in', lastRequests)
    .where('s.geo_agg', 'is', null)
    .orderBy('s.kind')
    .orderBy('s.indicator_id')
    .execute()
  return rows.flatMap(({ job, kind, indicatorId, params, finished_at, outcome }) => {
    const { datetime, geo_ids = [ALL_GEOS] } = JSON.parse(params) as { datetime: Instant; geo_ids?: readonly number[] }
    const isDue = datetime + PUBLISHED_AFTER <= Date.parse(finished_at) / 1000
    const hasResponse = isDue && (FETCH_OUTCOMES.good as readonly string[]).includes(outcome)
    return geo_ids.map((geoId) => ({ job, kind, indicatorId, geoId, hasResponse }))
  })
}

/** Reads the geos that the stored jobs select. */
export async function readNamedGeos(db: Reader): Promise<NamedGeo[]> {
  const rows = await db.kysely
    .selectFrom('_duty as w')
    .innerJoin('_job as j', 'j.id', 'w.job_id')
    .innerJoin('series as s', 's.id', 'w.series_id')
    .select(['j.name as job', 's.kind', 's.indicator_id as indicatorId', 'w.geo_ids'])
    .distinct()
    .orderBy('j.name')
    .where('s.geo_agg', 'is', null)
    .orderBy('s.kind')
    .orderBy('s.indicator_id')
    .execute()
  const selected = rows.flatMap(({ geo_ids, ...indicator }) =>
    (parseNumbers(geo_ids || null) ?? [ALL_GEOS]).map((geoId) => ({ ...indicator, geoId })),
  )
  return [...selected, ...(await readInstantGeos(db))]
}

/** Reads the geos of some indicators for which values other than null are stored, by indicator. */
async function readStoredGeos({ kysely }: Reader, indicators: readonly number[]) {
  const rows = await kysely
    .selectFrom('series_geo as g')
    .innerJoin('series as s', 's.id', 'g.series_id')
    .select(['s.kind', 's.indicator_id', 'g.geo_id as id'])
    .select(geoNameColumn('g.geo_id', 'name'))
    .distinct()
    .where('s.indicator_id', 'in', indicators)
    .where('s.geo_agg', 'is', null)
    .where(hasValues)
    .orderBy('g.geo_id')
    .execute()
  return Map.groupBy(rows, (row) => makeKey(row.kind, row.indicator_id))
}

/** Reads the geos for which the service responded after their values were due; `ALL_GEOS` if all geos were requested. */
async function readAnsweredGeos(db: Reader, indicators: readonly number[]) {
  const rows = await db.kysely
    .selectFrom('_coverage as c')
    .innerJoin('series as s', 's.id', 'c.series_id')
    .select(['s.kind', 's.indicator_id as indicatorId', 'c.geo_id as geoId'])
    .distinct()
    .where('s.indicator_id', 'in', indicators)
    .where('s.geo_agg', 'is', null)
    .where('c.state', 'in', ['empty', 'values'])
    .where((eb) => eb(eb('c.from_at', '+', PUBLISHED_AFTER), '<=', eb.ref('c.fetched_at')))
    .execute()
  const instants = (await readInstantGeos(db, indicators)).filter(({ hasResponse }) => hasResponse)
  return Map.groupBy([...rows, ...instants], (row) => makeKey(row.kind, row.indicatorId))
}

/** Finds the selected geos for which the service responded and never had a value, by indicator. */
export async function findLackingGeos(db: Reader, selected: readonly NamedGeo[]): Promise<LackingGeos[]> {
  if (selected.length === 0) return []
  const indicators = [...new Set(selected.map(({ indicatorId }) => indicatorId))]
  const storedGeos = await readStoredGeos(db, indicators)
  const answeredGeos = await readAnsweredGeos(db, indicators)
  return [...Map.groupBy(selected, (geo) => makeKey(geo.kind, geo.indicatorId))].flatMap(([key, geos]) => {
    const { job, kind, indicatorId } = geos[0]!
    const stored = (storedGeos.get(key) ?? []).map(({ id, name }) => ({ id, name }))
    const answered = new Set(answeredGeos.get(key)?.map(({ geoId }) => geoId))
    const named = new Set(geos.map(({ geoId }) => geoId))
    if (stored.length === 0 && named.has(ALL_GEOS) && answered.has(ALL_GEOS))
      return [{ job, kind, indicatorId, geoIds: [], stored }]
    const lacking = named.difference(new Set([ALL_GEOS, ...stored.map(({ id }) => id)]))
    const geoIds = [...lacking].filter((geoId) => answered.has(geoId) || answered.has(ALL_GEOS)).sort((a, b) => a - b)
    const selecting = geos.find(({ geoId }) => geoId === geoIds[0])
    return selecting ? [{ job: selecting.job, kind, indicatorId, geoIds, stored }] : []
  })
}

/** Listed geos of an indicator. */
const MAX_GEOS = 10

/** Writes `indicator 600 has no values for geo 8741; values are stored for 1 (Portugal), 3 (España).` */
export function lackingGeosText({ kind, indicatorId, geoIds, stored }: LackingGeos): string {
  const indicator = `${kind.replace('_', ' ')} ${indicatorId}`
  if (geoIds.length === 0) return `${indicator} has no values: the service responded without any.`
  const lacks = `${indicator} has no values for geo ${geoIds.join(', ')}`
  if (stored.length === 0)
    return `${lacks}; no values are stored for any geo. Check the id and the window, or remove geoIds from the job to fetch all geos.`
  const listed = stored.slice(0, MAX_GEOS).map(({ id, name }) => (name === null ? `${id}` : `${id} (${name})`))
  const more = stored.length > MAX_GEOS ? ` and ${stored.length - MAX_GEOS} more` : ''
  return `${lacks}; values are stored for ${listed.join(', ')}${more}.`
}
