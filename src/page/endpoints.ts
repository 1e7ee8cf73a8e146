import { toWords } from '../job/select.ts'
import { prometheusText } from '../reports/metrics.ts'
import { readStatus } from '../reports/readStatus.ts'
import { runChecks } from '../reports/runChecks.ts'
import { mergeByInstant } from '../reports/sideBySide.ts'
import { formatUtc, HOUR } from '../util/time/instant.ts'
import { formatLocal } from '../util/time/zone.ts'
import { groupingText } from './formats.ts'
import { createEtag } from './lastRun.ts'
import { csvResponse, jsonResponse, type Responder } from './page.ts'
import { readStates } from './queries/intervals.ts'
import { chosenUnit, differenceTo, drawLine, readCarpet, readChart, readRows } from './queries/series/chartData.ts'
import { placeName, readCompared } from './queries/series/compared.ts'
import { rangeQuery, readChartQuery } from './queries/series/seriesQuery.ts'
import { allSeries, matchingSeries, seriesHeads } from './queries/seriesPaths.ts'

/** Series that are offered at once. */
const OFFERED = 20

/** `/api/series/…`: the data of a chart, or only its past values while the slider moves. */
export const chartData: Responder = async (request) => {
  const chartQuery = await readChartQuery(request)
  const { dataset, range, asOf: then } = chartQuery
  const compared = await readCompared(request, chartQuery)
  if (request.query.get('only') === 'before' && then) {
    const before = await drawLine(request, dataset, range, then.fetchId)
    return jsonResponse({ before, asOf: then.moment, compared })
  }
  return jsonResponse(await readChart(request, chartQuery, await readStates(request, dataset, range), compared))
}

/**
 * `/api/csv/…`: every value of a range, current and, with `asof`, as known then; with `with`, also those of the compared series, in
 * columns with their names and units. With `by`, `shift` or `difference`, the rows of the table instead.
 */
export const valuesCsv: Responder = async (request) => {
  const chartQuery = await readChartQuery(request)
  const { dataset, range, asOf: then } = chartQuery
  const { zone, path, geoId, unit } = dataset
  const all = await readCompared(request, chartQuery)
  const { from, to } = rangeQuery(zone, range)
  const by = chosenUnit(request, range)
  // An earlier period and a difference have values only beside the rows of the table.
  const isTable = by !== undefined || all.some(({ path }) => path === null)
  const others = isTable ? all : all.filter(({ path }) => path !== null)
  const file = [
    path,
    geoId,
    ...toWords(dataset.name),
    from.slice(0, 10),
    to.slice(0, 10),
    ...(by ? [by] : []),
    ...(then ? ['as-of', ...toWords(then.moment)] : []),
  ].join('-')
  const firstOfUnit = all.findIndex((other) => other.unit === unit)
  const withUnit = (name: string, unit: string | null): string => `${name}${unit ? ` (${unit})` : ''}`
  const title = others.length > 0 ? `${withUnit(placeName(dataset), unit)}: ` : ''
  // With `asof`, the other series are as known then.
  const otherColumns = others.flatMap(({ name, unit, line }) => {
    const title = `${line ? withUnit(name, unit) : name}${then ? ': value_then' : ''}`
    return isTable && line ? [title, `${name}: hours`] : [title]
  })
  if (isTable) {
    const lines = others.flatMap(({ line }) => line ?? [])
    const { rows } = await readRows(request.store, dataset, range, then?.fetchId ?? null, lines, by)
    const main = dataset.measure === 'energy' ? 'sum' : 'mean'
    const columns = [
      'at_utc',
      'at_local',
      title + main,
      'smallest',
      'largest',
      'count',
      'hours',
      ...(then ? [`${title}${main}_then`] : []),
    ]
    const cells = rows.map((row) => [
      ...[formatUtc(row.from), formatLocal(zone, row.from), row.mean, row.min, row.max, row.count, row.seconds / HOUR],
      ...(then ? [row.before ?? null] : []),
      ...others.flatMap(({ line }, i) =>
        line
          ? [row.compared?.[i] ?? null, (row.comparedSeconds?.[i] ?? 0) / HOUR]
          : [differenceTo(row, firstOfUnit, then !== null)],
      ),
    ])
    return csvResponse(`${file}.csv`, [...columns, ...otherColumns], [cells])
  }
  const own = [['value', 'step_s'], ...(then ? [['value_then', 'step_s_then']] : [])].flat()
  const columns = [
    ...['at_utc', 'at_local'],
    ...own.map((column) => (column.startsWith('value') ? title + column : column)),
    ...otherColumns,
  ]
  const lists = [
    ...[null, ...(then ? [then.moment] : [])].map((moment) => ({ line: dataset, moment })),
    ...others.map(({ line }) => ({ line, moment: then?.moment ?? null })),
  ].map(({ line, moment }) => request.store.engine.values({ ...line!, ...range }, moment))
  async function* rows() {
    for await (const instants of mergeByInstant(lists))
      yield instants.map(({ at, heads }) => [
        formatUtc(at),
        formatLocal(zone, at),
        ...heads.flatMap((head, i) => [head?.[1] ?? null, ...(i < own.length / 2 ? [head?.[2] ?? null] : [])]),
      ])
  }
  return csvResponse(`${file}.csv`, columns, rows())
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
  const findings = await runChecks(store, now, { depth: 'state' })
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
