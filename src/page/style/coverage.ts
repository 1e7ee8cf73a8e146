import { SIGNS } from '../signs.ts'

/**
 * The colour of each state. In a table, the sign replaces the words of the cell, which stay for screen readers. A bar that
 * several cells show by reference is not inside their `svg`, so that no selector can name that.
 */
const STATE_RULES: string = Object.entries(SIGNS)
  .map(
    ([state, sign]) => `.cell.${state}, .grid td.${state} { background: var(--${state}); }
.grid td.${state} a::before { content: "${sign}"; content: "${sign}" / ""; }
rect.${state} { fill: var(--${state}); }`,
  )
  .join('\n')

/** Cells and strips of coverage: each state has a sign and a height in addition to its colour. */
export const COVERAGE_STYLE = `
.cell, .grid td[class] { text-align: center; font-weight: 700; color: var(--paper); }
span.cell { display: inline-block; min-width: 1.5rem; border-radius: .2rem; }
${STATE_RULES}
.cell.none, .grid td.none { color: var(--soft); background: var(--band); }
rect.none { fill: var(--band); }
.legend { display: flex; flex-wrap: wrap; gap: .25rem 1rem; padding: 0; list-style: none; }
.grid td[class] { padding: 0; border: 1px solid var(--paper); min-width: 1.75rem; }
.grid td.mixed { color: var(--ink); background: var(--paper); border-color: var(--line); }
.grid td a { position: relative; display: block; width: 0; min-width: 100%; height: 1.75rem; line-height: 1.75rem; overflow: hidden; text-indent: 110%; white-space: nowrap; color: inherit; text-decoration: none; }
.grid td a::before { position: absolute; inset: 0; text-indent: 0; }
.grid td.mixed a { line-height: 1.25rem; }
.grid td svg { position: absolute; inset: auto 0 0; width: 100%; height: .4375rem; }
.grid td a:focus-visible { outline-color: var(--ink); outline-offset: 1px; z-index: 1; }
.grid th[scope=row] { min-width: 5rem; }
.grid.days th[scope=col] { text-align: center; padding: 0; font-weight: 400; }
abbr { text-decoration: none; }
.strip { display: block; width: 100%; min-width: 11rem; height: 1.5rem; background: var(--band); }
td.wide { min-width: 12rem; width: 30%; } td.age { white-space: nowrap; } td.wide a { display: block; }
table.series { width: 100%; } table.series th[scope=row] { font-weight: 400; min-width: 12rem; }
.pager { display: flex; gap: 1rem; margin: .5rem 0; }
@media (forced-colors: active) { .cell, .grid td[class] { forced-color-adjust: none; } }
@media print { .cell, .grid td[class] { print-color-adjust: exact; } .strip { print-color-adjust: exact; } }
`
