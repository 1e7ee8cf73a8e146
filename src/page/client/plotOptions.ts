/** What uPlot draws: the chart of a series with its marks, and the panel of a difference below it. */
import type uPlot from 'uplot'
import { SIGNS } from './format.ts'
import {
  differing,
  drawBand,
  drawBars,
  drawSteps,
  eachPeriod,
  type LineData,
  valueRange,
  zeroLine,
} from './segments.ts'
import type { ChartOptions, PlotContext, ShownChart, States } from './shownChart.ts'

const CHART_HEIGHT = 320
const PANEL_HEIGHT = 90
const MIN_WIDTH = 200
/** The distance of a chart from the right, unless an axis is there. */
const ROOM_RIGHT = 25
const ROOM_ABOVE = 18
/** The width below which axes are narrow. */
const NARROW_WIDTH = 480
/** The room of the axes, and the least distance of the marks of time, in pixels. */
const AXES_WIDTH = 128
const TICK_WIDTH = 60
const NO_POINTS = { show: false }

export const plotWidth = ({ clientWidth }: HTMLElement): number => Math.max(MIN_WIDTH, clientWidth)

/** The narrowest part, in pixels, that has its whole name. */
const NAME_WIDTH = 120

/** Marks an interval of a chart by an element. */
function mark(u: uPlot, className: string, from: number, to: number, title = ''): HTMLElement {
  const element = Object.assign(document.createElement('div'), { className, title, textContent: title })
  const place = (at: number): number => Math.min(Math.max(u.valToPos(at, 'x'), 0), u.under.clientWidth)
  const left = place(from)
  const right = place(to)
  element.style.left = `${left}px`
  element.style.width = `${Math.max(1, right - left)}px`
  // A narrow part has only its sign.
  if (right > left && right - left < NAME_WIDTH) element.textContent = title.slice(0, 1)
  return element
}

/** Marks intervals that are not final. */
const markStates = (u: uPlot, states: States, names: ChartOptions['names']): HTMLElement[] =>
  states.map(([from, to, state]) =>
    mark(u, `state state-${state}`, from, to, `${SIGNS[state]} ${names[state] ?? ''}`.trim()),
  )

/** Marks the states of the first line, and changes of the step, behind the lines. */
function markChart(u: uPlot, { states, steps, from, to }: ShownChart, names: ChartOptions['names']): void {
  const now = Date.now() / 1000
  u.under.replaceChildren(
    ...markStates(u, states, names),
    ...steps.map(([at, , text]) => mark(u, 'change', at, at, text)),
    ...(now > from && now < to ? [mark(u, 'now', now, now, names.now)] : []),
  )
}

/** Marks the states of compared lines in strips below a chart. */
function markStrips(strips: HTMLElement, u: uPlot, chart: ShownChart, names: ChartOptions['names']): void {
  const rows = chart.compared.map(({ states, name }, i) => {
    const row = Object.assign(document.createElement('div'), { className: `with-${i}`, title: name })
    for (const part of markStates(u, states, names)) {
      part.title = `${name}: ${part.title}`
      row.append(part)
    }
    return row
  })
  strips.style.marginLeft = `${u.bbox.left / devicePixelRatio}px`
  strips.replaceChildren(...rows.filter(({ firstChild }) => firstChild))
}

/** Draws a line as paths of uPlot: the steps as a stroke, and the band of extremes or bars as a filled area. */
const drawPaths =
  (drawn: LineData, scale: string, hasBars = false): uPlot.Series.PathBuilder =>
  (u) => {
    const scales = {
      x: (at: number) => u.valToPos(at, 'x', true),
      y: (value: number) => u.valToPos(value, scale, true),
    }
    const stroke = new Path2D()
    const fill = new Path2D()
    drawSteps(drawn, stroke, scales)
    if (hasBars) drawBars(drawn, fill, scales)
    else if (drawn.kind === 'extremes') drawBand(drawn, fill, scales)
    return { stroke, fill, flags: 1 }
  }

/** The x values by which uPlot places the cursor: the beginnings of periods. */
function plotData(lines: readonly LineData[]): uPlot.AlignedData {
  const maps = lines.map((drawn) => new Map([...eachPeriod(drawn)].map(({ from, mean }) => [from, mean])))
  const at = [...new Set(maps.flatMap((map) => [...map.keys()]))].sort((a, b) => a - b)
  return [at, ...maps.map((map) => at.map((begin) => map.get(begin) ?? null))] as uPlot.AlignedData
}

/** The value range of lines with room at both ends. */
const paddedRange = (lines: readonly LineData[]): [number, number] => {
  const { low, high } = valueRange(lines) ?? { low: 0, high: 0 }
  const room = (high - low) * 0.05 || 1
  return [low - room, high + room]
}

/** The marks of the time axis, as many as fit. */
function timeTicks({ element, shown }: PlotContext) {
  const { ticks, from, to } = shown()
  const within = ticks.filter(({ at }) => at >= from && at <= to)
  const fitting = Math.max(2, Math.floor((element.clientWidth - AXES_WIDTH) / TICK_WIDTH))
  const every = Math.ceil(within.length / fitting)
  return within.filter((_, i) => i % every === 0)
}

/** The looks of the axes of time and of values, and the grid. */
function axisLooks({ element, locale, colour }: PlotContext) {
  const isNarrow = element.clientWidth < NARROW_WIDTH
  const font = '12px system-ui, sans-serif'
  const time = { stroke: colour('ink'), ticks: { stroke: colour('line') }, font }
  const numbers = (_: uPlot, values: number[]): string[] => values.map((value) => value.toLocaleString(locale))
  const size = isNarrow ? { size: 48, labelSize: 12 } : { size: 64, labelSize: 20 }
  return {
    time,
    value: { ...time, ...size, values: numbers, labelFont: font },
    grid: { stroke: colour('line'), width: 1 },
  }
}

/** Lines of a second unit have a scale of their own, at the right. */
const otherLines = ({ compared, unit }: ShownChart) => compared.filter((line) => line.unit !== unit)

/** The axis of the first unit, at the left. */
function leftAxis(context: PlotContext): uPlot.Axis {
  const { value, grid } = axisLooks(context)
  const { unit } = context.shown()
  return { ...value, grid, scale: 'y', ...(unit ? { label: unit } : {}) }
}

/** What the chart and the panel share. */
const sharedOptions = ({ element }: PlotContext) => ({
  width: plotWidth(element),
  legend: { show: false },
  cursor: {
    drag: { x: true, y: false, setScale: false },
    points: { show: false },
    y: false,
    // A drag selects in one of them.
    sync: { key: 'chart', scales: ['x', null], filters: { pub: (type: string) => !/down|up/.test(type) } },
  } as uPlot.Cursor,
})

const timeScale = ({ shown }: PlotContext): uPlot.Scale => ({
  time: false,
  range: () => [shown().from, shown().to],
})

/** The lines of a chart, each with its look. */
function chartLines({ shown, colour }: PlotContext): { readonly drawn: LineData; readonly series: uPlot.Series }[] {
  const { now, before, compared, unit } = shown()
  const styleDash = (name: string): number[] => (colour(`chart-${name}-dash`).match(/\d+/g) ?? []).map(Number)
  const line = (drawn: LineData, name: string, width: number, scale = 'y', dash = styleDash(name)) => {
    const stroke = colour(`chart-${name}`)
    const fill = colour(`chart-${name}-band`)
    const series = { scale, width, dash, stroke, fill, paths: drawPaths(drawn, scale), points: NO_POINTS }
    return { drawn, series }
  }
  const others = compared.map((other, i) => line(other.drawn, `with-${i}`, 1.5, other.unit === unit ? 'y' : 'z'))
  if (!before) return [...others, line(now, 'now', 1.5)]
  // With a past state, only differences are strong.
  return [
    ...others,
    line(now, 'now', 1, 'y', [4, 4]),
    line(before, 'then', 0.5),
    line(differing(now, before), 'then', 2),
  ]
}

/** The options of the chart, without its cursor. It fills an element below it with the gaps of compared lines. */
function mainOptions(context: PlotContext, lines: readonly uPlot.Series[], strips: HTMLElement): uPlot.Options {
  const { shown, names } = context
  const chart = shown()
  const { now, before, compared, unit } = chart
  const { time, value } = axisLooks(context)
  const others = otherLines(chart)
  const own = compared.filter((line) => line.unit === unit)
  const onLeft = [now, ...(before ? [before] : []), ...own.map(({ drawn }) => drawn)]
  const timeAxis: uPlot.Axis = {
    ...time,
    grid: { show: false },
    splits: () => timeTicks(context).map(({ at }) => at),
    values: () => timeTicks(context).map(({ label }) => label),
  }
  const rightAxes = others
    .slice(0, 1)
    .map((line): uPlot.Axis => ({ ...value, grid: { show: false }, scale: 'z', side: 1, label: line.unit ?? '' }))
  return {
    ...sharedOptions(context),
    height: CHART_HEIGHT,
    padding: [ROOM_ABOVE, others.length === 0 ? ROOM_RIGHT : 0, null, null],
    scales: {
      x: timeScale(context),
      y: { range: () => paddedRange(onLeft) },
      z: { range: () => paddedRange(others.map(({ drawn }) => drawn)) },
    },
    series: [{}, ...lines],
    axes: [timeAxis, { ...leftAxis(context), show: valueRange(onLeft) !== undefined }, ...rightAxes],
    hooks: {
      draw: [
        (u) => {
          markChart(u, shown(), names)
          markStrips(strips, u, shown(), names)
        },
      ],
    },
  }
}

/** The options of the panel of a difference, below the chart. */
function panelOptions(context: PlotContext, { drawn, unfinished }: Difference, zero: LineData): uPlot.Options {
  const { shown, names, colour } = context
  const { size, labelSize } = axisLooks(context).value
  const right = otherLines(shown()).length === 0 ? ROOM_RIGHT : size + labelSize
  const bars = colour('chart-difference')
  const markUnfinished = (u: uPlot): void =>
    u.under.replaceChildren(...(unfinished ? [mark(u, 'unfinished', ...unfinished, names.unfinished)] : []))
  return {
    ...sharedOptions(context),
    height: PANEL_HEIGHT,
    padding: [6, right, 6, 0],
    scales: { x: timeScale(context), y: { range: () => paddedRange([drawn, zero]) } },
    series: [
      {},
      { stroke: bars, fill: bars, paths: drawPaths(drawn, 'y', true), points: NO_POINTS },
      { stroke: colour('ink'), paths: drawPaths(zero, 'y'), points: NO_POINTS },
    ],
    axes: [{ show: false }, { ...leftAxis(context), space: 18 }],
    hooks: { draw: [markUnfinished] },
  }
}

type Difference = NonNullable<ShownChart['difference']>

/** The options and the data of a plot. */
interface Plot {
  readonly options: uPlot.Options
  readonly data: uPlot.AlignedData
}

/** The chart. */
export function mainPlot(context: PlotContext, strips: HTMLElement): Plot {
  const lines = chartLines(context)
  const series = lines.map((line) => line.series)
  return { options: mainOptions(context, series, strips), data: plotData(lines.map(({ drawn }) => drawn)) }
}

/** The panel below the chart; undefined without a difference. */
export function panelPlot(context: PlotContext): Plot | undefined {
  const { difference, from, to } = context.shown()
  if (!difference?.drawn.segments.length) return undefined
  const zero = zeroLine(from, to)
  return { options: panelOptions(context, difference, zero), data: plotData([difference.drawn, zero]) }
}
