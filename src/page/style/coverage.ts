import { SIGNS } from '../client/signs.ts'

/**
 * The colour of each state. In a table, the sign replaces the words of the cell, which stay for screen readers. A bar that
 * several cells show by reference is not inside their `svg`, so that no selector can name that.
 */
const STATE_RULES: string = Object.entries(SIGNS)
  .map(
    ([state, sign]) => `.cell.${state}, .grid td.${state} { background: var(--${state}); }
.grid td.${state} > ::before { content: "${sign}"; content: "${sign}" / ""; }
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
.grid td > * { position: relative; display: block; width: 0; min-width: 100%; height: 1.75rem; line-height: 1.75rem; overflow: hidden; text-indent: 110%; white-space: nowrap; color: inherit; text-decoration: none; }
.grid td > ::before { position: absolute; inset: 0; text-indent: 0; }
.grid td.mixed > * { line-height: 1.25rem; }
.grid td svg { position: absolute; inset: auto 0 0; width: 100%; height: .4375rem; }
.grid td a:focus-visible { outline-color: var(--ink); outline-offset: 1px; z-index: 1; }
.grid th[scope=row] { min-width: 5rem; }
.grid.days th[scope=col] { text-align: center; padding: 0; font-weight: 400; }
abbr { text-decoration: none; }
.strip { display: block; width: 100%; min-width: 11rem; height: 1.5rem; background: var(--band); }
td.wide { width: 22%; min-width: 11rem; } td.wide a { display: block; font-size: .8125rem; } td.age, td.when { white-space: nowrap; font-size: .8125rem; }
table.series { width: 100%; background: var(--paper); border: 1px solid var(--line); border-radius: .5rem; border-collapse: separate; border-spacing: 0; }
table.series :is(th, td) { padding: .375rem .75rem; vertical-align: middle; } table.series thead th { font-size: .75rem; color: var(--soft); }
table.series tr:last-child > * { border-bottom: 0; }
table.series th[scope=row] { font-weight: 400; min-width: 12rem; max-width: 24rem; overflow-wrap: anywhere; line-height: 1.35; }
table.series th[scope=row] a { color: var(--ink); font-weight: bold; text-decoration: none; } table.series th[scope=row] a:hover { text-decoration: underline; }
table.series th[scope=row] .soft { display: block; font-size: .75rem; } .latest b { font-size: 1.0625rem; font-weight: 600; } .latest .soft { font-size: .75rem; }
.spark { display: block; width: 7rem; height: 1.75rem; overflow: visible; } .spark path { fill: none; stroke: var(--soft); stroke-width: 1.25; vector-effect: non-scaling-stroke; }
.strip { border-radius: 2px; }
.problems { background: var(--paper); border: 1px solid var(--warn-line); border-inline-start: .25rem solid var(--unverified); border-radius: .5rem; margin: .75rem 0; }
.problems > div { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; align-items: center; padding: .5rem 1rem; } .problems > div + div { border-top: 1px solid var(--line); }
.problems ul { flex: 1 1 24rem; min-width: 0; margin: 0; padding: 0; list-style: none; } .problems li::before { content: "! "; color: var(--failed); font-weight: 700; }
@media (max-width: 46rem) {
  table.series, table.series tbody, table.series tr, table.series th, table.series td { display: block; width: auto; max-width: none; }
  table.series thead { display: none; } table.series tr { padding: .5rem 0; border-bottom: 1px solid var(--line); } table.series tr > * { border: 0; padding: .125rem .75rem; text-align: start; }
  table.series td:empty { display: none; } table.series td.wide { width: 100%; } .spark { width: 100%; }
}
.pager { display: flex; gap: 1rem; margin: .5rem 0; }
@media (forced-colors: active) { .cell, .grid td[class] { forced-color-adjust: none; } }
@media print { .cell, .grid td[class] { print-color-adjust: exact; } .strip { print-color-adjust: exact; } }
`
