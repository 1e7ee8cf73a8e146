import { InputError } from '../../../util/errors.ts'
import { HOUR } from '../../../util/time/instant.ts'
import { type Drawn, eachPeriod } from '../../client/segments.ts'
import type { PageRequest } from '../../page.ts'
import { findSeriesPath } from '../seriesPaths.ts'
import { type ComparedLine, drawLine, drawnUnit } from './chartData.ts'
import {
  type ChartLine,
  type ChartQuery,
  findAsOf,
  moveByShift,
  type NamedLine,
  readChoices,
  readNamedGeoSeries,
  type Shift,
} from './seriesQuery.ts'
import { joinBands, joinValues } from './window.ts'

/** Lines beside the first one; there are as many colours. */
const MAX_COMPARED = 5

/** Reads the series to compare with: `612`, `612:3` with a geo, or a name. Commas separate them; spaces only numbers. */
export const comparedNames = (query: URLSearchParams): string[] =>
  query
    .getAll('with')
    .flatMap((text) => text.split(','))
    .flatMap((part) => (/^[s\d:\s]+$/.test(part) ? part.split(/\s+/) : part.trim()))
    .filter((name, i, names) => name !== '' && names.indexOf(name) === i)
    .slice(0, MAX_COMPARED)

/** A series has a third unit, for which a chart has no axis; it is the `cause`. */
export class ThirdUnit extends InputError {
  declare readonly cause: { readonly name: string }
}

/** A name with its geo, to tell compared series apart. */
export const placeName = ({ name, geo }: Pick<NamedLine, 'name' | 'geo'>): string =>
  geo.name === null ? name : `${name}, ${geo.name}`

/** The fields of a series that identify a line. */
const toLine = (series: NamedLine): ChartLine => {
  const { seriesId, geoId, zone, kind, indicator, trunc, geoAgg, measure, isPerHour } = series
  return { seriesId, geoId, zone, kind, indicator, trunc, geoAgg, measure, isPerHour }
}

/** Reads a line to compare with: of the named geo, else of that of the first series if it has that geo. */
async function readNamedLine(request: PageRequest, text: string, { dataset, range, asOf }: ChartQuery) {
  const [, name = '', named] = /^(.*?)(?::(\d+))?$/.exec(text) ?? []
  const series = await readNamedGeoSeries(request, await findSeriesPath(request, name), named ?? null)
  const { path, unit: valueUnit } = series
  const unit = drawnUnit(request, series, range)
  const geo = (named === undefined && series.geos.find(({ id }) => id === dataset.geoId)) || series.geo
  const fetchId = asOf && (await findAsOf(request.store, series.seriesId, asOf.moment)).fetchId
  const line = { ...toLine(series), geoId: geo.id, fetchId }
  const drawn = await drawLine(request, line, range, fetchId)
  return { path, name: placeName({ ...series, geo }), unit, valueUnit, drawn, line }
}

/**
 * Reads the lines beside the first one, as known at the same moment: the series of `with`, the same series earlier, and the difference
 * between the first two lines of one unit. Lines with a mistake are left out, unless `note` throws.
 */
export async function readCompared(
  request: PageRequest,
  chartQuery: ChartQuery,
  note: (mistake: unknown) => void = (mistake) => {
    throw mistake
  },
): Promise<ComparedLine[]> {
  const { dataset, range, asOf } = chartQuery
  const compared: ComparedLine[] = []
  for (const text of comparedNames(request.query))
    await readNamedLine(request, text, chartQuery).then((line) => compared.push(line), note)
  const { shift, difference } = readChoices(request.query)
  const { series: labels } = request.words
  const unit = drawnUnit(request, dataset, range)
  const { unit: valueUnit } = dataset
  if (shift) {
    const { zone } = dataset
    const line = { ...toLine(dataset), fetchId: asOf?.fetchId ?? null, shift }
    const from = moveByShift(zone, range.from, shift)
    const to = moveByShift(zone, range.to, shift)
    const earlier = await drawLine(request, line, { from, to }, line.fetchId)
    const drawn = moveLine(earlier, zone, shift)
    compared.push({ path: null, name: labels.shifts[shift], unit, valueUnit, drawn, line })
  }
  const other = compared.find((line) => line.unit === unit)
  if (difference && other) {
    const first = await drawLine(request, dataset, range, asOf?.fetchId ?? null)
    const name = `${labels.difference}: ${placeName(dataset)} − ${other.name}`
    // Another unit, so that it is drawn by the axis at the right.
    const [ownUnit, ownValueUnit] = [unit, valueUnit].map((each) => `Δ ${each ?? ''}`.trim()) as [string, string]
    const drawn = subtractLines(first, other.drawn)
    compared.push({ path: null, name, unit: ownUnit, valueUnit: ownValueUnit, drawn, line: null })
  }
  const units = new Set([unit])
  const hasAxis = ({ name, unit, line }: ComparedLine): boolean => {
    const isShown = line === null || units.size < 2 || units.has(unit)
    const message = `A chart has axes for two units, and ${name} has a third one: ${unit ?? 'unknown'}.`
    const hint = 'Remove the series of another unit, or the difference, first.'
    if (isShown) units.add(unit)
    else note(new ThirdUnit(message, { hint, code: 'third-unit', cause: { name } }))
    return isShown
  }
  // The difference goes first, because the user can remove it only by its own field.
  const shown = compared.toSorted((a, b) => Number(b.line === null) - Number(a.line === null)).filter(hasAxis)
  // Bands over one another would hide the lines.
  return compared
    .filter((line) => shown.includes(line))
    .slice(0, MAX_COMPARED)
    .map((line) => ({ ...line, drawn: withoutBand(line.drawn) }))
}

const withoutBand = ({ kind, segments }: Drawn): Drawn => ({
  kind,
  segments: segments.map(({ min, max, ...means }) => means),
})

/** Moves an earlier line under later values: each period to its local time, unless clocks skip or repeat it there. */
function moveLine(earlier: Drawn, zone: string, shift: Shift): Drawn {
  const periods = [...eachPeriod(earlier)].flatMap(({ from, to, ...values }) => {
    const [begin, border] = [from, to].map((at) => moveByShift(zone, at, shift, 1)) as [number, number]
    if (moveByShift(zone, begin, shift) !== from) return []
    // A local day may have another length than the earlier one; a shorter period ends before the next one begins.
    const isDay = to - from >= 23 * HOUR
    const end = isDay || (border > begin && border < begin + to - from) ? border : begin + to - from
    return [{ from: begin, to: end, ...values }]
  })
  if (earlier.kind === 'extremes')
    return { kind: 'extremes', segments: joinBands(periods.map((period) => [period, { count: 1, ...period }])) }
  const values = periods.map(({ from, to, mean }) => ({ at: from, step: to - from, value: mean }))
  return { kind: 'values', segments: joinValues(values) }
}

/** The differences between the periods that two lines share. Means have none if they cover other hours. */
function subtractLines(first: Drawn, second: Drawn): Drawn {
  const others = new Map([...eachPeriod(second)].map((period) => [`${period.from} ${period.to}`, period]))
  const differences = [...eachPeriod(first)].flatMap(({ from, to, mean, seconds }) => {
    const other = others.get(`${from} ${to}`)
    if (mean === null || !other || other.mean === null || other.seconds !== seconds) return []
    return [{ at: from, step: to - from, value: mean - other.mean }]
  })
  return { kind: 'values', segments: joinValues(differences) }
}
