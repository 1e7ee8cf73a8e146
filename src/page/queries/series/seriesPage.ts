import type { Interval } from '../../../base/time/interval.ts'
import type { PageRequest } from '../../page.ts'
import type { AsOf } from './asOf.ts'
import { type Change, readChanges } from './changes.ts'
import { type ChartData, readChart, readChartQuery } from './chart.ts'
import type { Dataset } from './geos.ts'
import { type Neighbours, neighboursOf } from './range.ts'
import { type Rows, readRows } from './rows.ts'
import { showOf, sqlOf } from './shownSql.ts'
import { readStates, type StateInterval } from './states.ts'

/** The data of the page on a series. */
export interface SeriesData {
  readonly dataset: Dataset
  readonly range: Interval
  readonly neighbours: Neighbours
  readonly asOf: AsOf | null
  readonly changes: readonly Change[]
  readonly chart: ChartData
  readonly table: Rows
  /** What is not final of the range, in order. */
  readonly open: readonly StateInterval[]
  readonly sql: string
  /** The words of the command that draws the same; null where there is none. */
  readonly command: string | null
}

/** Reads the data of the page on a series. */
export async function readSeries(request: PageRequest): Promise<SeriesData> {
  const { store, now } = request
  const chartQuery = await readChartQuery(request)
  const { dataset, range, asOf: then } = chartQuery
  const states = await readStates(store, dataset, range, now)
  return {
    ...{ dataset, range, asOf: then },
    neighbours: neighboursOf(dataset.zone, range, dataset.last ?? now),
    changes: await readChanges(store, dataset, range),
    chart: await readChart(request, chartQuery, states),
    table: await readRows(store, dataset, range, then?.fetchId ?? null),
    open: states.filter(({ state }) => state !== 'final'),
    sql: sqlOf(dataset, range, then),
    command: showOf(dataset, range, then),
  }
}
