import { createRequire } from 'node:module'

/** Whether every character is one cell wide. Most texts are Latin, and the library takes a hundred times as long. */
const isNarrow = (text: string): boolean => /^[ -~\u00a1-\u00ac\u00ae-\u024f\u2010-\u2027─]*$/.test(text)

// Both take milliseconds to create, and most commands need neither.
let graphemes: Intl.Segmenter | undefined
let stringWidth: ((text: string) => number) | undefined

/** Returns the cells of a text on a terminal: two for a wide letter, none for a combining mark. */
export function width(text: string): number {
  if (isNarrow(text)) return text.length
  stringWidth ??= (createRequire(import.meta.url)('string-width') as typeof import('string-width')).default
  return stringWidth(text)
}

/** Returns the longest beginning of a text within some cells; a letter stays with its combining marks. */
function beginning(text: string, cells: number): string {
  if (isNarrow(text)) return text.slice(0, Math.max(0, cells))
  graphemes ??= new Intl.Segmenter()
  let end = 0
  let used = 0
  for (const { segment } of graphemes.segment(text)) {
    used += width(segment)
    if (used > cells) break
    end += segment.length
  }
  return text.slice(0, end)
}

/** Shortens a text to some cells, with an ellipsis. */
export const cutTo = (text: string, cells: number): string =>
  width(text) <= cells ? text : `${beginning(text, cells - 1)}…`

/** The default width in cells: it fits a small terminal and a mail. */
const DEFAULT_WIDTH = 60

/** Returns the cells of a line: of the terminal, else of COLUMNS. */
export function lineWidth(): number {
  const columns = process.stdout.columns ?? Number(process.env.COLUMNS)
  return Number.isInteger(columns) && columns >= DEFAULT_WIDTH ? columns : DEFAULT_WIDTH
}

/** Splits a long word into pieces, after separators of addresses if possible. */
function splitWord(word: string, cells: number): string[] {
  const piece = beginning(word, cells)
  if (piece.length === word.length) return [word]
  const separator = piece.search(/[&?,;/][^&?,;/]*$/) + 1
  // A line has at least one letter, even if it does not fit.
  const end = separator > 1 ? separator : piece.length || 2
  return [word.slice(0, end), ...splitWord(word.slice(end), cells)]
}

/** Wraps a text to lines of some cells with an indent; `first` replaces the indent of the first line. Cuts nothing. */
export function wrapText(text: string, cells: number, indent = '', first = indent): string {
  const room = cells - indent.length
  const lines: string[] = []
  for (const word of text.split(/\s+/).flatMap((whole) => splitWord(whole, room))) {
    const last = lines.at(-1)
    if (last !== undefined && width(last) + 1 + width(word) <= room) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines.map((line, i) => `${i === 0 ? first : indent}${line}`).join('\n')
}
