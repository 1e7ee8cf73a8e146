import type { compile } from 'html-to-text'
import type { RowValues } from '../db/tables/rows.ts'
import { loadPackage } from '../util/package.ts'
import { AS, fieldsAs } from './fields.ts'
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

/** The converter, loaded on demand, because most replies have only values. */
const convert = (html: string): string => {
  converter ??= loadPackage<typeof import('html-to-text')>('html-to-text').compile(OPTIONS)
  return converter(html)
}

/** The time of a conversion grows with the square of these. */
const MAX_TAGS = 10_000
const MAX_CELLS = 2_000
/** The converter creates all columns or rows that a cell spans. */
const MAX_SPAN = 100

const countMatches = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0

/** Whether a text can be converted in reasonable time. */
function isConvertible(html: string): boolean {
  if (countMatches(html, /<[a-z]/gi) > MAX_TAGS || countMatches(html, /<t[dh]/gi) > MAX_CELLS) return false
  for (const [, span] of html.matchAll(/(?:col|row)span[\s="']{0,5}(\d+)/gi)) if (Number(span) > MAX_SPAN) return false
  return true
}

/** The text with each tag replaced by a space. */
const stripTags = (html: string): string => html.replaceAll(/<[^<>]*>/g, ' ')

/** Converts HTML, or only removes its tags if the conversion would take too long. */
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

/** Converts HTML to text: paragraphs on separate lines, decoded entities, without links and images. */
export const plainText = (html: string): string => convertHtml(html).replaceAll('\u00a0', ' ').trim()

/** Adds the plain text of a column of HTML to a row, as `…_text`. */
export const withPlain = (row: RowValues, column: string): RowValues => {
  const html = row[column]
  return html === undefined ? row : { ...row, [`${column}_text`]: html === null ? null : plainText(String(html)) }
}

const PLAIN_FIELDS = { ...fieldsAs(AS.name, 'name'), ...fieldsAs(AS.text, 'short_name', 'description') }

/** The sent texts of an indicator. */
export const textColumns = (item: CheckedPart): RowValues => withPlain(item.columns(PLAIN_FIELDS), 'description')
