/** In a table of cells, Tab reaches one cell and the arrow keys the others, so that a year is not 365 stops. */

const cellsOf = (row: HTMLElement): (HTMLAnchorElement | null)[] =>
  [...row.querySelectorAll('td')].map((cell) => cell.querySelector('a'))

const MOVES: Readonly<Record<string, readonly [row: number, column: number]>> = {
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  Home: [0, Number.NEGATIVE_INFINITY],
  End: [0, Number.POSITIVE_INFINITY],
}

/** The next cell with a link from a place on; null where there is none. */
function next(
  rows: (HTMLAnchorElement | null)[][],
  row: number,
  column: number,
  [down, right]: readonly [number, number],
): HTMLAnchorElement | null {
  if (right === Number.NEGATIVE_INFINITY) return rows[row]!.find((cell) => cell !== null) ?? null
  if (right === Number.POSITIVE_INFINITY) return rows[row]!.findLast((cell) => cell !== null) ?? null
  for (let r = row + down, c = column + right; rows[r] && c >= 0 && c < rows[r]!.length; r += down, c += right)
    if (rows[r]![c]) return rows[r]![c]!
  return null
}

function enhance(grid: HTMLElement): void {
  const links = (): HTMLAnchorElement[] => [...grid.querySelectorAll('a')]
  const choose = (chosen: HTMLAnchorElement): void => {
    for (const link of links()) link.tabIndex = link === chosen ? 0 : -1
  }
  const first = links().at(-1)
  if (first) choose(first)
  grid.addEventListener('keydown', (event) => {
    const move = MOVES[event.key]
    const link = (event.target as HTMLElement).closest('a')
    if (!move || !link || event.ctrlKey || event.metaKey || event.altKey) return
    const rows = [...grid.querySelectorAll('tr')].map(cellsOf)
    const row = rows.findIndex((cells) => cells.includes(link))
    const to = next(rows, row, rows[row]!.indexOf(link), move)
    event.preventDefault()
    if (!to) return
    choose(to)
    to.focus()
  })
}

const enhanced = new WeakSet<HTMLElement>()
const enhanceAll = (): void => {
  for (const grid of document.querySelectorAll<HTMLElement>('[data-grid]')) {
    if (!enhanced.has(grid)) enhance(grid)
    enhanced.add(grid)
  }
}
enhanceAll()
document.addEventListener('page:changed', enhanceAll)

export {}
