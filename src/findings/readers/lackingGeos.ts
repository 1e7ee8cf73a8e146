import { sql } from 'kysely'
import { geoNameColumn } from '../../db/queries/catalogueNames.ts'
import { GOOD_OUTCOMES } from '../../db/queries/fetchOutcomes.ts'
import { isNotForgotten } from '../../db/queries/jobRuns.ts'
import type { Reader } from '../../db/store.ts'
import { ALL_GEOS, FETCH_OUTCOMES } from '../../db/tables/codes.ts'
import { selectsGeo } from '../../db/tables/sql/coverageViews.ts'
import { epochSeconds } from '../../db/tables/sql/expressions.ts'
import { seriesName } from '../../reports/seriesName.ts'
import { parseNumbers } from '../../util/json.ts'
import { DAY, floorToSecond, type Instant, parseInstant } from '../../util/time/instant.ts'
import { gapsAt } from '../findGaps.ts'
import type { LackingGeos, NamedGeo } from '../trouble.ts'
import { type ListNames, listNames } from '../words.ts'

/** Seconds. Values may be published as late as this. */
const PUBLISHED_AFTER_S = 2 * DAY

/** Selected geos of a series without any value. */
type GeosWithoutValues = Omit<LackingGeos, 'stored' | 'elsewhere'>

const indicatorKey = ({ kind, indicator_id }: Pick<LackingGeos, 'kind' | 'indicator_id'>): string =>
  `${kind} ${indicator_id}`

/** The geos of some rows, each once. */
const listGeos = (rows: readonly NamedGeo[]): NamedGeo[] => [
  ...new Map(rows.map(({ id, name }) => [id, { id, name }])).values(),
]

const isGood = (outcome: string): boolean => FETCH_OUTCOMES.good.some((good) => good === outcome)

/**
 * Reads the geos of the last request of each entry with an instant in place of a window, if the service responded after their values were
 * due. Spans do not include these entries.
 */
async function readInstantGeos({ kysely }: Reader): Promise<GeosWithoutValues[]> {
  const lastRequests = kysely
    .selectFrom('_fetch as last')
    .innerJoin('_run as r', 'r.id', 'last.run_id')
    .select(({ fn }) => fn.max('last.id').as('id'))
    .where('last.from_at', 'is', null)
    .where('last.series_id', 'is not', null)
    .where(isNotForgotten)
    .groupBy(['r.job', 'r.job_id', 'last.entry', 'last.series_id'])
  const rows = await kysely
    .selectFrom('_fetch as f')
    .innerJoin('series as s', 's.id', 'f.series_id')
    .innerJoin('_run as r', 'r.id', 'f.run_id')
    .select(['s.id as series_id', 's.kind', 's.indicator_id', 's.time_trunc', 's.geo_agg'])
    .select(['r.job', 'r.job_id', 'f.params', 'f.finished_at', 'f.outcome'])
    .where('f.id', 'in', lastRequests)
    .where('s.geo_agg', 'is', null)
    .execute()
  return rows.flatMap(({ job, job_id, params, finished_at, outcome, ...series }) => {
    const { datetime, geo_ids = [ALL_GEOS] } = JSON.parse(params) as { datetime: Instant; geo_ids?: readonly number[] }
    const sinceAt = floorToSecond(finished_at)
    if (!isGood(outcome) || datetime + PUBLISHED_AFTER_S > sinceAt) return []
    return [{ ...series, geoIds: geo_ids, job, jobId: job_id, sinceAt }]
  })
}

/** Reads the geos for which values other than null are stored, by series of some indicators; not those of aggregations. */
async function readStoredGeos({ kysely }: Reader, indicators: readonly number[]) {
  return kysely
    .selectFrom('series_geo as g')
    .innerJoin('series as s', 's.id', 'g.series_id')
    .select(['g.series_id', 's.kind', 's.indicator_id', 'g.geo_id as id'])
    .select(geoNameColumn('g.geo_id', 'name'))
    .where('s.indicator_id', 'in', indicators)
    .where('s.geo_agg', 'is', null)
    .where('g.first_at', 'is not', null)
    .orderBy('g.geo_id')
    .execute()
}

/** Reads the geos of the spans with the reason `no values`; `jobId`: only those that this job selects. */
async function readSpanGeos({ kysely }: Reader, now: Instant, jobId?: number): Promise<GeosWithoutValues[]> {
  const rows = await kysely
    .selectFrom(gapsAt(now))
    .innerJoin('series as s', 's.id', 'gaps.series_id')
    .leftJoin('_job as j', 'j.id', 'gaps.job_id')
    .where('gaps.reason', '=', 'no values')
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('_duty as w')
          .select('w.job_id')
          .where(sql.raw<boolean>(selectsGeo('gaps')))
          .$if(jobId !== undefined, (duties) => duties.where('w.job_id', '=', jobId!)),
      ),
    )
    .select(['gaps.series_id', 'gaps.kind', 'gaps.indicator_id', 'gaps.time_trunc', 's.geo_agg', 'gaps.geo_id'])
    .select(['gaps.job_id', 'j.name as job', 'gaps.since_at'])
    .orderBy('gaps.series_id')
    .orderBy('gaps.geo_id')
    .execute()
  return rows.map(({ geo_id, job, job_id, since_at, ...series }) => ({
    ...series,
    geoIds: [geo_id],
    job,
    jobId: job_id,
    sinceAt: since_at === null ? null : parseInstant(since_at),
  }))
}

/**
 * Reads when the service first responded about some series after values were due, by series and geo. Later requests of the same range
 * replace its coverage, which says only when it was last requested.
 */
async function readFirstReplies({ kysely }: Reader, seriesIds: readonly number[]) {
  const replies = await kysely
    .selectFrom('_fetch')
    .where('series_id', 'in', seriesIds)
    .where('outcome', 'in', GOOD_OUTCOMES)
    .where((eb) =>
      eb.or([
        eb('from_at', 'is', null),
        eb(eb('from_at', '+', PUBLISHED_AFTER_S), '<=', epochSeconds(eb, 'finished_at')),
      ]),
    )
    .select(['series_id', 'geo_ids'])
    .select(({ fn }) => fn.min('finished_at').as('firstAt'))
    .groupBy(['series_id', 'geo_ids'])
    .execute()
  const sorted = replies
    .map(({ series_id, geo_ids, firstAt }) => ({
      series_id,
      geoIds: parseNumbers(geo_ids),
      at: floorToSecond(firstAt),
    }))
    .sort((a, b) => a.at - b.at)
  const bySeries = Map.groupBy(sorted, ({ series_id }) => series_id)
  return (seriesId: number, geoId: number): Instant | undefined =>
    bySeries.get(seriesId)?.find(({ geoIds }) => geoIds === null || geoId === ALL_GEOS || geoIds.includes(geoId))?.at
}

/**
 * Finds the selected geos for which the service never sent a value, by series and job: those of the spans, and those of entries with an
 * instant. `jobId`: only those that this job selects.
 */
export async function findLackingGeos(db: Reader, now: Instant, jobId?: number): Promise<LackingGeos[]> {
  const instants = (await readInstantGeos(db)).filter((geos) => jobId === undefined || geos.jobId === jobId)
  const lacking = [...(await readSpanGeos(db, now, jobId)), ...instants]
  if (lacking.length === 0) return []
  const storedGeos = await readStoredGeos(db, [...new Set(lacking.map(({ indicator_id }) => indicator_id))])
  const ofIndicator = Map.groupBy(storedGeos, indicatorKey)
  const findFirstReply = await readFirstReplies(db, [...new Set(lacking.map(({ series_id }) => series_id))])
  return [...Map.groupBy(lacking, ({ series_id, jobId }) => `${series_id} ${jobId}`).values()].flatMap((group) => {
    const first = group[0]!
    const known = ofIndicator.get(indicatorKey(first)) ?? []
    const stored = listGeos(known.filter(({ series_id }) => series_id === first.series_id))
    const storedIds = new Set(stored.map(({ id }) => id))
    const named = new Set(group.flatMap(({ geoIds }) => geoIds))
    const geoIds = [...named].filter((geo) => geo !== ALL_GEOS && !storedIds.has(geo)).sort((a, b) => a - b)
    // An instant without values for all geos, or for geos that have values at other times.
    if (geoIds.length === 0 && stored.length > 0) return []
    const since = group.flatMap(({ series_id, geoIds, sinceAt }) => [
      ...(sinceAt === null ? [] : [sinceAt]),
      ...geoIds.flatMap((geo) => findFirstReply(series_id, geo) ?? []),
    ])
    const elsewhere = listGeos(known.filter(({ series_id }) => series_id !== first.series_id))
    return [{ ...first, geoIds, stored, elsewhere, sinceAt: since.length === 0 ? null : Math.min(...since) }]
  })
}

const namedGeosText = (geos: readonly NamedGeo[], list: ListNames): string =>
  list(geos.map(({ id, name }) => (name === null ? `${id}` : `${id} (${name})`)))

/** Says that a series or geo never had a value: `indicator 600 has no values for geo 8741; values are stored for 1 (Portugal).` */
export function lackingGeosText(lacking: LackingGeos, list: ListNames = listNames): string {
  const { geoIds, stored, elsewhere } = lacking
  const others =
    elsewhere.length === 0 ? '' : `; other series of the indicator have values for ${namedGeosText(elsewhere, list)}`
  if (geoIds.length === 0) return `${seriesName(lacking)} has no values: the service responded without any${others}.`
  const lacks = `${seriesName(lacking)} has no values for geo ${list(geoIds.map(String))}`
  if (stored.length > 0) return `${lacks}; values are stored for ${namedGeosText(stored, list)}.`
  if (others !== '') return `${lacks}${others}.`
  return `${lacks}; no values are stored for any geo. Check the id and the window, or remove geoIds from the job to fetch all geos.`
}
