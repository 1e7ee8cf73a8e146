import { SIGNS } from './client/signs.ts'

/**
 * The colour of each state. In a table, the sign replaces the words of the cell, which stay for screen readers. A bar that
 * several cells show by reference is not inside their `svg`, so that no selector can name that.
 */
const STATE_RULES: string = Object.entries(SIGNS)
  .map(
    ([state, sign]) => `.cell.${state}, .grid td.${state} { background: var(--${state}); }
.grid td.${state} > ::before { content: "${sign}"; content: "${sign}" / ""; }
rect.${state} { fill: var(--${state}); } .state-${state} { fill: var(--state-${state}); color: var(--state-${state}); }`,
  )
  .join('\n')

/** The lines of charts: their colours in both schemes, and how a legend draws them. Readers without all colours can tell them apart. */
const CHART_LINES = [
  ['now', '#0b57a4', '#8ab8f0', 'solid'],
  ['then', '#a34700', '#f0a860', 'solid'],
  ['with-0', '#b8430a', '#f27649', 'solid'],
  ['with-1', '#0c7d69', '#90d7af', 'dashed'],
  ['with-2', '#7b2a8c', '#c39ad0', 'dotted'],
  ['with-3', '#8a6a00', '#f4cc45', 'double'],
  ['with-4', '#2b343c', '#e9eef0', 'dashed'],
] as const
/** The dashes of lines in pictures, by the style of their legend. */
const DASHES = { solid: '', dashed: '6 2', dotted: '2 2', double: '8 2 2 2' } as const

const CHART_RULES: string = CHART_LINES.map(
  ([
    name,
    light,
    dark,
    line,
  ]) => `:root { --chart-${name}: light-dark(${light}, ${dark}); --chart-${name}-band: light-dark(${light}33, ${dark}33); }
.legend .${name}::before { border-top-color: var(--chart-${name}); border-top-style: ${line}; }
.figure .line.${name} { stroke: var(--chart-${name}); stroke-dasharray: ${DASHES[line] || 'none'}; } .figure .band.${name} { fill: var(--chart-${name}-band); }
@media (forced-colors: active) { :root { --chart-${name}: CanvasText; --chart-${name}-band: GrayText; } }`,
).join('\n')

/** The style of all pages. Each state has a sign and a height in addition to its colour. */
export const STYLE = `
${STATE_RULES}
${CHART_RULES}
:root {
  color-scheme: light dark;
  --back: light-dark(#f6f7f5, #0f1413);
  --paper: light-dark(#fff, #161b1a);
  --ink: light-dark(#16201c, #e8edea);
  --soft: light-dark(#56625c, #a3afaa);
  --line: light-dark(#dbe0dc, #2f3836);
  --band: light-dark(#eef0ed, #1f2624);
  --link: light-dark(#1d55b5, #8db8ff);
  --warn: light-dark(#fdf3df, #2a2213);
  --warn-line: light-dark(#e8c98a, #5d4718);
  --final: light-dark(#1b6e4b, #4fae84);
  --provisional: light-dark(#2f6fb3, #6fa8e0);
  --empty: light-dark(#767d85, #8d959e);
  --unverified: light-dark(#9a5b00, #e0a04a);
  --failed: light-dark(#b3261e, #f2786f);
  --none: light-dark(#fff, #14171a);
  --state-provisional: var(--provisional); --state-empty: var(--empty); --state-none: var(--empty); --state-failed: var(--failed);
  --state-unverified: var(--unverified); --state-absent: var(--unverified); --state-final: var(--final);
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--ink); font: .9375rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
header > div, main, footer { padding: 0 1.25rem; max-width: 84rem; margin: 0 auto; }
header { background: var(--paper); border-bottom: 1px solid var(--line); }
header > div { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem 1.25rem; min-height: 3.25rem; }
.brand { display: inline-flex; align-items: center; gap: .5rem; color: var(--ink); font-weight: 650; text-decoration: none; }
.brand::before { content: ""; width: 1.5rem; height: 1.5rem; background: url(icon.svg) center / contain no-repeat; }
header nav { margin-inline-end: auto; }
header > div { position: relative; }
.saved { font-size: .8125rem; } .saved summary { cursor: pointer; padding: .375rem 0; } .saved > div { position: absolute; inset-inline-end: 1.25rem; top: 100%; z-index: 2; width: min(22rem, 90vw); padding: .75rem; background: var(--paper); border: 1px solid var(--line); border-radius: .5rem; }
.saved li { display: flex; justify-content: space-between; gap: .5rem; overflow-wrap: anywhere; } .saved ul { padding: 0; list-style: none; } .saved input[type=file] { border: 0; max-width: 100%; }
@media (max-width: 46rem) { .saved > div { position: static; width: auto; } }
.find { flex: 0 1 11rem; } .find input { width: 100%; min-height: 2rem; padding: 0 .625rem; }
.synced { color: var(--soft); font-size: .8125rem; text-decoration: none; min-height: 1.5rem; } .synced:hover { text-decoration: underline; }
nav ul { display: flex; flex-wrap: wrap; gap: 0 1rem; margin: 0; padding: 0; list-style: none; }
nav a { display: inline-block; padding: .5rem 0; text-decoration: none; }
nav a[aria-current] { color: var(--ink); font-weight: 600; border-bottom: 3px solid currentColor; }
main:focus { outline: none; }
h1 { font-size: 1.5rem; line-height: 1.25; font-weight: 650; letter-spacing: -.01em; margin: 1.25rem 0 .5rem; }
h2 { font-size: 1.0625rem; font-weight: 650; margin: 1.5rem 0 .5rem; }
h3 { font-size: 1rem; margin: 1rem 0 .25rem; }
h1, h2, h3, p, li, dd { overflow-wrap: anywhere; }
td, th { overflow-wrap: break-word; }
time { white-space: nowrap; }
a { color: var(--link); }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.skip { position: absolute; left: -100rem; }
.skip:focus { left: 1rem; top: .5rem; background: var(--paper); padding: .5rem; z-index: 1; }
.quiet { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.soft, footer { color: var(--soft); }
footer { border-top: 1px solid var(--line); margin-top: 2rem; font-size: .875rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { text-align: start; font-weight: 600; padding: .25rem 0; }
th, td { text-align: start; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { font-weight: 600; }
td.number, th.number { text-align: end; }
code, pre { font-family: ui-monospace, monospace; font-size: .875em; overflow-wrap: anywhere; white-space: pre-wrap; }
pre { background: var(--band); padding: .5rem .75rem; margin: .25rem 0; }
.command { display: flex; gap: .5rem; align-items: start; flex-wrap: wrap; }
.command code { background: var(--band); padding: .125rem .375rem; }
button, input, select, textarea { font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--soft); border-radius: .25rem; min-height: 1.75rem; }
button { padding: 0 .5rem; cursor: pointer; }
select { max-width: 100%; }
.good::before { content: "✓ "; color: var(--final); }
.bad::before { content: "! "; color: var(--failed); font-weight: 700; }
bdi { overflow-wrap: anywhere; }
td bdi, th bdi { overflow-wrap: break-word; }
td.number, th.number { white-space: nowrap; }
td code { display: inline-block; min-width: 16rem; }
@media (forced-colors: active) { svg { forced-color-adjust: none; } }
.printed { display: none; }
@media print { .printed { display: block; overflow-wrap: anywhere; } nav, .skip, button, header, form { display: none; } a { color: inherit; } body { font-size: 10pt; } }
.cell, .grid td[class] { text-align: center; font-weight: 700; color: var(--paper); }
span.cell { display: inline-block; min-width: 1.5rem; border-radius: .2rem; }
.cell.none, .grid td.none { color: var(--soft); background: var(--band); }
rect.none { fill: var(--band); }
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
.strip { display: block; width: 100%; min-width: 11rem; height: 1.5rem; background: var(--band); border-radius: 2px; }
td.wide { width: 22%; min-width: 11rem; } td.wide a { display: block; font-size: .8125rem; } td.age, td.when { white-space: nowrap; font-size: .8125rem; }
table.series { width: 100%; background: var(--paper); border: 1px solid var(--line); border-radius: .5rem; border-collapse: separate; border-spacing: 0; }
table.series :is(th, td) { padding: .375rem .75rem; vertical-align: middle; } table.series thead th { font-size: .75rem; color: var(--soft); }
table.series tr:last-child > * { border-bottom: 0; }
table.series th[scope=row] { font-weight: 400; min-width: 12rem; max-width: 24rem; overflow-wrap: anywhere; line-height: 1.35; }
table.series th[scope=row] a { color: var(--ink); font-weight: bold; text-decoration: none; } table.series th[scope=row] a:hover { text-decoration: underline; }
table.series th[scope=row] .soft { display: block; font-size: .75rem; } .latest b { font-size: 1.0625rem; font-weight: 600; } .latest .soft { font-size: .75rem; }
.spark { display: block; width: 7rem; height: 1.75rem; overflow: visible; } .spark path { fill: none; stroke: var(--soft); stroke-width: 1.25; vector-effect: non-scaling-stroke; }
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
.question, .choose, .slider { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: end; margin: .75rem 0; }
.question label, .choose label, .slider label { display: inline-flex; flex-wrap: wrap; gap: .25rem .5rem; align-items: center; max-width: 100%; }
.question input { max-width: 100%; }
.question textarea { flex-basis: 100%; width: 100%; font-family: ui-monospace, monospace; font-size: .875rem; }
.question fieldset { border: 1px solid var(--line); min-width: 0; flex-basis: 100%; }
.beside { display: grid; gap: 0 2rem; }
@media (min-width: 60rem) { .beside { grid-template-columns: minmax(0, 2fr) minmax(0, 1fr); } }
.beside > * { min-width: 0; }
.beside aside a { display: inline-block; min-height: 1.5rem; }
.found { padding-inline-start: 1.25rem; }
ul.found { list-style: none; padding: 0; }
.found li { margin: 0 0 .5rem; } .found p { margin: 0; }
.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 9.5rem), 1fr)); gap: .25rem 1rem; }
.facts div { min-width: 0; } .facts dt { color: var(--soft); font-size: .875rem; } .facts dd { margin: 0; overflow-wrap: anywhere; }
.lines { white-space: pre-wrap; max-width: 45rem; overflow-wrap: anywhere; }
ins { background: light-dark(#d9f2e3, #173a2a); color: inherit; } del { background: light-dark(#fbe0de, #47201e); color: inherit; }
mark { background: light-dark(#fff1a8, #574a00); color: inherit; }
.running::before { content: "… "; }
figure { margin: .5rem 0; }
.durations { max-width: 100%; height: auto; } .durations .bar { fill: var(--provisional); } .durations .bar.failed { fill: var(--failed); stroke: var(--ink); stroke-width: 1; }
.lane { max-width: 100%; background: var(--band); } .lane path { fill: none; stroke-width: 6; } .lane .sent { stroke: var(--provisional); } .lane .failed { stroke: var(--failed); }
.spans { display: flex; flex-wrap: wrap; gap: .25rem 1rem; }
.spans a { padding: .25rem 0; min-width: 1.5rem; }
.spans a[aria-current] { font-weight: 600; color: var(--ink); }
[hidden] { display: none !important; }
.choose select { max-width: 18rem; }
.choose small { flex-basis: 100%; }
.remove { text-decoration: none; padding: 0 .375rem; }
.slider input[type=range] { width: min(30rem, 70vw); }
.legend { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; list-style: none; padding: 0; margin: .25rem 0; }
[data-part="legend"] li::before { content: ""; display: inline-block; width: 1.5rem; border-top: 3px solid; margin-right: .375rem; vertical-align: middle; }
[data-part="legend"] .band::before { border-top: .75rem solid var(--chart-now-band); }
#chart { min-height: 20rem; }
#chart .u-select { background: color-mix(in srgb, var(--link) 20%, transparent); }
#chart { position: relative; }
.tip { position: absolute; top: .5rem; z-index: 1; pointer-events: none; background: var(--paper); border: 1px solid var(--line); border-radius: .25rem; padding: .25rem .5rem; margin-left: .75rem; font-size: .8125rem; } .tip.start { transform: translateX(calc(-100% - 1.5rem)); } .tip div:nth-child(2) { font-weight: 600; }
#cursor { min-height: 1.5em; font-variant-numeric: tabular-nums; }
.figure { width: 100%; height: auto; display: block; }
.figure text { font: 11px system-ui, sans-serif; fill: var(--soft); }
.figure .grid path { stroke: var(--line); fill: none; }
.figure .line { fill: none; stroke-width: 1.5; }
.figure .faint { stroke-width: 1; stroke-opacity: .6; } .figure .band.faint { fill-opacity: .4; }
.figure .band { stroke: none; }
.figure .line[class*="fan-"] { stroke: var(--ink); }
.figure .band[class*="fan-"] { fill: none; }
.figure .fan-0 { stroke-opacity: .25; } .figure .fan-1 { stroke-opacity: .35; } .figure .fan-2 { stroke-opacity: .45; }
.figure .fan-3 { stroke-opacity: .6; } .figure .fan-4 { stroke-opacity: .8; } .figure .line.fan-5 { stroke: var(--chart-now); stroke-width: 2.5; }
.figure [class^="state-"] { fill-opacity: .15; }
.intervals { list-style: none; padding: 0; }
.intervals .mark { display: inline-block; width: 1.25rem; text-align: center; font-weight: 700; border: 1px solid currentColor; }
[data-part="table"] .scroll { max-height: 32rem; overflow: auto; }
[data-part="table"] th[scope=row] { white-space: nowrap; }
[data-part="table"] thead th { position: sticky; top: 0; background: var(--paper); }
.carpet summary { cursor: pointer; font-size: 1.2rem; font-weight: 600; padding: .25rem 0; }
.carpet .cells { display: flex; gap: .25rem; }
.carpet .hours { width: 2.75rem; font-size: .6875rem; line-height: 12px; text-align: end; }
.carpet .hours span { display: block; height: 12px; white-space: nowrap; } .scale span { display: inline-block; width: 1rem; height: .75rem; }
.days-axis { position: relative; height: 1.25rem; font-size: .6875rem; color: var(--soft); } .days-axis span { position: absolute; white-space: nowrap; }
.carpet canvas { background: var(--band); image-rendering: pixelated; }
.heat { width: 100%; height: auto; }
.heat rect { fill: var(--chart-now); }
.heat .h1 { fill-opacity: .2; } .heat .h2 { fill-opacity: .4; } .heat .h3 { fill-opacity: .6; } .heat .h4 { fill-opacity: .8; }
@media print { [data-part="table"] .scroll { max-height: none; } .choose, .slider, #keys, .carpet { display: none; } }
`
