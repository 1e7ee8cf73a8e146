import uPlot from 'uplot'
import { coloursOf, drawChanges, drawStates, type StateRow } from './behind.ts'
import { type Offsets, timeTicks } from './clock.ts'
import { type Drawn, drawBand, drawSteps, eachPeriod, reachOf } from './segments.ts'

/** What a chart shows. */
export interface ShownChart {
  readonly from: number
  readonly to: number
  readonly offsets: Offsets
  readonly now: Drawn
  readonly before: Drawn | null
  readonly second: { readonly drawn: Drawn; readonly unit: string | null } | null
  readonly unit: string | null
  readonly states: readonly StateRow[]
  readonly steps: readonly (readonly [at: number, step: number])[]
}

/** The events of a chart. */
export interface ChartEvents {
  /** The cursor is at an instant, or nowhere. */
  readonly cursor: (at: number | null) => void
  /** An interval was selected with the mouse, or requested by a key. */
  readonly zoom: (from: number, to: number) => void
}

/** A chart on the page. */
export interface Chart {
  show(shown: ShownChart): void
  /** Draws the known data over another range until the new data arrives. */
  preview(from: number, to: number): void
  /** Moves the cursor to the next or an earlier period. */
  move(by: number): void
  /** How many columns it has. */
  columns(): number
}

const CHART_HEIGHT = 320
const EMPTY: Drawn = { kind: 'values', segments: [] }

/** A drawn line as paths of uPlot: the steps as a stroke, and the band of extremes as a filled area. */
const pathsOf =
  (drawnOf: () => Drawn, scale: string): uPlot.Series.PathBuilder =>
  (u) => {
    const scales = {
      x: (at: number) => u.valToPos(at, 'x', true),
      y: (value: number) => u.valToPos(value, scale, true),
    }
    const [stroke, fill] = [new Path2D(), new Path2D()]
    const drawn = drawnOf()
    drawSteps(drawn, stroke, scales)
    if (drawn.kind === 'extremes') drawBand(drawn, fill, scales)
    return { stroke, fill, flags: 1 }
  }

/** The x values by which uPlot places the cursor: the beginnings of all periods. */
function plotData(lines: readonly Drawn[]): uPlot.AlignedData {
  const maps = lines.map((drawn) => new Map([...eachPeriod(drawn)].map(({ from, mean }) => [from, mean])))
  const at = [...new Set(maps.flatMap((map) => [...map.keys()]))].sort((a, b) => a - b)
  return [at, ...maps.map((map) => at.map((one) => map.get(one) ?? null))] as uPlot.AlignedData
}

const padded = (reach: { low: number; high: number } | undefined): [number, number] => {
  if (!reach) return [0, 1]
  const more = (reach.high - reach.low) * 0.05 || 1
  return [reach.low - more, reach.high + more]
}

/** Makes a chart in an element. */
export function createChart(element: HTMLElement, first: ShownChart, locale: string, events: ChartEvents): Chart {
  let shown = first
  const box = element.appendChild(document.createElement('div'))
  const colour = coloursOf(box)
  const linesOf = (): [Drawn, Drawn, Drawn] => [shown.second?.drawn ?? EMPTY, shown.now, shown.before ?? EMPTY]
  const isTwoScales = (): boolean => shown.second !== null && shown.second.unit !== shown.unit
  const write = new Intl.NumberFormat(locale, { maximumFractionDigits: 3 })
  const numbers = (_: uPlot, values: number[]): string[] => values.map((value) => write.format(value))

  /** The instant that a key moves the cursor to; the pixel of the cursor is not exact. */
  let exact: number | null = null
  let cursorAt: number | null = null

  function make(): uPlot {
    const two = isTwoScales()
    const line = (i: 0 | 1 | 2, name: string, width: number, dash: number[], scale: string): uPlot.Series => ({
      scale,
      width,
      dash,
      stroke: colour(`chart-${name}`),
      fill: colour(`chart-${name}-band`),
      paths: pathsOf(() => linesOf()[i], scale),
      points: { show: false },
    })
    const axis = { stroke: colour('ink'), ticks: { stroke: colour('line') }, font: '12px system-ui, sans-serif' }
    const grid = { stroke: colour('line'), width: 1 }
    const options: uPlot.Options = {
      width: Math.max(200, element.clientWidth),
      height: CHART_HEIGHT,
      legend: { show: false },
      scales: {
        x: { time: false, range: () => [shown.from, shown.to] },
        y: { range: () => padded(reachOf(two ? [shown.now, shown.before ?? EMPTY] : linesOf())) },
        z: { range: () => padded(reachOf([shown.second?.drawn ?? EMPTY])) },
      },
      series: [
        {},
        line(0, 'second', 1, [], two ? 'z' : 'y'),
        line(1, 'now', 1.5, shown.before ? [4, 4] : [], 'y'),
        line(2, 'then', 2, [], 'y'),
      ],
      axes: [
        {
          ...axis,
          grid: { show: false },
          splits: (_u, _axis, from, to) => timeTicks(shown.offsets, from, to).map(({ at }) => at),
          values: (_u, splits) => {
            const labels = new Map(
              timeTicks(shown.offsets, splits[0] ?? 0, splits.at(-1) ?? 0).map(({ at, label }) => [at, label]),
            )
            return splits.map((at) => labels.get(at) ?? '')
          },
        },
        { ...axis, grid, scale: 'y', size: 64, values: numbers },
        ...(two ? [{ ...axis, grid: { show: false }, scale: 'z', side: 1, size: 64, values: numbers }] : []),
      ],
      cursor: { drag: { x: true, y: false, setScale: false }, points: { show: false }, y: false },
      hooks: {
        drawClear: [(u) => drawStates(u, shown.states, colour)],
        draw: [(u) => drawChanges(u, shown.steps, colour)],
        setCursor: [
          (u) => {
            const left = u.cursor.left ?? -1
            cursorAt = exact ?? (left < 0 ? null : u.posToVal(left, 'x'))
            events.cursor(cursorAt)
          },
        ],
        setSelect: [
          (u) => {
            const { left, width } = u.select
            if (width < 4) return
            u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
            events.zoom(u.posToVal(left, 'x'), u.posToVal(left + width, 'x'))
          },
        ],
      },
    }
    return new uPlot(options, plotData(linesOf()), box)
  }

  let plot = make()
  const again = (): void => {
    plot.destroy()
    plot = make()
  }
  const resized = new ResizeObserver(() => {
    const width = Math.max(200, element.clientWidth)
    if (width !== plot.width) plot.setSize({ width, height: CHART_HEIGHT })
  })
  resized.observe(element)
  const schemes = ['(prefers-color-scheme: dark)', '(forced-colors: active)'].map((query) => matchMedia(query))
  const recolour = (): void => {
    box.replaceChildren()
    plot = make()
  }
  for (const scheme of schemes) scheme.addEventListener('change', recolour)

  return {
    show(next) {
      const isOther = (next.before === null) !== (shown.before === null) || next.second?.unit !== shown.second?.unit
      shown = next
      if (isOther) again()
      else plot.setData(plotData(linesOf()))
    },
    preview(from, to) {
      shown = { ...shown, from, to }
      plot.setData(plot.data)
    },
    move(by) {
      // The first period may begin before the picture does.
      const at = [...new Set(plot.data[0].filter((one) => one < shown.to).map((one) => Math.max(one, shown.from)))]
      if (at.length === 0) return
      const current = cursorAt === null ? (by > 0 ? -1 : at.length) : at.findLastIndex((one) => one <= cursorAt!)
      exact = at[Math.min(at.length - 1, Math.max(0, current + by))]!
      plot.setCursor({ left: Math.max(0, plot.valToPos(exact, 'x')), top: CHART_HEIGHT / 3 })
      exact = null
    },
    columns: () => Math.round(plot.bbox.width / devicePixelRatio),
  }
}
