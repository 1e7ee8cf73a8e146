/** In a table of cells, Tab reaches one cell and the arrow keys the others, so that a year is not 365 stops. */

const MOVES: Readonly<Record<string, readonly [row: number, column: number]>> = {
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
}

/** The link that a key leads to from a cell: the next one on its way, or the first or last of the row. */
function target(grid: HTMLTableSectionElement, cell: HTMLTableCellElement, key: string): HTMLElement | undefined {
  const row = cell.parentElement as HTMLTableRowElement
  if (key === 'Home' || key === 'End') return [...row.querySelectorAll('a')].at(key === 'Home' ? 0 : -1)
  const [down, right] = MOVES[key]!
  let [r, c] = [row.sectionRowIndex + down, cell.cellIndex + right]
  for (; grid.rows[r]?.cells[c]; r += down, c += right) {
    const link = grid.rows[r]!.cells[c]!.querySelector<HTMLElement>('td > a')
    if (link) return link
  }
  return undefined
}

function enhance(grid: HTMLTableSectionElement): void {
  const choose = (chosen: HTMLElement): void => {
    for (const link of grid.querySelectorAll('a')) link.tabIndex = link === chosen ? 0 : -1
  }
  const last = [...grid.querySelectorAll('a')].at(-1)
  if (last) choose(last)
  grid.addEventListener('keydown', (event) => {
    const { key, ctrlKey, metaKey, altKey } = event
    const cell = (event.target as HTMLElement).closest('td')
    if (!cell || ctrlKey || metaKey || altKey || !(key in MOVES || key === 'Home' || key === 'End')) return
    event.preventDefault()
    const to = target(grid, cell, key)
    if (!to) return
    choose(to)
    to.focus()
  })
}

const enhanced = new WeakSet<HTMLElement>()
const enhanceAll = (): void => {
  for (const grid of document.querySelectorAll<HTMLTableSectionElement>('[data-grid]')) {
    if (!enhanced.has(grid)) enhance(grid)
    enhanced.add(grid)
  }
}
enhanceAll()
document.addEventListener('page:changed', enhanceAll)

export {}
