import { localDate } from '../../util/time/zone.ts'
import { lengthText, SIGNS, valueText } from '../client/format.ts'
import { type Column, serviceText, table } from '../elements.ts'
import { countText, momentText, mostDecimals, numberText, timeText } from '../formats.ts'
import { type Html, type HtmlPart, html } from '../html.ts'
import type { PageRequest } from '../page.ts'
import { type ChartTableRow, differenceTo, revisedBy } from '../queries/series/chartTable.ts'
import { unitOfExtremes } from '../queries/series/lines.ts'
import type { Here, SeriesPageData } from './seriesData.ts'

/* The table of the chart of a series. */

/** The columns with numbers of a table. Single values have as many decimals as any of them needs, summaries by their magnitude. */
function numberColumns({ table: { level, rows }, dataset: line }: SeriesPageData, request: PageRequest) {
  const { words, locale } = request
  const decimals = mostDecimals(rows.map(({ mean }) => mean))
  /** Whether a summary covers only a part of its period. It has a mark, because it does not compare with the others. */
  let isMarked = false
  const numberColumn = (
    head: HtmlPart,
    read: (row: ChartTableRow) => readonly [value: number | null | undefined, seconds?: number | undefined],
  ): Column<ChartTableRow> => [
    head,
    (row) => {
      const [value, seconds = row.to - row.from] = read(row)
      if (typeof value !== 'number') return ''
      if (level === 'values') return numberText(value, locale, decimals)
      const isPart = seconds < 0.995 * (row.to - row.from)
      isMarked ||= isPart
      return `${isPart ? '* ' : ''}${valueText(value, locale)}`
    },
    'number',
  ]
  /** Adds to a column when a value was withdrawn, and what it was. */
  const withWithdrawn = ([head, cell, style]: Column<ChartTableRow>): Column<ChartTableRow> => [
    head,
    (row) => {
      if (!row.withdrawn) return cell(row)
      const { withdrawnAt, was } = row.withdrawn
      const at = momentText(line.zone, withdrawnAt)
      const text = words.series.withdrawn(at, numberText(was, locale, decimals))
      return html`${SIGNS.withdrawn} <span class="soft">${text}</span>`
    },
    style ?? '',
  ]
  return { numberColumn, withWithdrawn, hasMarks: () => isMarked }
}

/** The table of the chart. Each row has a link. */
export function rowsTable(data: SeriesPageData, here: Here, request: PageRequest): Html {
  const { dataset: line, asOf, chart } = data
  const { level, rows } = data.table
  const { series: labels } = request.words
  const { zone, path, geoId, unit, measure } = line
  const isSingle = level === 'values'
  const { numberColumn, withWithdrawn, hasMarks } = numberColumns(data, request)
  const periodText = (at: number): string =>
    level === 'values' || level === 'hour'
      ? timeText(zone, at)
      : localDate(zone, at).slice(0, { day: 10, week: 10, month: 7, year: 4 }[level])
  const periodLink = (row: ChartTableRow): Html => {
    const address = isSingle ? here(data.range, {}, `/explain/${path}/${geoId}/${row.from}`) : here(row)
    return html`<a href="${address}">${periodText(row.from)}</a>`
  }
  const asKnown = asOf && labels.valuesThen(momentText(zone, asOf.moment))
  const thenKnown = asKnown && ` ${asKnown}`
  const inUnit = (name: string | null): HtmlPart => name && ` (${name})`
  const { difference } = chart
  const summaryLabel = measure === 'energy' ? labels.sum : labels.mean
  const ofExtremes = line.isPerHour ? ` (${unitOfExtremes(line)})` : ''
  const hasLengths = isSingle && new Set(rows.map(({ from, to }) => to - from)).size > 1
  const columns: (Column<ChartTableRow> | false)[] = [
    [labels.period, periodLink],
    withWithdrawn(numberColumn(isSingle ? labels.value : summaryLabel, ({ mean, seconds }) => [mean, seconds])),
    hasLengths && [labels.lasts, ({ from, to }) => lengthText(to - from), 'number'],
    !isSingle && numberColumn(`${labels.low}${ofExtremes}`, ({ min }) => [min]),
    !isSingle && numberColumn(`${labels.high}${ofExtremes}`, ({ max }) => [max]),
    !isSingle && [labels.count, ({ count }) => countText(request, count), 'number'],
    !isSingle && measure === 'power' && numberColumn(html`${labels.energy} (MWh)`, ({ energy }) => [energy]),
    asKnown !== null && numberColumn(asKnown, ({ before, secondsBefore }) => [before, secondsBefore]),
    asOf !== null && numberColumn(labels.difference, (row) => [revisedBy(row)]),
    ...chart.compared.map(({ name, valueUnit }, i) =>
      numberColumn(html`${serviceText(name)}${inUnit(valueUnit)}${thenKnown}`, (row) => [
        row.compared?.[i],
        row.comparedSeconds?.[i],
      ]),
    ),
    difference !== null &&
      numberColumn(html`${labels.difference}${inUnit(unit)}${thenKnown}`, (row) => [
        differenceTo(row, difference.of, asOf !== null),
      ]),
  ]
  const caption = html`<caption>${labels.levels[level]}${unit && `, ${unit}`}</caption>`
  const shown = table(labels.table, rows, columns, { style: 'values', caption })
  return html`<section data-part="table"><h2>${labels.table}</h2>
${shown}${hasMarks() && html`<p class="soft">* ${labels.partial}</p>`}</section>`
}
