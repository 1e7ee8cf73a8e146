import { InputError } from '../../../util/errors.ts'
import type { Interval } from '../../../util/time/interval.ts'
import { NotFound, type PageRequest } from '../../page.ts'
import type { AsOf } from './asOf.ts'
import { type ChartData, readChart, readQueryOf, readSecond } from './chart.ts'
import { type ChartTable, readRows } from './chartTable.ts'
import { type NamedGeoSeries, readNamedGeoSeries } from './geoSeries.ts'
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
  /** What is wrong with the form; then the usual range is shown. */
  readonly problem: { readonly code: 'bad-time' | 'bad-range' | 'not-found'; readonly message: string } | null
  /** The words of the command that draws the same; null where no command can. */
  readonly command: string | null
}

/** Reads the data of the page on a series. */
export async function readSeriesPage(request: PageRequest): Promise<SeriesData> {
  const { store, now, params, query } = request
  const dataset = await readNamedGeoSeries(request, params.id, query.get('geo'))
  let problem: SeriesData['problem'] = null
  const asked = async (usable: PageRequest) => {
    const found = await readQueryOf(usable, dataset)
    return { ...found, second: await readSecond(usable, dataset, found.range) }
  }
  const { second, ...chartQuery } = await asked(request).catch((error: unknown) => {
    if (error instanceof NotFound) problem = { code: 'not-found', message: error.message }
    else if (error instanceof InputError && (error.code === 'bad-time' || error.code === 'bad-range'))
      problem = { code: error.code, message: error.message }
    else throw error
    return asked({ ...request, query: new URLSearchParams() })
  })
  const { range, asOf: then } = chartQuery
  const states = await readStates(store, dataset, range, now)
  return {
    dataset,
    range,
    asOf: then,
    neighbours: rangeLinks(dataset.zone, range, dataset.last ?? now),
    changes: await readChanges(store, dataset, range),
    chart: await readChart(request, chartQuery, states, second),
    table: await readRows(store, dataset, range, then?.fetchId ?? null),
    open: states.filter(({ state }) => state !== 'final'),
    problem,
    sql: sqlOf(dataset, range, then),
    command: showOf(dataset, range, then),
  }
}
