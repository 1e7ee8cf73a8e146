import type { Interval } from '../../../util/time/interval.ts'
import { transitions } from '../../../util/time/zone.ts'
import type { Drawn } from '../../client/segments.ts'
import type { PageRequest } from '../../page.ts'
import { type AsOf, asOf, momentOf } from './asOf.ts'
import { type NamedGeoSeries, readNamedGeoSeries } from './geoSeries.ts'
import { requestedRange } from './range.ts'
import type { ChartState, IntervalState } from './states.ts'
import { readWindow } from './window.ts'

/** A second series beside the first one. */
interface ComparedSeries {
  readonly path: string
  readonly name: string
  readonly geo: string | null
  readonly unit: string | null
  readonly drawn: Drawn
}

/** All data of a chart, as it is sent to the browser. */
export interface ChartData extends Interval {
  readonly zone: string
  readonly unit: string | null
  /** The offset of the zone in seconds at the beginning, and each later one, with the instant from which it holds. */
  readonly offsets: readonly (readonly [at: number, seconds: number])[]
  readonly now: Drawn
  /** The values as known at a past moment; null where none is requested. */
  readonly before: Drawn | null
  readonly asOf: string | null
  readonly second: ComparedSeries | null
  readonly states: readonly (readonly [from: number, to: number, state: IntervalState])[]
  /** The changes of the series' step: the instant, and the step from there on in seconds. */
  readonly steps: readonly (readonly [at: number, step: number])[]
}

/** Columns of the picture that is part of a page; a script requests as many as it has. */
const USUAL_COLUMNS = 300
const MOST_COLUMNS = 1_000

/** The most parts of an interval whose states are sent. */
const MOST_STATES = 400

/** The offsets of a zone in a range: the one at its beginning, and the changes. */
export const offsetsOf = (zone: string, { from, to }: Interval): [number, number][] => {
  const rows = transitions(zone)
  const first = rows.findLastIndex(({ at }) => at <= from)
  return rows
    .filter(({ at }, i) => i === Math.max(0, first) || (at > from && at < to))
    .map(({ at, offset }) => [Math.max(at, from), offset])
}

const readSteps = async ({ store }: PageRequest, { seriesId }: NamedGeoSeries, { from, to }: Interval) =>
  (
    await store.kysely
      .selectFrom('_resolution')
      .select(['from_at', 'step_s'])
      .where('series_id', '=', seriesId)
      .where('from_at', '>', from)
      .where('from_at', '<', to)
      .orderBy('from_at')
      .execute()
  ).map(({ from_at, step_s }) => [from_at, step_s] as const)

/** The series to compare with, from an address: `612`, or `612:3` with a geo. */
export async function readSecond(
  request: PageRequest,
  { geoId }: NamedGeoSeries,
  range: Interval,
): Promise<ComparedSeries | null> {
  const named = request.query.get('with')
  if (!named) return null
  const [name, geo] = named.split(':') as [string, string?]
  const any = await readNamedGeoSeries(request, name, geo ?? null)
  const dataset = geo === undefined && any.geos.some(({ id }) => id === geoId) ? { ...any, geoId } : any
  const drawn = await readWindow(request.store, dataset, range, chartColumns(request.query), null)
  const place = dataset.geos.find(({ id }) => id === dataset.geoId)
  return { path: any.path, name: any.name, geo: place?.name ?? null, unit: any.unit, drawn }
}

/** What an address requests: a range of a series of one geo, current or as of a moment. */
export interface ChartQuery {
  /** The series of one geo, named as in the JSON of the page. */
  readonly dataset: NamedGeoSeries
  readonly range: Interval
  readonly asOf: AsOf | null
}

/** Reads which series, range and moment an address means. */
export async function readChartQuery(request: PageRequest): Promise<ChartQuery> {
  const { params, query } = request
  return readQueryOf(request, await readNamedGeoSeries(request, params.id, params.geo ?? query.get('geo')))
}

/** Reads which range and moment of a series an address means. */
export async function readQueryOf(request: PageRequest, dataset: NamedGeoSeries): Promise<ChartQuery> {
  const { store, query, now } = request
  const range = requestedRange(dataset.zone, query, dataset.last ?? now)
  const moment = momentOf(query)
  return { dataset, range, asOf: moment === null ? null : await asOf(store, dataset.seriesId, moment) }
}

/** The number of columns of the requested picture. */
export const chartColumns = (query: URLSearchParams): number => {
  const chartQuery = Number(query.get('px') ?? USUAL_COLUMNS)
  return Number.isFinite(chartQuery) ? Math.min(MOST_COLUMNS, Math.max(50, Math.round(chartQuery))) : USUAL_COLUMNS
}

/** All data of the requested chart, with the states of each part of the range. */
export async function readChart(
  request: PageRequest,
  { dataset, range, asOf: then }: ChartQuery,
  states: readonly ChartState[],
  second?: ComparedSeries | null,
): Promise<ChartData> {
  const { store, query } = request
  const columns = chartColumns(query)
  return {
    ...range,
    zone: dataset.zone,
    unit: dataset.unit,
    offsets: offsetsOf(dataset.zone, range),
    now: await readWindow(store, dataset, range, columns, null),
    before: then && (await readWindow(store, dataset, range, columns, then.fetchId)),
    asOf: then?.moment ?? null,
    second: second === undefined ? await readSecond(request, dataset, range) : second,
    states: states
      .filter(({ state }) => state !== 'final')
      .slice(0, MOST_STATES)
      .map(({ from, to, state }) => [from, to, state] as const),
    steps: await readSteps(request, dataset, range),
  }
}
