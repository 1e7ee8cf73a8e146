import { findFindings } from '../findings/findFindings.ts'
import { prometheusText } from '../findings/metrics.ts'
import { readStatus } from '../findings/readStatus.ts'
import { toWords } from '../job/select.ts'
import { mergeByInstant } from '../reports/sideBySide.ts'
import { formatUtc, HOUR } from '../util/time/instant.ts'
import { formatLocal } from '../util/time/zone.ts'
import { groupingText, kindText } from './formats.ts'
import { createEtag } from './lastRun.ts'
import { csvResponse, jsonResponse, type Responder } from './page.ts'
import { readStates } from './queries/intervals.ts'
import { geoNames, seriesUnits } from './queries/names.ts'
import { readCarpet } from './queries/series/carpet.ts'
import { readChart } from './queries/series/chart.ts'
import { type ChartTableRow, differenceTo, readRows } from './queries/series/chartTable.ts'
import { placeName, readCompared, withStates } from './queries/series/compared.ts'
import { differenceName, subtractedPlace } from './queries/series/difference.ts'
import { type ComparedLine, chosenUnit, unitOfExtremes } from './queries/series/lines.ts'
import { rangeQuery, readChartQuery } from './queries/series/seriesQuery.ts'
import { seriesHeads, suggestSeries } from './queries/seriesPaths.ts'

/** Series that are suggested at once, and the most characters of a text that is read. */
const SUGGESTED = 12
const MAX_TEXT = 200

/** `/api/series/…`: the data of a chart. */
export const chartData: Responder = async (request) => {
  const chartQuery = await readChartQuery(request)
  const states = await readStates(request, chartQuery.line, chartQuery.range)
  const compared = await readCompared(request, chartQuery)
  const withOpen = await withStates(request, compared, chartQuery.range)
  return jsonResponse(await readChart(request, chartQuery, states, withOpen))
}

/**
 * `/api/csv/…`: every value of a range, current and, with `asof`, as known then; with `with`, also those of the compared series, in
 * columns with their names and units. With `by`, `shift` or `difference`, the rows of the table instead.
 */
export const valuesCsv: Responder = async (request) => {
  const chartQuery = await readChartQuery(request)
  const { line, range, asOf: past } = chartQuery
  const { zone, path, geoId, unit } = line
  const others = await readCompared(request, chartQuery)
  const by = chosenUnit(request, range)
  const days = Object.values(rangeQuery(zone, range)).map((border) => border.slice(0, 10))
  const parts = [path, geoId, toWords(line.name), days, by ?? [], past ? ['as-of', ...toWords(past.moment)] : []]
  const file = `${parts.flat().join('-')}.csv`
  const withUnit = (name: string, unit: string | null): string => `${name}${unit ? ` (${unit})` : ''}`
  const title = others.length > 0 ? `${withUnit(placeName(line), unit)}: ` : ''
  // With `asof`, the other series are as known then.
  const otherTitle = ({ name, valueUnit }: Pick<ComparedLine, 'name' | 'valueUnit'>): string =>
    `${withUnit(name, valueUnit)}${past ? ': value_then' : ''}`
  const subtracted = subtractedPlace(request, line, others)
  // An earlier period and a difference have values only beside the rows of the table.
  if (by !== undefined || subtracted !== null || others.some(({ path }) => path === null)) {
    const { rows } = await readRows(request, chartQuery, others)
    const main = line.measure === 'energy' ? 'sum' : 'mean'
    const ofExtremes = (name: string): string => (line.isPerHour ? withUnit(name, unitOfExtremes(line)) : name)
    const columns: [head: string, cell: (row: ChartTableRow) => unknown][] = [
      ['at_utc', ({ from }) => formatUtc(from)],
      ['at_local', ({ from }) => formatLocal(zone, from)],
      [title + main, ({ mean }) => mean],
      [ofExtremes('smallest'), ({ min }) => min],
      [ofExtremes('largest'), ({ max }) => max],
      ['count', ({ count }) => count],
      ['hours', ({ seconds }) => seconds / HOUR],
    ]
    if (past) columns.push([`${title}${main}_then`, ({ before }) => before])
    for (const [i, other] of others.entries()) {
      columns.push([otherTitle(other), ({ compared }) => compared?.[i]])
      columns.push([`${other.name}: hours`, ({ comparedSeconds }) => (comparedSeconds?.[i] ?? 0) / HOUR])
    }
    if (subtracted !== null)
      columns.push([
        otherTitle({ name: differenceName(request, line, others[subtracted]!), valueUnit: unit }),
        (row) => differenceTo(row, subtracted, past !== null),
      ])
    const cells = rows.map((row) => columns.map(([, cell]) => cell(row) ?? null))
    const heads = columns.map(([head]) => head)
    return csvResponse(file, heads, [cells])
  }
  const moment = past?.moment ?? null
  const lines = [
    { line, moment: null, columns: [`${title}value`, 'step_s'] },
    ...(past ? [{ line, moment, columns: [`${title}value_then`, 'step_s_then'] }] : []),
    ...others.map((other) => ({ line: other.line, moment, columns: [otherTitle(other)] })),
  ]
  async function* rows() {
    const values = lines.map((each) => request.store.engine.streamValues({ ...each.line, ...range }, each.moment))
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
  const { line, range, asOf: past } = await readChartQuery(request)
  return jsonResponse(await readCarpet(request.store, line, range, past?.fetchId ?? null))
}

/** `/api/names?q=`: series to suggest for a text, each with its name in comparisons (`600:1`) and its page. */
export const suggestedSeries: Responder = async (request) => {
  const found = (await suggestSeries(request, (request.query.get('q') ?? '').slice(0, MAX_TEXT))).slice(0, SUGGESTED)
  const rows = found.map(({ row }) => row)
  const head = await seriesHeads(request, rows)
  const geos = await geoNames(
    request,
    found.flatMap(({ geo }) => geo ?? []),
  )
  const units = await seriesUnits(
    request,
    rows.map(({ id }) => id),
  )
  return jsonResponse(
    found.map(({ row, geo }) => {
      const { path, kind, indicatorId, name, timeTrunc, geoAgg } = head(row)
      const place = geo === null ? null : (geos.get(geo) ?? String(geo))
      const grouping = groupingText(request, timeTrunc, geoAgg)
      return {
        path: geo === null ? path : `${path}:${geo}`,
        href: request.link(`/series/${path}`, { geo: geo ?? undefined }),
        indicator: indicatorId,
        name: [indicatorId, name ?? kindText(kind, request)].filter(Boolean).join(' '),
        detail: [place, units.get(row.id), grouping].filter(Boolean).join(' · '),
      }
    }),
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
