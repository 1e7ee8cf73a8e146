/** Cells and strips of coverage: each state has a sign and a height beside its colour. */
export const COVERAGE = `
.cell { text-align: center; font-weight: 700; }
span.cell { display: inline-block; min-width: 1.5rem; border-radius: .2rem; }
.cell.final { background: var(--final); } .cell.provisional { background: var(--provisional); }
.cell.empty { background: var(--empty); } .cell.doubt { background: var(--doubt); } .cell.failed { background: var(--failed); }
.cell.final, .cell.provisional, .cell.empty, .cell.doubt, .cell.failed { color: var(--paper); }
.cell.mixed { background: var(--paper); }
.cell.none { color: var(--soft); background: var(--band); }
.legend { display: flex; flex-wrap: wrap; gap: .25rem 1rem; padding: 0; list-style: none; }
.grid td.cell { padding: 0; border: 1px solid var(--paper); min-width: 1.75rem; }
.grid td.cell a { display: block; color: inherit; text-decoration: none; height: 1.75rem; min-width: 1.5rem; line-height: 1.75rem; }
.grid td.mixed a { line-height: 1.25rem; }
.grid td.mixed { border-color: var(--line); }
.grid td.cell svg { display: block; width: 100%; height: .4375rem; }
.grid td.cell a:focus-visible { outline-color: var(--ink); outline-offset: 1px; position: relative; }
.grid th[scope=row] { min-width: 5rem; }
.grid.days th[scope=col] { text-align: center; padding: 0; font-weight: 400; }
abbr { text-decoration: none; }
svg rect.final { fill: var(--final); } svg rect.provisional { fill: var(--provisional); } svg rect.empty { fill: var(--empty); }
svg rect.doubt { fill: var(--doubt); } svg rect.failed { fill: var(--failed); } svg rect.none { fill: var(--band); }
.strip { display: block; width: 100%; min-width: 11rem; height: 1.5rem; background: var(--band); }
td.wide { min-width: 12rem; width: 30%; } td.age { white-space: nowrap; } td.wide a { display: block; }
table.series { width: 100%; } table.series th[scope=row] { font-weight: 400; min-width: 12rem; }
.pager { display: flex; gap: 1rem; margin: .5rem 0; }
@media (forced-colors: active) { .cell { forced-color-adjust: none; } }
@media print { .cell { print-color-adjust: exact; } .strip { print-color-adjust: exact; } }
`
