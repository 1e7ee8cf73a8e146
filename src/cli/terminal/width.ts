import { createRequire } from 'node:module'

/** Whether every character is one cell wide. Most texts are Latin, and the library takes a hundred times as long. */
const isNarrow = (text: string): boolean => /^[ -~\u00a1-\u00ac\u00ae-\u024f\u2010-\u2027─]*$/.test(text)

const letters = new Intl.Segmenter()
let stringWidth: ((text: string) => number) | undefined

/** Returns the cells of a text on a terminal: two for a wide letter, none for a combining mark. */
export function width(text: string): number {
  if (isNarrow(text)) return text.length
  // Loading it is slow.
  stringWidth ??= (createRequire(import.meta.url)('string-width') as typeof import('string-width')).default
  return stringWidth(text)
}

/** Returns the longest beginning of a text within some cells; a letter stays with its combining marks. */
export function beginning(text: string, cells: number): string {
  if (isNarrow(text)) return text.slice(0, Math.max(0, cells))
  let end = 0
  let used = 0
  for (const { segment } of letters.segment(text)) {
    used += width(segment)
    if (used > cells) break
    end += segment.length
  }
  return text.slice(0, end)
}

/** Shortens a text to some cells, with an ellipsis. */
export const cutTo = (text: string, cells: number): string =>
  width(text) <= cells ? text : `${beginning(text, cells - 1)}…`
