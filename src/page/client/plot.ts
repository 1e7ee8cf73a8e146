import uPlot from 'uplot'
import { followFingers } from './fingers.ts'
import { type Offsets, SIGNS, valueText } from './format.ts'
import { type Drawn, differing, drawBand, drawBars, drawSteps, eachPeriod, valueReach, zeroLine } from './segments.ts'

/** Intervals that are not final. */
type States = readonly (readonly [from: number, to: number, state: keyof typeof SIGNS])[]

/** The data of a chart. */
export interface ShownChart {
  readonly from: number
  readonly to: number
  readonly offsets: Offsets
  readonly ticks: readonly { readonly at: number; readonly label: string }[]
  readonly now: Drawn
  /** What a summarized line shows; null for values. */
  readonly bucket: string | null
  readonly before: Drawn | null
  readonly compared: readonly {
    readonly name: string
    readonly drawn: Drawn
    readonly unit: string | null
    readonly states: States
  }[]
  /** `unfinished`: the day of which values are still missing. */
  readonly difference: { readonly drawn: Drawn; readonly unfinished: readonly [from: number, to: number] | null } | null
  readonly unit: string | null
  readonly states: States
  readonly steps: readonly (readonly [at: number, step: number, text: string])[]
}

/** The language of a chart, the names of states, and its event handlers. */
interface ChartOptions {
  readonly locale: string
  readonly names: Readonly<Record<string, string>>
  /** The cursor moved to an instant; `left` is its place in the chart if the mouse moved it. */
  readonly cursor: (at: number | null, left: number | null) => void
  /** An interval was selected. */
  readonly zoom: (from: number, to: number) => void
  /** An instant was clicked. */
  readonly open: (at: number) => void
}

const CHART_HEIGHT = 320
const PANEL_HEIGHT = 90
/** The distance of a chart from the right, unless an axis is there. */
const ROOM_RIGHT = 25
const ROOM_ABOVE = 18
const ROOM_FOR_NAME = 120
const EMPTY: Drawn = { kind: 'values', segments: [] }

/** Marks an interval of a chart by an element. */
function mark(u: uPlot, className: string, from: number, to: number, title = ''): HTMLElement {
  const element = Object.assign(document.createElement('div'), { className, title, textContent: title })
  const place = (at: number): number => Math.min(Math.max(u.valToPos(at, 'x'), 0), u.under.clientWidth)
  const left = place(from)
  const right = place(to)
  element.style.left = `${left}px`
  element.style.width = `${Math.max(1, right - left)}px`
  // A narrow part has only its sign.
  if (right > left && right - left < ROOM_FOR_NAME) element.textContent = title.slice(0, 1)
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

/** Draws a line as paths of uPlot: the steps as a stroke, and the band of extremes or bars as a filled area. */
const drawPaths =
  (drawn: Drawn, scale: string, hasBars = false): uPlot.Series.PathBuilder =>
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
function plotData(lines: readonly Drawn[]): uPlot.AlignedData {
  const maps = lines.map((drawn) => new Map([...eachPeriod(drawn)].map(({ from, mean }) => [from, mean])))
  const at = [...new Set(maps.flatMap((map) => [...map.keys()]))].sort((a, b) => a - b)
  return [at, ...maps.map((map) => at.map((begin) => map.get(begin) ?? null))] as uPlot.AlignedData
}

const padded = (drawn: readonly Drawn[]): [number, number] => {
  const reach = valueReach(drawn) ?? { low: 0, high: 0 }
  const more = (reach.high - reach.low) * 0.05 || 1
  return [reach.low - more, reach.high + more]
}

/** Creates a chart in an element. */
export function createChart(element: HTMLElement, first: ShownChart, { locale, names, ...events }: ChartOptions) {
  let shown = first
  const isTouched = () => element.classList.contains('touch')
  const box = element.appendChild(document.createElement('div'))
  const colour = (name: string): string => getComputedStyle(box).getPropertyValue(`--${name}`)
  const dashOf = (name: string): number[] => (colour(`chart-${name}-dash`).match(/\d+/g) ?? []).map(Number)
  /** The marks of the time axis, as many as fit. */
  const ticks = () => {
    const within = shown.ticks.filter(({ at }) => at >= shown.from && at <= shown.to)
    const every = Math.ceil(within.length / Math.max(2, Math.floor((element.clientWidth - 128) / 60)))
    return within.filter((_, i) => i % every === 0)
  }
  const numbers = (_: uPlot, values: number[]): string[] => values.map((value) => value.toLocaleString(locale))

  /** The instant to which a key moves the cursor; its pixel is not exact. */
  let exact: number | null = null
  let cursorAt: number | null = null

  const place = (u: uPlot, at: number): void => u.setCursor({ left: Math.max(0, u.valToPos(at, 'x')), top: 1 })

  /** Draws the chart, gaps of compared lines, and the difference. */
  function make(): uPlot[] {
    const range = [shown.from, shown.to] as const
    const { now, before, compared, unit, difference } = shown
    // Lines of a second unit have a scale of their own, at the right.
    const others = compared.filter((series) => series.unit !== unit)
    const lines: uPlot.Series[] = []
    const drawings: Drawn[] = []
    const add = (drawn: Drawn, name: string, width: number, scale = 'y', dash = dashOf(name)): void => {
      drawings.push(drawn)
      const stroke = colour(`chart-${name}`)
      const fill = colour(`chart-${name}-band`)
      lines.push({ scale, width, dash, stroke, fill, paths: drawPaths(drawn, scale), points: { show: false } })
    }
    for (const [i, series] of compared.entries()) add(series.drawn, `with-${i}`, 1.5, series.unit === unit ? 'y' : 'z')
    // With a past state, only differences are strong.
    add(now, 'now', before ? 1 : 1.5, 'y', before ? [4, 4] : undefined)
    if (before) add(before, 'then', 0.5)
    if (before) add(differing(now, before), 'then', 2)
    const isNarrow = element.clientWidth < 480
    const axis = { stroke: colour('ink'), ticks: { stroke: colour('line') }, font: '12px system-ui, sans-serif' }
    const value = {
      ...axis,
      size: isNarrow ? 48 : 64,
      values: numbers,
      labelSize: isNarrow ? 12 : 20,
      labelFont: axis.font,
    }
    const onY = [now, before ?? EMPTY, ...compared.filter((series) => series.unit === unit).map(({ drawn }) => drawn)]
    const strips = Object.assign(document.createElement('div'), { className: 'strips' })
    const right = others.length === 0 ? ROOM_RIGHT : value.size + value.labelSize
    const x: uPlot.Scale = { time: false, range: () => [shown.from, shown.to] }
    const leftAxis = {
      ...value,
      grid: { stroke: colour('line'), width: 1 },
      scale: 'y',
      ...(unit ? { label: unit } : {}),
    }
    /** What the chart and the panel share. */
    const common = {
      width: Math.max(200, element.clientWidth),
      legend: { show: false },
      cursor: {
        drag: { x: true, y: false, setScale: false },
        points: { show: false },
        y: false,
        // A drag selects in one of them.
        sync: { key: 'chart', scales: ['x', null], filters: { pub: (type: string) => !/down|up/.test(type) } },
      } as uPlot.Cursor,
    }
    const hooks: uPlot.Hooks.Arrays = {
      setSelect: [
        (u) => {
          const { left, width } = u.select
          if (width < 4) return
          u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
          events.zoom(u.posToVal(left, 'x'), u.posToVal(left + width, 'x'))
        },
      ],
      ready: [
        (u) => {
          const width = u.over.clientWidth
          followFingers(
            u.over,
            element,
            (left) => u.setCursor({ left, top: 1 }),
            (held, now, isDone) => {
              const pixelS = (range[1] - range[0]) / width
              const stretched = (pixelS * (held[1] - held[0])) / (now[1] - now[0] || 1)
              const from = range[0] + held[0] * pixelS - now[0] * stretched
              const to = from + stretched * width
              // Fingers that cross turn the range around.
              const show = isDone ? events.zoom : preview
              show(Math.min(from, to), Math.max(from, to))
            },
          )
          // uPlot keeps the click that ends a drag to itself. A tap only moves the cursor.
          u.over.onclick = () => {
            if (cursorAt !== null && !isTouched()) events.open(cursorAt)
          }
        },
      ],
    }
    const options: uPlot.Options = {
      ...common,
      height: CHART_HEIGHT,
      padding: [ROOM_ABOVE, others.length === 0 ? ROOM_RIGHT : 0, null, null],
      scales: {
        x,
        y: { range: () => padded(onY) },
        z: { range: () => padded(others.map(({ drawn }) => drawn)) },
      },
      series: [{}, ...lines],
      axes: [
        {
          ...axis,
          grid: { show: false },
          splits: () => ticks().map(({ at }) => at),
          values: () => ticks().map(({ label }) => label),
        },
        { ...leftAxis, show: valueReach(onY) !== undefined },
        ...(others.length === 0
          ? []
          : [{ ...value, grid: { show: false }, scale: 'z', side: 1 as const, label: others[0]!.unit ?? '' }]),
      ],
      hooks: {
        ...hooks,
        draw: [
          (u) => {
            markChart(u, shown, names)
            const rows = shown.compared.map(({ states, name }, i) => {
              const row = Object.assign(document.createElement('div'), { className: `with-${i}`, title: name })
              for (const part of markStates(u, states, names)) {
                part.title = `${name}: ${part.title}`
                row.append(part)
              }
              return row
            })
            strips.style.marginLeft = `${u.bbox.left / devicePixelRatio}px`
            strips.replaceChildren(...rows.filter(({ firstChild }) => firstChild))
          },
        ],
        setCursor: [
          (u) => {
            const left = u.cursor.left ?? -1
            // A lifted finger is no mouse that leaves.
            if (left < 0 && isTouched() && cursorAt! >= shown.from && cursorAt! < shown.to) return place(u, cursorAt!)
            cursorAt = exact ?? (left < 0 ? null : u.posToVal(left, 'x'))
            events.cursor(cursorAt, exact === null && left >= 0 ? left + u.bbox.left / devicePixelRatio : null)
          },
        ],
      },
    }
    const chart = new uPlot(options, plotData(drawings), box)
    box.append(strips)
    if (!difference?.drawn.segments.length) return [chart]
    const { drawn, unfinished } = difference
    const zero = zeroLine(shown.from, shown.to)
    const points = { show: false }
    const fill = colour('chart-difference')
    const panel: uPlot.Options = {
      ...common,
      height: PANEL_HEIGHT,
      padding: [6, right, 6, 0],
      scales: { x, y: { range: () => padded([drawn, zero]) } },
      series: [
        {},
        { stroke: fill, fill, paths: drawPaths(drawn, 'y', true), points },
        { stroke: colour('ink'), paths: drawPaths(zero, 'y'), points },
      ],
      axes: [{ show: false }, { ...leftAxis, space: 18 }],
      hooks: {
        ...hooks,
        draw: [
          (u) =>
            u.under.replaceChildren(...(unfinished ? [mark(u, 'unfinished', ...unfinished, names.unfinished)] : [])),
        ],
      },
    }
    return [chart, new uPlot(panel, plotData([drawn, zero]), box)]
  }

  let plots = make()
  /** Draws the current data over another range until the new data arrives. */
  function preview(from: number, to: number): void {
    shown = { ...shown, from, to }
    for (const plot of plots) plot.setData(plot.data)
  }
  const again = (): void => {
    for (const plot of plots) plot.destroy()
    box.replaceChildren()
    plots = make()
  }
  new ResizeObserver(() => {
    const width = Math.max(200, element.clientWidth)
    for (const plot of plots) if (width !== plot.width) plot.setSize({ width, height: plot.height })
  }).observe(element)
  for (const query of ['(prefers-color-scheme: dark)', '(forced-colors: active)'])
    matchMedia(query).addEventListener('change', again)

  return {
    show(next: ShownChart): void {
      shown = next
      again()
    },
    preview,
    /** Moves the cursor to the next or an earlier period. */
    move(by: number): void {
      const [chart] = plots as [uPlot]
      // The first period may begin before the picture.
      const begins = [...new Set(chart.data[0].filter((at) => at < shown.to).map((at) => Math.max(at, shown.from)))]
      if (begins.length === 0) return
      const { length } = begins
      const outside = by > 0 ? -1 : length
      const current = cursorAt === null ? outside : begins.findLastIndex((at) => at <= cursorAt!)
      exact = begins[Math.min(length - 1, Math.max(0, current + by))]!
      for (const plot of plots) place(plot, exact)
      exact = null
    },
    /** The columns of its picture. */
    columns: (): number => Math.round(plots[0]!.bbox.width / devicePixelRatio),
  }
}

/** A value with its unit. */
export const withUnit = (value: number, unit: string | null, locale: string): string =>
  `${valueText(value, locale)}${unit ? ` ${unit}` : ''}`
