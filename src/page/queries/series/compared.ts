import { InputError } from '../../../util/errors.ts'
import { memoize } from '../../../util/memoize.ts'
import { HOUR, type Instant } from '../../../util/time/instant.ts'
import type { Interval } from '../../../util/time/interval.ts'
import { eachPeriod, type LineData } from '../../client/segments.ts'
import type { PageRequest } from '../../page.ts'
import { readStates } from '../intervals.ts'
import { findNamedSeries } from '../seriesPaths.ts'
import { type ComparedLine, type ComparedLineWithStates, drawLine, drawnUnit } from './lines.ts'
import {
  type ChartLine,
  type ChartQuery,
  findAsOf,
  moveByShift,
  type NamedLine,
  readChoices,
  readNamedLine,
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

/** The compared series, as an address names them. */
export const seriesNames = (compared: readonly ComparedLine[]): string =>
  compared.flatMap(({ line, path }) => (path === null ? [] : `${path}:${line?.geoId}`)).join(',')

/** A series has a third unit, for which a chart has no axis; it is the `cause`. */
export class ThirdUnit extends InputError {
  declare readonly cause: { readonly name: string }
}

/** A name with its geo, to tell compared series apart. */
export const placeName = ({ name, geo }: Pick<NamedLine, 'name' | 'geo'>): string =>
  geo.name === null ? name : `${name}, ${geo.name}`

/** The fields that identify a line of a chart. */
const toChartLine = (line: NamedLine): ChartLine => {
  const { seriesId, geoId, zone, kind, indicator, trunc, geoAgg, measure, isPerHour } = line
  return { seriesId, geoId, zone, kind, indicator, trunc, geoAgg, measure, isPerHour }
}

/** Reads a line to compare with: of the named geo, else of that of the first series if it has that geo. */
async function readComparedLine(request: PageRequest, text: string, { line: first, range, asOf }: ChartQuery) {
  const [, name = '', named] = /^(.*?)(?::(\d+))?$/.exec(text) ?? []
  const found = await findNamedSeries(request, name)
  const chosen = named ?? found.geo
  const other = await readNamedLine(request, found.path, chosen === null ? null : String(chosen))
  const { path, unit: valueUnit } = other
  const unit = drawnUnit(request, other, range)
  const geo = (chosen === null && other.geos.find(({ id }) => id === first.geoId)) || other.geo
  const fetchId = asOf && (await findAsOf(request.store, other.seriesId, asOf.moment)).fetchId
  const line = { ...toChartLine(other), geoId: geo.id, fetchId }
  const drawn = await drawLine(request, line, range, fetchId)
  return { path, name: placeName({ ...other, geo }), unit, valueUnit, drawn, line }
}

/**
 * Reads the lines beside the first one, as known at the same moment: the series of `with`, and the same series earlier. Lines with a
 * mistake are left out, unless `note` throws.
 */
export async function readCompared(
  request: PageRequest,
  chartQuery: ChartQuery,
  note: (mistake: unknown) => void = (mistake) => {
    throw mistake
  },
): Promise<ComparedLine[]> {
  const { line: first, range, asOf } = chartQuery
  const compared: ComparedLine[] = []
  for (const text of comparedNames(request.query))
    await readComparedLine(request, text, chartQuery).then((line) => compared.push(line), note)
  const { shift } = readChoices(request.query)
  const { series: labels } = request.words
  const unit = drawnUnit(request, first, range)
  const { unit: valueUnit } = first
  if (shift) {
    const { zone } = first
    const line = { ...toChartLine(first), fetchId: asOf?.fetchId ?? null, shift }
    const from = moveByShift(zone, range.from, shift)
    const to = moveByShift(zone, range.to, shift)
    const earlier = await drawLine(request, line, { from, to }, line.fetchId)
    const drawn = moveLine(earlier, zone, shift)
    compared.push({ path: null, name: labels.shifts[shift], unit, valueUnit, drawn, line })
  }
  const units = new Set([unit])
  const hasAxis = ({ name, unit }: ComparedLine): boolean => {
    const isShown = units.size < 2 || units.has(unit)
    const message = `A chart has axes for two units, and ${name} has a third one: ${unit ?? 'unknown'}.`
    const hint = 'Remove the series of another unit first.'
    if (isShown) units.add(unit)
    else note(new ThirdUnit(message, { hint, code: 'third-unit', cause: { name } }))
    return isShown
  }
  // Bands over one another would hide the lines.
  return compared
    .filter(hasAxis)
    .slice(0, MAX_COMPARED)
    .map((line) => ({ ...line, drawn: withoutBand(line.drawn) }))
}

/** Removes the extremes of a line, so that its band does not hide others. */
export const withoutBand = ({ kind, segments }: LineData): LineData => ({
  kind,
  segments: segments.map(({ min, max, ...means }) => means),
})

/** Clocks change at whole or half hours of UTC. */
const HALF_HOUR = HOUR / 2

/** A function as `moveByShift`, for many instants: it computes each half-hour once. */
function mover(zone: string, shift: Shift, sign: 1 | -1): (at: Instant) => Instant {
  const moved = memoize((halfHour: number) => moveByShift(zone, halfHour * HALF_HOUR, shift, sign))
  return (at) => {
    const halfHour = Math.floor(at / HALF_HOUR)
    return moved(halfHour) + at - halfHour * HALF_HOUR
  }
}

/** Moves an earlier line under later values: each period to its local time, unless clocks skip or repeat it there. */
export function moveLine(earlier: LineData, zone: string, shift: Shift): LineData {
  const forth = mover(zone, shift, 1)
  const back = mover(zone, shift, -1)
  const periods = [...eachPeriod(earlier)].flatMap(({ from, to, ...values }) => {
    const begin = forth(from)
    const border = forth(to)
    if (back(begin) !== from) return []
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

/** Reads the states of lines, an earlier period at the times at which it is drawn. */
export async function withStates(
  request: PageRequest,
  compared: readonly ComparedLine[],
  range: Interval,
): Promise<ComparedLineWithStates[]> {
  const lines: ComparedLineWithStates[] = []
  for (const each of compared) {
    const { shift, zone } = each.line
    const move = (at: number, sign: 1 | -1): number => (shift ? moveByShift(zone, at, shift, sign) : at)
    const earlier = { from: move(range.from, -1), to: move(range.to, -1) }
    const states = (await readStates(request, each.line, earlier)).filter(({ state }) => state !== 'final')
    lines.push({ ...each, open: states.map((open) => ({ ...open, from: move(open.from, 1), to: move(open.to, 1) })) })
  }
  return lines
}
