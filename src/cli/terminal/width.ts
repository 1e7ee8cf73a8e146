import { createRequire } from 'node:module'

/** Letters and punctuation of Latin languages, each a cell wide: most texts are made of them, and the library takes a hundred times as long. */
const isNarrow = (text: string): boolean => /^[ -~\u00a1-\u00ac\u00ae-\u024f\u2010-\u2027─]*$/.test(text)

let loadedWidth: { readonly width: (text: string) => number; readonly letters: Intl.Segmenter } | undefined

/** What knows all letters that there are; loaded for the first text that has others, which is slow. */
function unicode(): NonNullable<typeof loadedWidth> {
  if (!loadedWidth) {
    const { default: width } = createRequire(import.meta.url)('string-width') as typeof import('string-width')
    loadedWidth = { width, letters: new Intl.Segmenter() }
  }
  return loadedWidth
}

/** Cells that a text takes on a terminal: two for a wide letter, none for a combining mark. */
export const width = (text: string): number => (isNarrow(text) ? text.length : unicode().width(text))

/** The longest beginning of a text that takes no more than a number of cells; a letter stays together with its combining marks. */
export function beginning(text: string, cells: number): string {
  if (isNarrow(text)) return text.slice(0, Math.max(0, cells))
  let end = 0
  let used = 0
  for (const { segment } of unicode().letters.segment(text)) {
    used += width(segment)
    if (used > cells) break
    end += segment.length
  }
  return text.slice(0, end)
}

/** Shortens a text to a number of cells, with an ellipsis. */
export const cutTo = (text: string, cells: number): string =>
  width(text) <= cells ? text : `${beginning(text, cells - 1)}…`
