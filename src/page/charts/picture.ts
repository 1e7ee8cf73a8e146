import { oneLine } from '../../util/text.ts'
import { type Html, type HtmlPart, html, htmlText } from '../html.ts'
import { CHART_LINES } from '../style.ts'
import { type Frame, type Look, oneDecimal } from './drawing.ts'

/* A chart as an SVG file for reports: on white, with its title, legend and source. It needs no style sheet. */

/** What a sample of the legend shows, with its text. */
export interface LegendEntry {
  readonly sample: 'line' | 'bar' | 'band' | 'state'
  readonly style: string
  readonly text: string
}

/** A picture: what is drawn, and the texts around it. */
export interface Picture {
  readonly title: string
  /** Unit, range and moment, below the title. */
  readonly facts: readonly string[]
  readonly legend: readonly LegendEntry[]
  readonly body: Html
  readonly bodyHeight: number
  /** Where the data is from, and when it was drawn. */
  readonly source: readonly string[]
}

const WIDTH = 960
const MARGIN = 24
/** The size of the drawing inside of a picture. */
export const PICTURE_FRAME: Frame = { width: WIDTH - 2 * MARGIN, height: 400, side: 64, top: 26, bottom: 26 }

const INK = '#16201c'
const SOFT = '#56625c'
const RULE = '#dbe0dc'
/** Pixels that a letter takes, by the size of the font; fonts differ. */
const LETTER = 0.54
const ROW = 20
const FACT_ROW = 18

/** The colours of shaded states, with the distance of their stripes. */
const STATE_COLOURS: Readonly<Record<string, readonly [colour: string, stripe: number]>> = {
  provisional: ['#2f6fb3', 10],
  empty: ['#6b727a', 0],
  failed: ['#b3261e', 4],
  unfinished: [INK, 6],
}
const OTHER_STATE = ['#9a5b00', 6] as const

const findLine = (style: string) => CHART_LINES.find(([name]) => style.split(' ').includes(name)) ?? CHART_LINES[0]
const isFaint = (style: string): boolean => style.split(' ').includes('faint')

/** The look of pictures: colours that are readable on white, in attributes. */
export const ON_WHITE: Look = {
  axes: html``,
  rule: html` fill="none" stroke="${RULE}"`,
  text: html` font-size="12" fill="${SOFT}"`,
  mark: html`fill="none" stroke="${INK}" stroke-dasharray="2 3"`,
  zero: html`fill="none" stroke="${INK}" stroke-width="0.5"`,
  state: (state) => html`fill="url(#state-${state})"`,
  line(style) {
    const [, colour, , dashes] = findLine(style)
    const [width, opacity] = isFaint(style) ? [1, 0.6] : [1.75, 1]
    const stroke = html`stroke="${colour}" stroke-width="${width}" stroke-opacity="${opacity}"`
    return html`fill="none" ${stroke} stroke-linejoin="round" stroke-dasharray="${dashes.join(' ') || 'none'}"`
  },
  bar: (style) => html`fill="${findLine(style)[1]}"`,
  band: (style) => html`fill="${findLine(style)[1]}" fill-opacity="${isFaint(style) ? 0.1 : 0.2}"`,
}

/** The stripes of a state, so that its colour is not its only sign. */
function pattern(state: string): Html {
  const [colour, stripe] = STATE_COLOURS[state] ?? OTHER_STATE
  const side = Math.max(stripe, 1)
  const size = html`width="${side}" height="${side}"`
  const units = html`patternUnits="userSpaceOnUse" patternTransform="rotate(45)"`
  const ground = html`<rect ${size} fill="${colour}" fill-opacity=".12"/>`
  const line = stripe > 0 && html`<path d="M0 0V${side}" stroke="${colour}" stroke-opacity=".5"/>`
  return html`<pattern id="state-${state}" ${size} ${units}>${ground}${line}</pattern>`
}

/** A text of one line, cut if it is longer than a width. */
function fitting(text: string, width: number, fontSize: number): string {
  const letters = [...oneLine(text)]
  const most = Math.floor(width / (LETTER * fontSize))
  return letters.length <= most ? letters.join('') : `${letters.slice(0, most - 1).join('')}…`
}

/** Joins facts to lines that fit. */
function layFacts(facts: readonly string[], width: number, fontSize: number): string[] {
  const rows: string[] = []
  for (const fact of facts) {
    const longer = `${rows.at(-1)} · ${fact}`
    if (rows.length > 0 && longer.length * LETTER * fontSize <= width) rows[rows.length - 1] = longer
    else rows.push(fact)
  }
  return rows.map((row) => fitting(row, width, fontSize))
}

/** Places the entries of a legend in rows. */
function layLegend(entries: readonly LegendEntry[]) {
  let x = 0
  let row = 0
  const placed = entries.map((entry) => {
    const text = fitting(entry.text, PICTURE_FRAME.width - 60, 12)
    const width = 32 + LETTER * 12 * text.length + 20
    if (x > 0 && x + width > PICTURE_FRAME.width) {
      x = 0
      row++
    }
    const place = { ...entry, text, x, y: row * ROW }
    x += width
    return place
  })
  return { placed, height: entries.length === 0 ? 0 : (row + 1) * ROW }
}

const sample = ({ sample: kind, style }: LegendEntry): HtmlPart =>
  kind === 'line'
    ? html`<path ${ON_WHITE.line(style)} d="M0 -4H24"/>`
    : html`<rect ${ON_WHITE[kind](style)} y="-10" width="24" height="12"/>`

/** Draws a picture as a document of SVG. */
export function pictureText({ title, facts, legend, body, bodyHeight, source }: Picture, language: string): string {
  const { width } = PICTURE_FRAME
  const { placed, height: legendHeight } = layLegend(legend)
  const states = legend.flatMap(({ sample: kind, style }) => (kind === 'state' ? [style] : []))
  const heading = fitting(title, width, 18)
  const below = layFacts(facts, width, 13)
  const legendTop = MARGIN + 62 + Math.max(0, below.length - 1) * FACT_ROW
  const bodyTop = legendTop + legendHeight
  const sourceTop = bodyTop + bodyHeight + 28
  const height = sourceTop + source.length * 17 + 8
  const size = html`width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}"`
  const names = html`lang="${language}" role="img" aria-labelledby="title facts"`
  const whole = (text: string): string => fitting(text, Number.POSITIVE_INFINITY, 1)
  const factRows = below.map(
    (row, i) => html`<text y="${MARGIN + 38 + i * FACT_ROW}" font-size="13" fill="${SOFT}">${row}</text>\n`,
  )
  const legendEntries = placed.map((entry) => {
    const text = html`<text x="32" font-size="12" fill="${INK}">${entry.text}</text>`
    const place = `translate(${oneDecimal(entry.x)} ${legendTop + entry.y})`
    return html`<g transform="${place}">${sample(entry)}${text}</g>\n`
  })
  const sourceRows = source.map(
    (text, i) =>
      html`<text y="${sourceTop + i * 17}" font-size="11" fill="${SOFT}">${fitting(text, width, 11)}</text>\n`,
  )
  const document = html`<svg xmlns="http://www.w3.org/2000/svg" ${size} ${names} font-family="Helvetica, Arial, sans-serif">
<title id="title">${whole(title)}</title>
<desc id="facts">${[...facts, ...source].map(whole).join(' · ')}</desc>
<defs>${states.map(pattern)}</defs>
<rect width="${WIDTH}" height="${height}" fill="#fff"/>
<g transform="translate(${MARGIN} 0)">
<text y="${MARGIN + 16}" font-size="18" font-weight="bold" fill="${INK}">${heading}</text>
${factRows}${legendEntries}
<g transform="translate(0 ${bodyTop})">${body}</g>
${sourceRows}
</g>
</svg>
`
  // XML permits fewer characters than HTML.
  return htmlText(document).replaceAll(/[\ufffe\uffff]/g, '\ufffd')
}
