import type { Pen, Scales, ValueRange } from '../client/segments.ts'
import { type Html, type HtmlPart, html } from '../html.ts'

/* How charts are drawn as SVG: on pages, which style them by classes, and as pictures, whose elements have their own colours. */

export type Path = (pen: Pen, scales: Scales) => void

/** A line, a band or bars of a drawing; `style` is its class and chooses its colour. */
export interface ChartShape {
  readonly style: string
  /** Whether its unit is not that of the axis at the left; then it has another scale. */
  readonly isOther: boolean
  /** The smallest and the largest number; undefined if it has none. */
  readonly valueRange: ValueRange | undefined
  readonly stroke?: Path
  readonly fill?: Path
  readonly bars?: Path
}

/** A chart over a horizontal axis of instants or other numbers. */
export interface Drawing {
  readonly from: number
  readonly to: number
  readonly ticks: readonly { readonly at: number; readonly label: string }[]
  readonly lines: readonly ChartShape[]
  /** The units of the axes at the left and at the right. */
  readonly unit: string | null
  readonly otherUnit: string | null
  /** Whether there is room for an axis at the right: another chart may have one above or below. */
  readonly hasOtherAxis: boolean
  /** Shaded intervals, each with its state. */
  readonly states: readonly (readonly [from: number, to: number, state: string])[]
  /** Instants with a text beside a dotted line. */
  readonly marks: readonly { readonly at: number; readonly text: string }[]
  /** Intervals with a text that is shown under the pointer. */
  readonly hints: readonly { readonly from: number; readonly to: number; readonly text: string }[]
}

/** The size of a drawing, with the margins of its axes. */
export interface Frame {
  readonly width: number
  readonly height: number
  readonly side: number
  readonly top: number
  readonly bottom: number
}

/** The attributes of each kind of element. Those of groups, rules and texts begin with a space, or are empty. */
export interface Look {
  readonly axes: Html
  readonly rule: Html
  readonly text: Html
  readonly mark: Html
  /** The line at zero from which bars begin. */
  readonly zero: Html
  state(state: string): Html
  line(style: string): Html
  band(style: string): Html
  bar(style: string): Html
}

/** A coordinate with one decimal. */
export const oneDecimal = (number: number): string => String(Math.round(number * 10) / 10)

/** About `count` round numbers over a range. */
export function roundTicks(low: number, high: number, count = 5): number[] {
  const rough = (high - low) / count
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((size) => size >= rough)
  if (step === undefined || !(step > 0) || !Number.isFinite(low / step)) return [low]
  const first = Math.ceil(low / step)
  // Adding up steps would add rounding errors: tenths would not stay tenths.
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, i) =>
    Number(((first + i) * step).toPrecision(12)),
  )
}

/** The part of the range of values that is free above and below them. */
const HEADROOM = 0.05

/** Joins the value ranges of shapes, with room at both ends; one without a length gets a length. Bars begin at the border. */
function joinValueRanges(shapes: readonly Pick<ChartShape, 'valueRange' | 'bars'>[]): ValueRange | undefined {
  const ranges = shapes.flatMap(({ valueRange }) => valueRange ?? [])
  if (ranges.length === 0) return undefined
  const low = Math.min(...ranges.map((range) => range.low))
  const high = Math.max(...ranges.map((range) => range.high))
  // A margin of 1 would vanish beside a large number.
  const room = low === high ? Math.max(1, Math.abs(low) * HEADROOM) : (high - low) * HEADROOM
  const isBorder = (value: number): boolean => low !== high && value === 0 && shapes.some(({ bars }) => bars)
  return { low: isBorder(low) ? low : low - room, high: isBorder(high) ? high : high + room }
}

/** The data of a path of SVG. */
export function pathData(path: Path, scales: Scales): string {
  const parts: string[] = []
  let last = ['', '']
  const add = (letter: 'M' | 'L') => (x: number, y: number) => {
    const place = [oneDecimal(x), oneDecimal(y)]
    // A horizontal or vertical part needs only one number, which halves the picture.
    if (letter === 'L' && place[1] === last[1]) parts.push(`H${place[0]}`)
    else if (letter === 'L' && place[0] === last[0]) parts.push(`V${place[1]}`)
    else parts.push(`${letter}${place.join(' ')}`)
    last = place
  }
  path({ moveTo: add('M'), lineTo: add('L') }, scales)
  return parts.join('')
}

/** The positions of instants in a drawing, and its right border. An axis for another unit is beside that. */
export function horizontalScale(
  { from, to }: Pick<Drawing, 'from' | 'to'>,
  { width, side }: Pick<Frame, 'width' | 'side'>,
  hasOtherAxis: boolean,
) {
  const right = hasOtherAxis ? width - side : width
  const x = (at: number): number => side + ((Math.min(Math.max(at, from), to) - from) / (to - from)) * (right - side)
  return { x, right }
}

/** The room at the right that the text of a mark needs; else it is at the left of its line. */
const ROOM_FOR_MARK = 60

/** The positions of values on an axis, with its round numbers: none without a value. */
interface ValueScale extends Scales {
  readonly ticks: readonly number[]
}

/** The places of instants and values in a drawing. */
interface Layout {
  readonly frame: Frame
  readonly x: Scales['x']
  /** The right border, beside which an axis for another unit is. */
  readonly right: number
  readonly main: ValueScale
  readonly other: ValueScale
}

/** Places the lines of a drawing in a frame. */
function layOut(drawing: Drawing, frame: Frame): Layout {
  const { x, right } = horizontalScale(drawing, frame, drawing.hasOtherAxis)
  const { height, top, bottom } = frame
  const createScale = (isOther: boolean): ValueScale => {
    const range = joinValueRanges(drawing.lines.filter((line) => line.isOther === isOther))
    const { low, high } = range ?? { low: -1, high: 1 }
    const y = (value: number): number => top + (1 - (value - low) / (high - low)) * (height - top - bottom)
    return { ticks: range ? roundTicks(low, high) : [], x, y }
  }
  return { frame, x, right, main: createScale(false), other: createScale(true) }
}

/** A text at a position; its anchor is `start` unless it is stated. */
function label(look: Look, left: number | string, baseline: number | string, text: string, anchor?: 'middle' | 'end') {
  const anchored = anchor && html` text-anchor="${anchor}"`
  return html`<text${look.text} x="${left}" y="${baseline}"${anchored}>${text}</text>`
}

/** Draws the axes of values and of time. */
function drawAxes(drawing: Drawing, { frame, x, right, main, other }: Layout, look: Look, locale: string): HtmlPart[] {
  const { unit, otherUnit } = drawing
  const { width, height, side, top, bottom } = frame
  const rule = (path: string): Html => html`<path${look.rule} d="${path}"/>`
  const number = (tick: number): string => tick.toLocaleString(locale)
  const mainTicks = main.ticks.map((tick) => {
    const level = main.y(tick)
    const text = label(look, side - 6, oneDecimal(level + 4), number(tick), 'end')
    return [rule(`M${side} ${oneDecimal(level)}H${right}`), text]
  })
  const otherTicks = other.ticks.map((tick) => label(look, right + 6, oneDecimal(other.y(tick) + 4), number(tick)))
  const timeAxis = drawing.ticks.map(({ at, label: text }) => {
    const anchor = x(at) > right - 30 ? 'end' : 'middle'
    const place = oneDecimal(x(at))
    return [rule(`M${place} ${height - bottom}v5`), label(look, place, height - 4, text, anchor)]
  })
  return [
    unit && label(look, 0, top - 10, unit),
    mainTicks,
    otherUnit && label(look, width, top - 10, otherUnit, 'end'),
    otherTicks,
    timeAxis,
  ]
}

/** Draws instants with a text beside a dotted line. */
const drawMarks = (marks: Drawing['marks'], { frame, x, right }: Layout, look: Look): HtmlPart =>
  marks.map(({ at, text }) => {
    const { height, top, bottom } = frame
    const isAtEnd = x(at) > right - ROOM_FOR_MARK
    const beside = oneDecimal(x(at) + (isAtEnd ? -4 : 4))
    const path = html`<path ${look.mark} d="M${oneDecimal(x(at))} ${top}V${height - bottom}"/>`
    return [path, label(look, beside, top + 10, text, isAtEnd ? 'end' : undefined)]
  })

/** Draws axes, shaded intervals and lines. */
export function draw(drawing: Drawing, frame: Frame, look: Look, locale: string): Html {
  const { lines, states, marks, hints } = drawing
  const { height, side, top, bottom } = frame
  const layout = layOut(drawing, frame)
  const { x, right, main, other } = layout
  const line = ({ style, isOther, stroke, fill, bars }: ChartShape): HtmlPart => {
    const scales = isOther ? other : main
    return [
      fill && html`<path ${look.band(style)} d="${pathData(fill, scales)}"/>`,
      bars && html`<path ${look.bar(style)} d="${pathData(bars, scales)}"/>`,
      stroke && html`<path ${look.line(style)} d="${pathData(stroke, scales)}"/>`,
    ]
  }
  /** The place of an interval over the whole height. */
  const fullHeight = (begin: number, end: number): Html => {
    const size = html`width="${oneDecimal(Math.max(1, x(end) - x(begin)))}" height="${height - top - bottom}"`
    return html`x="${oneDecimal(x(begin))}" y="${top}" ${size}`
  }
  const shaded = states.map(([begin, end, state]) => html`<rect ${look.state(state)} ${fullHeight(begin, end)}/>`)
  const hasBars = lines.some(({ bars }) => bars)
  const zero = hasBars && html`<path ${look.zero} d="M${side} ${oneDecimal(main.y(0))}H${right}"/>`
  const hintAreas = hints.map(
    ({ from, to, text }) => html`<rect fill="transparent" ${fullHeight(from, to)}><title>${text}</title></rect>`,
  )
  return html`<g${look.axes}>${drawAxes(drawing, layout, look, locale)}</g>
${shaded}
${lines.map(line)}${zero}
${drawMarks(marks, layout, look)}
${hintAreas}`
}

/** Bars of names, one below the other, each with its values in words. */
export interface NamedBars {
  readonly bars: readonly {
    readonly text: string
    readonly values: readonly { readonly style: string; readonly value: number }[]
  }[]
  readonly valueRange: ValueRange
}

const NAME_HEIGHT = 24
const BAR_HEIGHT = 10
const BAR_GAP = 6

/** Draws the bars of names from zero to the right; returns the height, too. */
export function drawNames({ bars, valueRange: { low, high } }: NamedBars, width: number, look: Look) {
  const x = (value: number): number => ((value - low) / (high - low)) * width
  let top = 0
  const drawn = bars.map(({ text, values }): HtmlPart => {
    const begin = top + NAME_HEIGHT
    top = begin + values.length * BAR_HEIGHT + BAR_GAP
    const rectangles = values.map(({ style, value }, i) => {
      const place = html`x="${oneDecimal(Math.min(x(0), x(value)))}" y="${begin + i * BAR_HEIGHT}"`
      const barWidth = oneDecimal(Math.max(1, Math.abs(x(value) - x(0))))
      return html`<rect ${look.bar(style)} ${place} width="${barWidth}" height="${BAR_HEIGHT - 1}"/>`
    })
    return html`<text${look.text} x="0" y="${begin - 5}">${text}</text>${rectangles}
`
  })
  const axis = html`<path${look.rule} d="M${oneDecimal(x(0))} 0V${top}"/>`
  return { height: top, body: html`<g${look.axes}>${axis}${drawn}</g>` }
}
