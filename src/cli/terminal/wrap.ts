import { width } from './width.ts'

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
  let rest = word
  while (rest.length > cells) {
    const at = rest.slice(0, cells).search(/[&?,;/][^&?,;/]*$/) + 1
    const end = at > 1 ? at : cells
    found.push(rest.slice(0, end))
    rest = rest.slice(end)
  }
  return [...found, rest]
}

/** A text wrapped to lines of a number of cells, each with an indent; nothing is cut. The first line may begin with something else. */
export function wrapped(text: string, cells: number, indent = '', first = indent): string {
  const room = cells - indent.length
  const lines: string[] = []
  for (const word of text.split(/\s+/).flatMap((one) => pieces(one, room))) {
    const last = lines.at(-1)
    if (last !== undefined && width(last) + 1 + width(word) <= room) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines.map((line, i) => `${i === 0 ? first : indent}${line}`).join('\n')
}
