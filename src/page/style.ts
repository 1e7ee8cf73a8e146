import { readFileSync } from 'node:fs'
import { SIGNS } from './client/format.ts'

/*
 * The style sheet of all pages: the files of `styles`, after rules for each state and each line of charts. Each state has a sign and a
 * height in addition to its colour.
 */

const FOLDER = new URL('./styles/', import.meta.url)

/** The files in their order: a later rule replaces an earlier one of the same weight. */
const FILES = ['theme.css', 'base.css', 'coverage.css', 'lists.css', 'chart.css', 'screens.css']

/** The sign of a state as the content of an element, without a text for screen readers. */
const signContent = (sign: string): string =>
  sign === '' ? 'content: none;' : `content: "${sign}"; content: "${sign}" / "";`

/** The colour of each state. In a table, the sign replaces the words, which stay for screen readers. */
const STATE_RULES = Object.entries(SIGNS).map(
  ([state, sign]) => `
.cell.${state}, .grid td.${state} { background: var(--${state}); }
.grid td.${state} > ::before { ${signContent(sign)} }
rect.${state} { fill: var(--${state}); }
.state-${state} { fill: var(--state-${state}); color: var(--state-${state}); }`,
)

/** The lines of charts: their colours in both schemes, and their dashes, for readers who do not see all colours. */
export const CHART_LINES = [
  ['now', '#0b57a4', '#8ab8f0', []],
  ['then', '#a34700', '#f0a860', []],
  ['with-0', '#8f1d5c', '#f08cc0', []],
  ['with-1', '#0c7d69', '#90d7af', [6, 2]],
  ['with-2', '#7b2a8c', '#c39ad0', [2, 2]],
  ['with-3', '#8a6a00', '#f4cc45', [10, 2, 2, 2]],
  ['with-4', '#2b343c', '#e9eef0', [12, 4]],
  ['difference', '#5b6f7c', '#9fb4c0', []],
] as const

/** The dashes of a line as the background of its sample. */
function sampleStops(dashes: readonly number[]): string {
  let end = 0
  const stops = (dashes.length === 0 ? [1] : dashes).map((length, i) => {
    const from = end
    end += length
    return `${i % 2 === 0 ? 'currentColor' : '#0000'} ${from}px ${end}px`
  })
  return stops.join(', ')
}

const CHART_RULES = CHART_LINES.map(([name, light, dark, dashes]) => {
  const dash = dashes.join(' ') || 'none'
  const samples = ['.legend', '.tip', '.strips'].map((place) => `${place} .${name}::before`)
  return `
:root {
  --chart-${name}: light-dark(${light}, ${dark});
  --chart-${name}-band: light-dark(${light}33, ${dark}33);
  --chart-${name}-dash: ${dash};
}
${samples.join(', ')} {
  color: var(--chart-${name});
  background: repeating-linear-gradient(90deg, ${sampleStops(dashes)});
}
.figure .line.${name} { stroke: var(--chart-${name}); stroke-dasharray: ${dash}; }
.figure .band.${name} { fill: var(--chart-${name}-band); }
.figure .bar.${name} { fill: var(--chart-${name}); }
@media (forced-colors: active) {
  :root { --chart-${name}: CanvasText; --chart-${name}-band: GrayText; }
}`
})

/** Colours that scripts read: registered, so that they have the values of the scheme. */
const REGISTERED = [...CHART_LINES.flatMap(([name]) => [`chart-${name}`, `chart-${name}-band`]), 'ink', 'line'].map(
  (name) => `@property --${name} { syntax: '<color>'; inherits: true; initial-value: gray; }`,
)

/** The signs of outcomes: a shape in a colour for light and dark. */
const OUTCOME_SIGNS = [
  ['good', '#2a9365', 'M1 8a7 7 0 1 0 14 0a7 7 0 1 0-14 0M5 8l2 2 4-4'],
  ['warn', '#c47a08', 'M8 1.7 15 14H1zM8 6v3.6M8 12v.1'],
  ['bad', '#df4a42', 'M5.2 1h5.6L15 5.2v5.6L10.8 15H5.2L1 10.8V5.2zM5.8 5.8l4.4 4.4M10.2 5.8l-4.4 4.4'],
  ['star', '#c47a08', 'M8 1.5l2 4.3 4.7.6-3.5 3.2.9 4.7L8 12l-4.1 2.3.9-4.7L1.3 6.4 6 5.8z'],
  ['busy', '#3f83d9', 'M14 8a6 6 0 1 1-2-4.5M12 .8v2.9H9'],
] as const

/** A shape as a picture, without a text for screen readers. */
function signPicture(colour: string, shape: string): string {
  const look = `fill="none" stroke="${colour}" stroke-width="1.7" stroke-linecap="round" stroke-linejoin="round"`
  const size = 'viewBox="0 0 16 16" width="14" height="14"'
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" ${size}><path d="${shape}" ${look}/></svg>`
  return `url("data:image/svg+xml,${encodeURIComponent(svg)}") / ""`
}

const SIGN_VALUES = OUTCOME_SIGNS.map(([name, colour, shape]) => `--sign-${name}: ${signPicture(colour, shape)};`)

/** Removes comments, and spaces beside brackets, commas, colons and semicolons. No text in a style sheet has these. */
const minified = (css: string): string =>
  css
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ?([{};,]) ?/g, '$1')
    .replaceAll(/(?<=\() | (?=\))/g, '')
    .replaceAll(': ', ':')
    .replaceAll(';}', '}')

/** The style of all pages. */
export const STYLE = minified(
  [
    ...STATE_RULES,
    ...CHART_RULES,
    ...REGISTERED,
    `:root { ${SIGN_VALUES.join(' ')} }`,
    ...FILES.map((file) => readFileSync(new URL(file, FOLDER), 'utf8')),
  ].join('\n'),
)
