import type { compile } from 'html-to-text'
import type { RowValues } from '../db/tables/rows.ts'
import { loadPackage } from '../util/package.ts'
import { AS, type Fields } from './fields.ts'
import type { CheckedPart } from './rejects.ts'

const OPTIONS: Parameters<typeof compile>[0] = {
  wordwrap: false,
  selectors: [
    { selector: 'a', options: { ignoreHref: true } },
    { selector: 'img', format: 'skip' },
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, options: { uppercase: false } })),
    { selector: 'table', format: 'dataTable', options: { uppercaseHeaderCells: false } },
  ],
  limits: { maxInputLength: 1_000_000, maxDepth: 60 },
}

let converter: ReturnType<typeof compile> | undefined

/** The converter, loaded for the first text: most answers have values and none. */
const convert = (html: string): string => {
  converter ??= loadPackage<typeof import('html-to-text')>('html-to-text').compile(OPTIONS)
  return converter(html)
}

/** The time of a conversion grows with the square of these; no text for people has more. */
const MOST_TAGS = 10_000
const MOST_CELLS = 2_000
/** How many columns or rows a cell may span: the converter creates all of them. */
const MAX_SPAN = 100

const countMatches = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0

/** Whether a text can be converted in reasonable time. */
function isConvertible(html: string): boolean {
  if (countMatches(html, /<[a-z]/gi) > MOST_TAGS || countMatches(html, /<t[dh]/gi) > MOST_CELLS) return false
  for (const [, span] of html.matchAll(/(?:col|row)span[\s="']{0,5}(\d+)/gi)) if (Number(span) > MAX_SPAN) return false
  return true
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' }

/** The text with each tag replaced by a space, in one pass. */
function stripTags(html: string): string {
  const pieces: string[] = []
  for (let at = 0; at < html.length; ) {
    const open = html.indexOf('<', at)
    const close = open < 0 ? -1 : html.indexOf('>', open)
    pieces.push(html.slice(at, open < 0 || close < 0 ? html.length : open))
    if (close < 0) break
    at = close + 1
  }
  return pieces
    .filter((piece) => piece !== '')
    .join(' ')
    .replaceAll(/&(amp|lt|gt|quot|apos|nbsp);/g, (_, name: string) => ENTITIES[name]!)
}

/** The text of HTML: converted, or only without its tags where the conversion would take too long. */
function convertHtml(html: string): string {
  if (!isConvertible(html)) return stripTags(html)
  try {
    return convert(html)
  } catch (error) {
    // Tags are nested deeper than the stack.
    if (error instanceof RangeError) return stripTags(html)
    throw error
  }
}

/** HTML as readable text: paragraphs on lines of their own, entities as letters, no links, no pictures. */
export const plainText = (html: string): string => convertHtml(html).replaceAll('\u00a0', ' ').trim()

/** A row with the plain text of a column of HTML added as `…_text`. */
export const withPlain = (row: RowValues, column: string): RowValues => {
  const html = row[column]
  return html === undefined ? row : { ...row, [`${column}_text`]: html === null ? null : plainText(String(html)) }
}

const PLAIN_FIELDS = {
  name: ['name', AS.name],
  short_name: ['short_name', AS.text],
  description: ['description', AS.text],
} as const satisfies Fields

/** The texts of an indicator that were sent. */
export const textColumns = (item: CheckedPart): RowValues => withPlain(item.columns(PLAIN_FIELDS), 'description')
