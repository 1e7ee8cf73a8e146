import { sideBySide } from '../../../reports/sideBySide.ts'
import { formatUtc } from '../../../util/time/instant.ts'
import { formatLocal } from '../../../util/time/zone.ts'
import { type Answering, jsonAnswer, type PageRequest } from '../../page.ts'
import { readCarpet } from '../../queries/series/carpet.ts'
import { type ChartQuery, chartColumns, readChart, readChartQuery } from '../../queries/series/chart.ts'
import { borderText } from '../../queries/series/range.ts'
import { readChanges } from '../../queries/series/runChanges.ts'
import { readStates } from '../../queries/series/states.ts'
import { readWindow } from '../../queries/series/window.ts'

/** `/api/series/…`: the data of a chart, or only its past values, which change while the slider moves. */
export const answerChart: Answering = async (request) => {
  const chartQuery = await readChartQuery(request)
  const { dataset, range, asOf: then } = chartQuery
  if (request.query.get('only') === 'before' && then) {
    const known = await readWindow(request.store, dataset, range, chartColumns(request.query), then.fetchId)
    return jsonAnswer({ before: known, asOf: then.moment })
  }
  return jsonAnswer(await readChart(request, chartQuery, await readStates(request.store, dataset, range, request.now)))
}

/** Characters that are sent at once. */
const CSV_CHUNK = 64 * 1024

/** Joins lines into larger pieces: otherwise each line would be sent separately. */
async function* joinLines(lines: AsyncIterable<string>): AsyncGenerator<string, void> {
  let text = ''
  for await (const line of lines) {
    text += line
    if (text.length < CSV_CHUNK) continue
    yield text
    text = ''
  }
  yield text
}

/** The values of a range as CSV: as known now and, where a moment is given, as known then. */
async function* csvLines(
  { store }: PageRequest,
  { dataset, range, asOf: then }: ChartQuery,
): AsyncGenerator<string, void> {
  const { zone } = dataset
  const line = (at: number, cells: readonly (string | number | null)[]): string =>
    `${[formatUtc(at), formatLocal(zone, at), ...cells].map((cell) => cell ?? '').join(',')}\n`
  if (!then) {
    yield 'at_utc,at_local,value,step_s\n'
    for await (const values of store.engine.values({ ...dataset, ...range }, null))
      yield values.map(([at, value, step]) => line(at, [value, step])).join('')
    return
  }
  yield 'at_utc,at_local,value,step_s,value_then,step_s_then\n'
  const versions = [null, then.moment].map((moment) => store.engine.values({ ...dataset, ...range }, moment))
  for await (const instants of sideBySide(versions))
    yield instants
      .map(({ at, heads }) =>
        line(
          at,
          heads.flatMap((head) => [head?.[1] ?? null, head?.[2] ?? null]),
        ),
      )
      .join('')
}

/** `/api/vintages/…`: the moments at which something changed. */
export const answerVintages: Answering = async (request) => {
  const { dataset, range } = await readChartQuery(request)
  return jsonAnswer(await readChanges(request.store, dataset, range))
}

/** `/api/carpet/…`: the hours of days. */
export const answerCarpet: Answering = async (request) => {
  const { dataset, range, asOf: then } = await readChartQuery(request)
  return jsonAnswer((await readCarpet(request.store, dataset, range, then?.fetchId ?? null)) ?? null)
}

/** `/api/csv/…`: every value. */
export const answerCsv: Answering = async (request) => {
  const chartQuery = await readChartQuery(request)
  const { dataset, range } = chartQuery
  const [from, to] = [range.from, range.to].map((at) => borderText(dataset.zone, at).slice(0, 10))
  return {
    type: 'text/csv; charset=utf-8',
    body: joinLines(csvLines(request, chartQuery)),
    file: `${dataset.path}-${dataset.geoId}-${from}-${to}.csv`,
  }
}
