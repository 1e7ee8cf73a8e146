/** Draws the chart of a series with uPlot. */
import uPlot from 'uplot'
import { valueText } from './format.ts'
import { gestureHooks } from './gestures.ts'
import { mainPlot, panelPlot, plotWidth } from './plotOptions.ts'
import type { ChartOptions, PlotContext, ShownChart } from './shownChart.ts'

const placeCursor = (u: uPlot, at: number): void => u.setCursor({ left: Math.max(0, u.valToPos(at, 'x')), top: 1 })

/** Creates the cursor of plots. A pointer moves it to pixels, a key to an exact instant. */
function createPlotCursor({ shown }: PlotContext, isTouched: () => boolean, moved: ChartOptions['cursor']) {
  let at: number | null = null
  let exact: number | null = null
  return {
    at: (): number | null => at,
    /** Follows the cursor of the chart. */
    follow(u: uPlot): void {
      const left = u.cursor.left ?? -1
      const { from, to } = shown()
      // Lifting a finger must not clear the cursor.
      if (left < 0 && isTouched() && at !== null && at >= from && at < to) {
        placeCursor(u, at)
        return
      }
      at = exact ?? (left < 0 ? null : u.posToVal(left, 'x'))
      moved(at, exact === null && left >= 0 ? left + u.bbox.left / devicePixelRatio : null)
    },
    moveTo(plots: readonly uPlot[], to: number): void {
      exact = to
      for (const plot of plots) placeCursor(plot, to)
      exact = null
    },
  }
}

/** Creates a chart in an element. */
export function createChart(element: HTMLElement, first: ShownChart, { locale, names, ...events }: ChartOptions) {
  let shown = first
  const box = element.appendChild(document.createElement('div'))
  const context: PlotContext = {
    element,
    locale,
    names,
    shown: () => shown,
    colour: (name) => getComputedStyle(box).getPropertyValue(`--${name}`),
  }
  const isTouched = (): boolean => element.classList.contains('touch')
  const cursor = createPlotCursor(context, isTouched, events.cursor)
  /** Draws the current data over another range until the new data arrives. */
  const preview = (from: number, to: number): void => {
    shown = { ...shown, from, to }
    for (const plot of plots) plot.setData(plot.data)
  }
  const click = (): void => {
    const at = cursor.at()
    // A tap only moves the cursor.
    if (at !== null && !isTouched()) events.open(at)
  }

  /** Draws the chart, gaps of compared lines, and the difference. */
  const makePlots = (): uPlot[] => {
    const gestures = gestureHooks(context, { zoom: events.zoom, preview, click })
    const strips = Object.assign(document.createElement('div'), { className: 'strips' })
    const main = mainPlot(context, strips)
    const mainHooks = { ...gestures, ...main.options.hooks, setCursor: [cursor.follow] }
    const chart = new uPlot({ ...main.options, hooks: mainHooks }, main.data, box)
    box.append(strips)
    const panel = panelPlot(context)
    if (!panel) return [chart]
    return [chart, new uPlot({ ...panel.options, hooks: { ...gestures, ...panel.options.hooks } }, panel.data, box)]
  }

  let plots = makePlots()
  const drawAgain = (): void => {
    for (const plot of plots) plot.destroy()
    box.replaceChildren()
    plots = makePlots()
  }
  new ResizeObserver(() => {
    const width = plotWidth(element)
    for (const plot of plots) if (width !== plot.width) plot.setSize({ width, height: plot.height })
  }).observe(element)
  for (const query of ['(prefers-color-scheme: dark)', '(forced-colors: active)'])
    matchMedia(query).addEventListener('change', drawAgain)

  return {
    show(next: ShownChart): void {
      shown = next
      drawAgain()
    },
    preview,
    /** Moves the cursor to the next or an earlier period. */
    move(by: number): void {
      const { from, to } = shown
      // The first period may begin before the picture.
      const begins = [...new Set(plots[0]!.data[0].filter((at) => at < to).map((at) => Math.max(at, from)))]
      if (begins.length === 0) return
      const { length } = begins
      const at = cursor.at()
      const outside = by > 0 ? -1 : length
      const current = at === null ? outside : begins.findLastIndex((begin) => begin <= at)
      cursor.moveTo(plots, begins[Math.min(length - 1, Math.max(0, current + by))]!)
    },
    /** The columns of its picture. */
    columns: (): number => Math.round(plots[0]!.bbox.width / devicePixelRatio),
  }
}

/** A value with its unit. */
export const withUnit = (value: number, unit: string | null, locale: string): string =>
  `${valueText(value, locale)}${unit ? ` ${unit}` : ''}`
