/** In a table of cells, Tab reaches one cell and the arrow keys the others, so that a year is not 365 stops. */
import { ARROWS } from './format.ts'

/** The link that a key leads to from a cell: the next one in its direction, or the first or last of the row. */
function target(grid: HTMLTableSectionElement, cell: HTMLTableCellElement, key: string): HTMLElement | undefined {
  const row = cell.parentElement as HTMLTableRowElement
  if (key === 'Home' || key === 'End') return [...row.querySelectorAll('a')].at(key === 'Home' ? 0 : -1)
  const [right, down] = ARROWS[key] ?? [0, 0]
  let r = row.sectionRowIndex + down
  let c = cell.cellIndex + right
  for (; (down || right) && grid.rows[r]?.cells[c]; r += down, c += right) {
    const link = grid.rows[r]!.cells[c]!.querySelector<HTMLElement>('td > a')
    if (link) return link
  }
  return undefined
}

/** Makes a link the only tab stop of its grid. */
function choose(grid: HTMLTableSectionElement, chosen: HTMLElement | undefined): void {
  for (const link of grid.querySelectorAll('a')) link.tabIndex = link === chosen ? 0 : -1
}

document.addEventListener('keydown', (event) => {
  const cell = (event.target as HTMLElement).closest('td')
  const grid = cell?.closest<HTMLTableSectionElement>('[data-grid]')
  if (!cell || !grid || event.ctrlKey || event.metaKey || event.altKey) return
  if (event.key in ARROWS || event.key === 'Home' || event.key === 'End') event.preventDefault()
  const to = target(grid, cell, event.key)
  if (!to) return
  choose(grid, to)
  to.focus()
})

const prepare = (): void => {
  for (const grid of document.querySelectorAll<HTMLTableSectionElement>('[data-grid]'))
    if (!grid.querySelector('a[tabindex="0"]')) choose(grid, [...grid.querySelectorAll('a')].at(-1))
}
prepare()
document.addEventListener('page:changed', prepare)
