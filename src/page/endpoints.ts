import { findFindings } from '../findings/findFindings.ts'
import { prometheusText } from '../findings/metrics.ts'
import { readStatus } from '../findings/readStatus.ts'
import { toWords } from '../job/select.ts'
import { mergeByInstant } from '../reports/sideBySide.ts'
import { formatUtc, HOUR } from '../util/time/instant.ts'
import { formatLocal } from '../util/time/zone.ts'
import { groupingText } from './formats.ts'
import { createEtag } from './lastRun.ts'
import { csvResponse, jsonResponse, type Responder } from './page.ts'
import { readStates } from './queries/intervals.ts'
import {
  type ChartTableRow,
  type ComparedLine,
  chosenUnit,
  differenceTo,
  readCarpet,
  readChart,
  readRows,
  unitOfExtremes,
} from './queries/series/chartData.ts'
import { placeName, readCompared } from './queries/series/compared.ts'
import { rangeQuery, readChartQuery } from './queries/series/seriesQuery.ts'
import { allSeries, matchingSeries, seriesHeads } from './queries/seriesPaths.ts'

/** Series that are offered at once. */
const OFFERED = 20

/** `/api/series/…`: the data of a chart. */
export const chartData: Responder = async (request) => {
  const chartQuery = await readChartQuery(request)
  const states = await readStates(request, chartQuery.dataset, chartQuery.range)
  return jsonResponse(await readChart(request, chartQuery, states, await readCompared(request, chartQuery)))
}

/**
 * `/api/csv/…`: every value of a range, current and, with `asof`, as known then; with `with`, also those of the compared series, in
 * columns with their names and units. With `by`, `shift` or `difference`, the rows of the table instead.
 */
export const valuesCsv: Responder = async (request) => {
  const chartQuery = await readChartQuery(request)
  const { dataset, range, asOf: then } = chartQuery
  const { zone, path, geoId, unit } = dataset
  const others = await readCompared(request, chartQuery)
  const by = chosenUnit(request, range)
  const days = Object.values(rangeQuery(zone, range)).map((border) => border.slice(0, 10))
  const parts = [path, geoId, toWords(dataset.name), days, by ?? [], then ? ['as-of', ...toWords(then.moment)] : []]
  const file = `${parts.flat().join('-')}.csv`
  const withUnit = (name: string, unit: string | null): string => `${name}${unit ? ` (${unit})` : ''}`
  const title = others.length > 0 ? `${withUnit(placeName(dataset), unit)}: ` : ''
  // With `asof`, the other series are as known then.
  const otherTitle = ({ name, valueUnit, line }: ComparedLine): string =>
    `${line ? withUnit(name, valueUnit) : name}${then ? ': value_then' : ''}`
  // An earlier period and a difference have values only beside the rows of the table.
  if (by !== undefined || others.some(({ path }) => path === null)) {
    const firstOfUnit = others.findIndex((other) => other.valueUnit === unit)
    const { rows } = await readRows(request, chartQuery, others)
    const main = dataset.measure === 'energy' ? 'sum' : 'mean'
    const [smallest, largest] = ['smallest', 'largest'].map((name) =>
      dataset.isPerHour ? withUnit(name, unitOfExtremes(dataset)) : name,
    ) as [string, string]
    const columns: [head: string, cell: (row: ChartTableRow) => unknown][] = [
      ['at_utc', ({ from }) => formatUtc(from)],
      ['at_local', ({ from }) => formatLocal(zone, from)],
      [title + main, ({ mean }) => mean],
      [smallest, ({ min }) => min],
      [largest, ({ max }) => max],
      ['count', ({ count }) => count],
      ['hours', ({ seconds }) => seconds / HOUR],
    ]
    if (then) columns.push([`${title}${main}_then`, ({ before }) => before])
    for (const [i, other] of others.entries())
      if (other.line === null) columns.push([otherTitle(other), (row) => differenceTo(row, firstOfUnit, then !== null)])
      else {
        columns.push([otherTitle(other), ({ compared }) => compared?.[i]])
        columns.push([`${other.name}: hours`, ({ comparedSeconds }) => (comparedSeconds?.[i] ?? 0) / HOUR])
      }
    const cells = rows.map((row) => columns.map(([, cell]) => cell(row) ?? null))
    const heads = columns.map(([head]) => head)
    return csvResponse(file, heads, [cells])
  }
  const moment = then?.moment ?? null
  const lines = [
    { line: dataset, moment: null, columns: [`${title}value`, 'step_s'] },
    ...(then ? [{ line: dataset, moment, columns: [`${title}value_then`, 'step_s_then'] }] : []),
    ...others.map((other) => ({ line: other.line!, moment, columns: [otherTitle(other)] })),
  ]
  async function* rows() {
    const values = lines.map(({ line, moment }) => request.store.engine.values({ ...line, ...range }, moment))
    for await (const instants of mergeByInstant(values))
      yield instants.map(({ at, heads }) => [
        formatUtc(at),
        formatLocal(zone, at),
        // The value, then its step.
        ...heads.flatMap((head, i) => lines[i]!.columns.map((_, n) => head?.[n + 1] ?? null)),
      ])
  }
  return csvResponse(file, ['at_utc', 'at_local', ...lines.flatMap(({ columns }) => columns)], rows())
}

/** `/api/carpet/…`: the hours of days. */
export const carpetData: Responder = async (request) => {
  const { dataset, range, asOf: then } = await readChartQuery(request)
  return jsonResponse(await readCarpet(request.store, dataset, range, then?.fetchId ?? null))
}

/** `/api/names?q=`: series whose number or name matches a text. */
export const matchingNames: Responder = async (request) => {
  const matching = await matchingSeries(request, await allSeries(request), request.query.get('q') ?? '')
  const offered = matching.slice(0, OFFERED)
  const head = await seriesHeads(request, offered)
  return jsonResponse(
    offered.map(head).map(({ path, name, timeTrunc, geoAgg }) => ({
      path,
      name: [name ?? path, groupingText(request, timeTrunc, geoAgg)].filter(Boolean).join(', '),
    })),
  )
}

/** `/api/live`: a text that changes with every write. */
export const databaseState: Responder = async ({ store }) => jsonResponse(await createEtag(store, []))

/** `/healthz`: 200 if `check` has no findings about runs, requests and series, else 503 with the findings. */
export const health: Responder = async ({ store, now }) => {
  const findings = await findFindings(store, now, { depth: 'state' })
  return { ...jsonResponse({ ok: findings.length === 0, findings }), status: findings.length === 0 ? 200 : 503 }
}

/** `/metrics`: the same as `status --format prometheus`. */
export const metrics: Responder = async ({ store, version, now }) => ({
  type: 'text/plain; version=0.0.4; charset=utf-8',
  body: await prometheusText(store, { version, callsLeft: [] }, now),
})

/** `/status.json`: the same as `status --json`. */
export const status: Responder = async ({ store, now }) =>
  jsonResponse({ database: store.file, ...(await readStatus(store, now)) })
