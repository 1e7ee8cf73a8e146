import type { Interval } from '../../../base/time/interval.ts'
import type { PageRequest } from '../../page.ts'
import type { AsOf } from './asOf.ts'
import { type ChartData, readChart, readChartQuery } from './chart.ts'
import { type ChartTable, readRows } from './chartTable.ts'
import type { NamedGeoSeries } from './geoSeries.ts'
import { type RangeLinks, rangeLinks } from './range.ts'
import { type RunChange, readChanges } from './runChanges.ts'
import { showOf, sqlOf } from './shownSql.ts'
import { type ChartState, readStates } from './states.ts'

/** The data of the page on a series. */
export interface SeriesData {
  /** The series of one geo, named as in the JSON of the page. */
  readonly dataset: NamedGeoSeries
  readonly range: Interval
  readonly neighbours: RangeLinks
  readonly asOf: AsOf | null
  readonly changes: readonly RunChange[]
  readonly chart: ChartData
  readonly table: ChartTable
  /** The parts of the range that are not final, in order. */
  readonly open: readonly ChartState[]
  readonly sql: string
  /** The words of the command that draws the same; null where no command can. */
  readonly command: string | null
}

/** Reads the data of the page on a series. */
export async function readSeriesPage(request: PageRequest): Promise<SeriesData> {
  const { store, now } = request
  const chartQuery = await readChartQuery(request)
  const { dataset, range, asOf: then } = chartQuery
  const states = await readStates(store, dataset, range, now)
  return {
    dataset,
    range,
    asOf: then,
    neighbours: rangeLinks(dataset.zone, range, dataset.last ?? now),
    changes: await readChanges(store, dataset, range),
    chart: await readChart(request, chartQuery, states),
    table: await readRows(store, dataset, range, then?.fetchId ?? null),
    open: states.filter(({ state }) => state !== 'final'),
    sql: sqlOf(dataset, range, then),
    command: showOf(dataset, range, then),
  }
}
