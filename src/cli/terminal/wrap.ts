import { beginning, width } from './width.ts'

/** The width in cells where none is known: it fits a small terminal and a mail. */
const NARROW = 60

/** Cells of a line: of the terminal, else of COLUMNS. */
export function cellsOfLine(): number {
  const columns = process.stdout.columns ?? Number(process.env.COLUMNS)
  return Number.isInteger(columns) && columns >= NARROW ? columns : NARROW
}

/** A long word in pieces of at most a number of cells, broken after separators of addresses where possible. */
function pieces(word: string, cells: number): string[] {
  const found: string[] = []
  for (let rest = word; ; ) {
    const fits = beginning(rest, cells)
    if (fits.length === rest.length) return [...found, rest]
    const at = fits.search(/[&?,;/][^&?,;/]*$/) + 1
    // Where not even one letter fits, a line has it all the same.
    const end = at > 1 ? at : fits.length || 2
    found.push(rest.slice(0, end))
    rest = rest.slice(end)
  }
}

/** A text in lines of at most a number of cells; nothing is cut. */
function wrapLines(text: string, cells: number): string[] {
  const lines: string[] = []
  for (const word of text.split(/\s+/).flatMap((one) => pieces(one, cells))) {
    const last = lines.at(-1)
    if (last !== undefined && width(last) + 1 + width(word) <= cells) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}

/** The same, each line with an indent. The first line may begin with something else. */
export const wrapped = (text: string, cells: number, indent = '', first = indent): string =>
  wrapLines(text, cells - indent.length)
    .map((line, i) => `${i === 0 ? first : indent}${line}`)
    .join('\n')
