import { width } from './width.ts'

/** Cells that a text may take when nobody knows how wide the place is where it is read: it fits a small terminal and a mail. */
const NARROW = 60

/** Cells of a line: what the terminal has, else what COLUMNS says. */
export function cellsOfLine(): number {
  const columns = process.stdout.columns ?? Number(process.env.COLUMNS)
  return Number.isInteger(columns) && columns >= NARROW ? columns : NARROW
}

/** A word in pieces of so many cells, broken after what separates the parts of an address where there is such. */
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

/** A text in lines of so many cells, each after an indent; nothing of it is cut. The first line may begin with something else. */
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
