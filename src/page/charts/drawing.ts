import type { Pen, Scales } from '../client/segments.ts'
import { type Html, type HtmlPart, html } from '../html.ts'

/* How charts are drawn as SVG: on pages, which style them by classes, and as pictures, whose elements have their own colours. */

export type Path = (pen: Pen, scales: Scales) => void

/** A line, a band or bars; `style` is its class and chooses its colour. */
export interface DrawnLine {
  readonly style: string
  /** Whether its unit is not that of the axis at the left; then it has another scale. */
  readonly isOther: boolean
  /** The smallest and the largest number; undefined if it has none. */
  readonly reach: { readonly low: number; readonly high: number } | undefined
  readonly stroke?: Path
  readonly fill?: Path
  readonly bars?: Path
}

/** A chart over a horizontal axis of instants or other numbers. */
export interface Drawing {
  readonly from: number
  readonly to: number
  readonly ticks: readonly { readonly at: number; readonly label: string }[]
  readonly lines: readonly DrawnLine[]
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
  // Added up, tenths would not stay tenths.
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, i) =>
    Number(((first + i) * step).toPrecision(12)),
  )
}

/** The part of the range of values that is free above and below them. */
const HEADROOM = 0.05

/** Joins the ranges of lines, with room for their ends; a range without a length gets one. Bars begin at the border. */
function joinReach(lines: readonly Pick<DrawnLine, 'reach' | 'bars'>[]) {
  const known = lines.flatMap(({ reach }) => reach ?? [])
  if (known.length === 0) return undefined
  const low = Math.min(...known.map((reach) => reach.low))
  const high = Math.max(...known.map((reach) => reach.high))
  // One is nothing beside a large number.
  const room = low === high ? Math.max(1, Math.abs(low) * HEADROOM) : (high - low) * HEADROOM
  const isBorder = (value: number): boolean => low !== high && value === 0 && lines.some(({ bars }) => bars)
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

/** Draws axes, shaded intervals and lines. */
export function draw(drawing: Drawing, frame: Frame, look: Look, locale: string): Html {
  const { ticks, lines, unit, otherUnit, hasOtherAxis, states, marks, hints } = drawing
  const { width, height, side, top, bottom } = frame
  const { x, right } = horizontalScale(drawing, frame, hasOtherAxis)
  const createScale = (isOther: boolean) => {
    const reach = joinReach(lines.filter((line) => line.isOther === isOther))
    const { low, high } = reach ?? { low: -1, high: 1 }
    const y = (value: number): number => top + (1 - (value - low) / (high - low)) * (height - top - bottom)
    return { ticks: reach ? roundTicks(low, high) : [], x, y }
  }
  const main = createScale(false)
  const other = createScale(true)
  const number = (tick: number): string => tick.toLocaleString(locale)
  const line = ({ style, isOther, stroke, fill, bars }: DrawnLine): HtmlPart => {
    const scales = isOther ? other : main
    return [
      fill && html`<path ${look.band(style)} d="${pathData(fill, scales)}"/>`,
      bars && html`<path ${look.bar(style)} d="${pathData(bars, scales)}"/>`,
      stroke && html`<path ${look.line(style)} d="${pathData(stroke, scales)}"/>`,
    ]
  }
  return html`<g${look.axes}>${unit && html`<text${look.text} x="0" y="${top - 10}">${unit}</text>`}${main.ticks.map(
    (tick) =>
      html`<path${look.rule} d="M${side} ${oneDecimal(main.y(tick))}H${right}"/><text${look.text} x="${side - 6}" y="${oneDecimal(main.y(tick) + 4)}" text-anchor="end">${number(tick)}</text>`,
  )}${otherUnit && html`<text${look.text} x="${width}" y="${top - 10}" text-anchor="end">${otherUnit}</text>`}${other.ticks.map(
    (tick) => html`<text${look.text} x="${right + 6}" y="${oneDecimal(other.y(tick) + 4)}">${number(tick)}</text>`,
  )}${ticks.map(
    ({ at, label: text }) =>
      html`<path${look.rule} d="M${oneDecimal(x(at))} ${height - bottom}v5"/><text${look.text} x="${oneDecimal(x(at))}" y="${height - 4}" text-anchor="${x(at) > right - 30 ? 'end' : 'middle'}">${text}</text>`,
  )}</g>
${states.map(
  ([begin, end, state]) =>
    html`<rect ${look.state(state)} x="${oneDecimal(x(begin))}" y="${top}" width="${oneDecimal(Math.max(1, x(end) - x(begin)))}" height="${height - top - bottom}"/>`,
)}
${lines.map(line)}${lines.some(({ bars }) => bars) && html`<path ${look.zero} d="M${side} ${oneDecimal(main.y(0))}H${right}"/>`}
${marks.map(({ at, text }) => {
  const isAtEnd = x(at) > right - ROOM_FOR_MARK
  return html`<path ${look.mark} d="M${oneDecimal(x(at))} ${top}V${height - bottom}"/><text${look.text} x="${oneDecimal(x(at) + (isAtEnd ? -4 : 4))}" y="${top + 10}"${isAtEnd && html` text-anchor="end"`}>${text}</text>`
})}
${hints.map(
  ({ from: begin, to: end, text }) =>
    html`<rect fill="transparent" x="${oneDecimal(x(begin))}" y="${top}" width="${oneDecimal(Math.max(1, x(end) - x(begin)))}" height="${height - top - bottom}"><title>${text}</title></rect>`,
)}`
}

/** Bars of names, one below the other, each with its values in words. */
export interface NamedBars {
  readonly bars: readonly {
    readonly text: string
    readonly values: readonly { readonly style: string; readonly value: number }[]
  }[]
  readonly reach: { readonly low: number; readonly high: number }
}

const NAME_HEIGHT = 24
const BAR_HEIGHT = 10
const BAR_GAP = 6

/** Draws the bars of names from zero to the right; returns the height, too. */
export function drawNames({ bars, reach: { low, high } }: NamedBars, width: number, look: Look) {
  const x = (value: number): number => ((value - low) / (high - low)) * width
  let top = 0
  const drawn = bars.map(({ text, values }): HtmlPart => {
    const begin = top + NAME_HEIGHT
    top = begin + values.length * BAR_HEIGHT + BAR_GAP
    return html`<text${look.text} x="0" y="${begin - 5}">${text}</text>${values.map(
      ({ style, value }, i) =>
        html`<rect ${look.bar(style)} x="${oneDecimal(Math.min(x(0), x(value)))}" y="${begin + i * BAR_HEIGHT}" width="${oneDecimal(Math.max(1, Math.abs(x(value) - x(0))))}" height="${BAR_HEIGHT - 1}"/>`,
    )}
`
  })
  const axis = html`<path${look.rule} d="M${oneDecimal(x(0))} 0V${top}"/>`
  return { height: top, body: html`<g${look.axes}>${axis}${drawn}</g>` }
}
