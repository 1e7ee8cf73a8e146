import { prometheusText } from '../reports/metrics.ts'
import { readStatus } from '../reports/readStatus.ts'
import { sideBySide } from '../reports/sideBySide.ts'
import { formatUtc } from '../util/time/instant.ts'
import { formatLocal } from '../util/time/zone.ts'
import { groupingText } from './elements.ts'
import { etagOf } from './lastRun.ts'
import { type Answering, csvAnswer, jsonAnswer } from './page.ts'
import { readStates } from './queries/intervals.ts'
import { chartColumns, readCarpet, readChanges, readChart, readCompared } from './queries/series/chartData.ts'
import { rangeQuery, readChartQuery } from './queries/series/seriesQuery.ts'
import { readWindow } from './queries/series/window.ts'
import { allSeries, matchingSeries, seriesHeads } from './queries/seriesPaths.ts'

/** Series that are offered at once. */
const OFFERED = 20

/** `/api/series/…`: the data of a chart, or only its past values, which change while the slider moves. */
export const answerChart: Answering = async (request) => {
  const chartQuery = await readChartQuery(request)
  const { dataset, range, asOf: then } = chartQuery
  if (request.query.get('only') === 'before' && then) {
    const known = await readWindow(request.store, dataset, range, chartColumns(request.query), then.fetchId)
    return jsonAnswer({ before: known, asOf: then.moment })
  }
  const compared = await readCompared(request, dataset, range)
  return jsonAnswer(await readChart(request, chartQuery, await readStates(request, dataset, range), compared))
}

/** `/api/csv/…`: every value of a range, as known now and, where a moment is given, as known then. */
export const answerCsv: Answering = async (request) => {
  const { dataset, range, asOf: then } = await readChartQuery(request)
  const { zone, path, geoId } = dataset
  const columns = ['at_utc', 'at_local', 'value', 'step_s', ...(then ? ['value_then', 'step_s_then'] : [])]
  const versions = [null, ...(then ? [then.moment] : [])].map((moment) =>
    request.store.engine.values({ ...dataset, ...range }, moment),
  )
  async function* rows() {
    for await (const instants of sideBySide(versions))
      yield instants.map(({ at, heads }) => [
        formatUtc(at),
        formatLocal(zone, at),
        ...heads.flatMap((head) => [head?.[1] ?? null, head?.[2] ?? null]),
      ])
  }
  const { from, to } = rangeQuery(zone, range)
  return csvAnswer(`${path}-${geoId}-${from.slice(0, 10)}-${to.slice(0, 10)}.csv`, columns, rows())
}

/** `/api/vintages/…`: the moments at which something changed. */
export const answerVintages: Answering = async (request) => {
  const { dataset, range } = await readChartQuery(request)
  return jsonAnswer(await readChanges(request.store, dataset, range))
}

/** `/api/carpet/…`: the hours of days. */
export const answerCarpet: Answering = async (request) => {
  const { dataset, range, asOf: then } = await readChartQuery(request)
  return jsonAnswer(await readCarpet(request.store, dataset, range, then?.fetchId ?? null))
}

/** `/api/names?q=`: series whose number or name has a text in it, to choose from. */
export const answerNames: Answering = async (request) => {
  const matching = await matchingSeries(request, await allSeries(request), request.query.get('q') ?? '')
  const found = matching.slice(0, OFFERED)
  const head = await seriesHeads(request, found)
  return jsonAnswer(
    found.map(head).map(({ path, name, timeTrunc, geoAgg }) => ({
      path,
      name: [name ?? path, groupingText(request, timeTrunc, geoAgg)].filter(Boolean).join(', '),
    })),
  )
}

/** `/api/live`: another text whenever something was written. */
export const answerState: Answering = async ({ store }) => jsonAnswer(await etagOf(store, []))

/** `/metrics`: the figures of `status --format prometheus`. */
export const answerMetrics: Answering = async ({ store, version, now }) => ({
  type: 'text/plain; version=0.0.4; charset=utf-8',
  body: await prometheusText(store, { version, callsLeft: [] }, now),
})

/** `/status.json`: the same as `status --json`. */
export const answerStatus: Answering = async ({ store, now }) =>
  jsonAnswer({ database: store.file, ...(await readStatus(store, now)) })
