import { SIGNS } from './client/format.ts'

/** The colour of each state. In a table, the sign replaces the words, which stay for screen readers. */
const STATE_RULES: string = Object.entries(SIGNS)
  .map(
    ([state, sign]) => `.cell.${state}, .grid td.${state} { background: var(--${state}); }
.grid td.${state} > ::before { content: ${sign === '' ? 'none' : `"${sign}"; content: "${sign}" / ""`}; }
rect.${state} { fill: var(--${state}); } .state-${state} { fill: var(--state-${state}); color: var(--state-${state}); }`,
  )
  .join('\n')

/** The lines of charts: their colours in both schemes, and their dashes, for readers who do not see all colours. */
export const CHART_LINES = [
  ['now', '#0b57a4', '#8ab8f0', []],
  ['then', '#a34700', '#f0a860', []],
  ['with-0', '#8f1d5c', '#f08cc0', []],
  ['with-1', '#0c7d69', '#90d7af', [6, 2]],
  ['with-2', '#7b2a8c', '#c39ad0', [2, 2]],
  ['with-3', '#8a6a00', '#f4cc45', [10, 2, 2, 2]],
  ['with-4', '#2b343c', '#e9eef0', [12, 4]],
  ['difference', '#5b6f7c', '#9fb4c0', []],
] as const

/** The dashes of a line as the background of its sample. */
function sampleStops(dashes: readonly number[]): string {
  let end = 0
  const stops = (dashes.length === 0 ? [1] : dashes).map((length, i) => {
    const from = end
    end += length
    return `${i % 2 === 0 ? 'currentColor' : '#0000'} ${from}px ${end}px`
  })
  return stops.join(', ')
}

const CHART_RULES: string = CHART_LINES.map(([name, light, dark, dashes]) => {
  return `:root { --chart-${name}: light-dark(${light}, ${dark}); --chart-${name}-band: light-dark(${light}33, ${dark}33); --chart-${name}-dash: ${dashes.join(' ') || 'none'}; }
.legend .${name}::before, .tip .${name}::before, .strips .${name}::before { color: var(--chart-${name}); background: repeating-linear-gradient(90deg, ${sampleStops(dashes)}); }
.figure .line.${name} { stroke: var(--chart-${name}); stroke-dasharray: ${dashes.join(' ') || 'none'}; }
.figure .band.${name} { fill: var(--chart-${name}-band); }
.figure .bar.${name} { fill: var(--chart-${name}); }
@media (forced-colors: active) { :root { --chart-${name}: CanvasText; --chart-${name}-band: GrayText; } }`
}).join('\n')

/** Colours that scripts read: registered, so that they have the values of the scheme. */
const REGISTERED = [...CHART_LINES.flatMap(([name]) => [`chart-${name}`, `chart-${name}-band`]), 'ink', 'line']
  .map((name) => `@property --${name} { syntax: '<color>'; inherits: true; initial-value: gray; }`)
  .join('\n')

/** A sign of an outcome: a shape in a colour for light and dark. */
const sign = (colour: string, shape: string): string =>
  `url("data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16" width="14" height="14"><path d="${shape}" fill="none" stroke="${colour}" stroke-width="1.7" stroke-linecap="round" stroke-linejoin="round"/></svg>`)}") / ""`

/** The style of all pages. Each state has a sign and a height in addition to its colour. */
export const STYLE = `
${STATE_RULES}
${CHART_RULES}
${REGISTERED}
:root {
  color-scheme: light dark;
  --sign-good: ${sign('#2a9365', 'M1 8a7 7 0 1 0 14 0a7 7 0 1 0-14 0M5 8l2 2 4-4')};
  --sign-warn: ${sign('#c47a08', 'M8 1.7 15 14H1zM8 6v3.6M8 12v.1')};
  --sign-bad: ${sign('#df4a42', 'M5.2 1h5.6L15 5.2v5.6L10.8 15H5.2L1 10.8V5.2zM5.8 5.8l4.4 4.4M10.2 5.8l-4.4 4.4')};
  --sign-star: ${sign('#c47a08', 'M8 1.5l2 4.3 4.7.6-3.5 3.2.9 4.7L8 12l-4.1 2.3.9-4.7L1.3 6.4 6 5.8z')};
  --sign-busy: ${sign('#3f83d9', 'M14 8a6 6 0 1 1-2-4.5M12 .8v2.9H9')};
  --back: light-dark(#f6f7f5, #0f1413); --paper: light-dark(#fff, #161b1a); --band: light-dark(#eef0ed, #1f2624); --ink: light-dark(#16201c, #e8edea); --soft: light-dark(#56625c, #a3afaa); --line: light-dark(#dbe0dc, #2f3836); --edge: light-dark(#818c86, #6c7873); --link: light-dark(#1d55b5, #8db8ff); --strong: light-dark(#16201c, #e8edea); --on-strong: light-dark(#fff, #0f1413);
  --warn: light-dark(#fdf3df, #2a2213); --warn-line: light-dark(#e8c98a, #5d4718); --final: light-dark(#a2d2ba, #2d6b50); --provisional: light-dark(#b5d0ee, #2f5b8e); --empty: light-dark(#c9cec9, #4a5450); --withdrawn: light-dark(#d3bfe8, #5e4480); --unverified: light-dark(#f3b95c, #93610f); --failed: light-dark(#c9372c, #e5645b); --none: light-dark(#f1f3f0, #1b2120);
  --state-provisional: light-dark(#2f6fb3, #6fa8e0); --state-empty: light-dark(#6b727a, #8d959e); --state-none: var(--state-empty); --state-withdrawn: light-dark(#754a9e, #b991e0); --state-final: light-dark(#1b6e4b, #4fae84); --state-failed: light-dark(#b3261e, #f2786f); --state-unverified: light-dark(#9a5b00, #e0a04a); --state-absent: var(--state-unverified); --state-late: var(--state-unverified); --state-unrequested: var(--state-unverified); --state-expected: var(--state-empty); --small: .8125rem; --tiny: .75rem;
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--ink); font: .9375rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
header > div, main, footer { padding: 0 1.25rem; max-width: 84rem; margin: 0 auto; }
header { background: var(--paper); border-bottom: 1px solid var(--line); }
header > div { font-size: .875rem; display: flex; flex-wrap: wrap; align-items: center; gap: .25rem 1.25rem; min-height: 3.25rem; padding-block: .25rem; position: relative; }
header nav { margin-inline-end: auto; min-width: 0; }
.brand { display: inline-flex; align-items: center; gap: .5rem; color: var(--ink); font-weight: 650; text-decoration: none; }
.brand::before { content: ""; width: 1.5rem; height: 1.5rem; background: url(icon.svg) center / contain no-repeat; }
.saved, .synced { font-size: var(--small); color: var(--soft); }
.synced { text-decoration: none; margin-inline-start: auto; }
.synced:hover { text-decoration: underline; }
.saved { & summary { cursor: pointer; padding: .375rem 0; list-style: none; } & summary::before { content: var(--sign-star); margin-inline-end: .375rem; vertical-align: -.125em; } & ul { padding: 0; list-style: none; } & li { display: flex; justify-content: space-between; gap: .5rem; overflow-wrap: anywhere; } & input[type=file] { border: 0; max-width: 100%; } }
.saved > div { position: absolute; inset-inline-end: 1.25rem; top: 100%; z-index: 2; width: min(22rem, 90vw); padding: .75rem; background: var(--paper); border: 1px solid var(--line); border-radius: .5rem; }
.find { flex: 1 1 7rem; max-width: 15rem; & input { width: 100%; min-height: 2rem; padding: 0 .625rem; text-overflow: ellipsis; } }
.pick { position: relative; & ul { position: absolute; inset-inline-start: 0; top: 100%; z-index: 3; width: max-content; min-width: 100%; max-width: min(30rem, 90vw); max-height: 60vh; overflow-y: auto; margin: 0; padding: .25rem; list-style: none; background: var(--paper); border: 1px solid var(--edge); border-radius: .25rem; } & li { padding: .25rem .5rem; cursor: pointer; border-radius: .25rem; } & li:is([aria-selected=true], :hover) { background: var(--strong); color: var(--on-strong); } & li small { display: block; opacity: .85; } }
nav ul { display: flex; flex-wrap: wrap; gap: 0 1rem; margin: 0; padding: 0; list-style: none; }
nav a { display: inline-block; padding: .5rem 0; text-decoration: none; color: var(--soft); }
nav a[aria-current] { color: var(--ink); font-weight: 600; border-bottom: 3px solid currentColor; }
main:focus { outline: none; }
h1 { font-size: 1.5rem; line-height: 1.25; font-weight: 650; letter-spacing: -.01em; margin: 1.25rem 0 .5rem; }
h2 { font-size: 1.0625rem; font-weight: 650; margin: 1.5rem 0 .5rem; }
h3 { font-size: .9375rem; font-weight: 650; margin: 1rem 0 .375rem; }
h1, h2, h3, p, li, dd, bdi { overflow-wrap: anywhere; }
td, th, :is(td, th) :is(bdi, p) { overflow-wrap: break-word; }
td p { margin: 0; }
time { white-space: nowrap; }
a { color: var(--link); }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.skip { position: absolute; left: -100rem; }
.skip:focus { left: 1rem; top: .5rem; background: var(--paper); padding: .5rem; z-index: 1; }
.lost { position: sticky; bottom: 0; margin: 0; padding: .5rem 1rem; background: var(--strong); color: var(--on-strong); text-align: center; }
.quiet { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.soft, footer { color: var(--soft); }
p.soft, details .soft { font-size: var(--small); }
summary { cursor: pointer; }
footer { border-top: 1px solid var(--line); margin-top: 2rem; font-size: var(--small); }
.panel, .scroll:has(> table) { background: var(--paper); border: 1px solid var(--line); border-radius: .5rem; }
.panel { padding: .25rem 1rem .75rem; margin: .75rem 0; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; width: 100%; }
caption { text-align: start; font-weight: 600; padding: .5rem .75rem; }
th, td { text-align: start; padding: .375rem .75rem; border-bottom: 1px solid var(--line); vertical-align: top; }
tbody tr:last-child > * { border-bottom: 0; }
th { font-weight: 600; }
tbody th, .scale b { font-weight: 400; }
thead th { font-size: var(--tiny); color: var(--soft); }
td.number, th.number { text-align: end; white-space: nowrap; }
code, pre { font-family: ui-monospace, monospace; font-size: .875em; overflow-wrap: anywhere; white-space: pre-wrap; }
pre { background: var(--band); padding: .5rem .75rem; margin: .25rem 0; border-radius: .25rem; }
th code { white-space: nowrap; }
td code { display: inline-block; min-width: 16rem; }
:is(th, td) bdi[title] { display: inline-block; min-width: 12rem; }
.command { display: flex; gap: .5rem; align-items: center; flex-wrap: wrap; & code { background: var(--band); padding: .25rem .5rem; border-radius: .25rem; } }
button, input, select, textarea { font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--edge); border-radius: .25rem; min-height: 1.875rem; padding: 0 .5rem; max-width: 100%; }
td input[type=checkbox] { width: 1.5rem; height: 1.5rem; min-height: 0; margin: 0; vertical-align: middle; }
button { padding: 0 .75rem; cursor: pointer; }
form button { background: var(--strong); color: var(--on-strong); border-color: transparent; }
.good::before { content: var(--sign-good); }
.warn::before { content: var(--sign-warn); }
.bad::before { content: var(--sign-bad); }
.running::before { content: var(--sign-busy); }
:is(.good, .warn, .bad, .running)::before { margin-inline-end: .375rem; vertical-align: -.125em; display: inline-block; }
h1::before { margin-inline-end: .5rem; }
.health > .good::before { content: none; }
main:has(.problems, dd .warn) h1::before { content: var(--sign-warn); }
main:has(dd .bad) h1::before { content: var(--sign-bad); }
main:has(.health > .good, dd > .good) h1::before { content: var(--sign-good); }
.cell, .grid td[class] { text-align: center; font-weight: 700; color: var(--ink); }
.cell.none, .grid td.none { box-shadow: inset 0 0 0 1px color-mix(in srgb, var(--edge) 50%, transparent); }
.cell.failed, .grid td.failed { color: var(--on-strong); }
span.cell { display: inline-block; min-width: 1.375rem; height: 1.375rem; line-height: 1.375rem; vertical-align: middle; border-radius: .2rem; font-size: var(--tiny); }
.grid { & td[class] { position: relative; height: 1.875rem; padding: 0; border: 1px solid var(--paper); min-width: 1.75rem; border-radius: .25rem; } & th[scope=row] { min-width: 5rem; font-weight: 400; padding: .125rem .75rem; vertical-align: middle; } & th, & td { border: 0; } }
.grid:not(.days) th[scope=row] { width: 18%; min-width: 9rem; }
.grid td.mixed { color: var(--ink); background: var(--band); }
.grid td > * { position: absolute; inset: 0; overflow: hidden; text-indent: 110%; white-space: nowrap; color: inherit; text-decoration: none; }
.grid td > ::before { position: absolute; inset: 0; display: grid; place-items: center; text-indent: 0; }
.grid td.mixed > ::before { z-index: 1; inset: auto; top: calc(50% - .5rem); left: calc(50% - .375rem); line-height: 1rem; width: .75rem; background: var(--paper); border-radius: .25rem; }
${[...Array(10).keys()].map((place) => `.grid td.at-${place} > ::before { left: calc((100% - .75rem) * ${place} / 9); }`).join('\n')}
.grid td svg { position: absolute; inset: 0; width: 100%; height: 100%; }
.grid td a:focus-visible { outline-color: var(--ink); outline-offset: 1px; z-index: 1; }
.grid thead th + th { text-align: center; padding: .25rem 0; font-weight: 400; }
.scroll:has(.grid) { padding-bottom: .5rem; }
abbr { text-decoration: none; }
.strip { display: block; width: 100%; min-width: 11rem; height: 1.125rem; background: var(--band); border-radius: 2px; }
td.wide { width: 22%; min-width: 11rem; & a { display: block; font-size: var(--small); } }
td.age, td.when { white-space: nowrap; font-size: var(--small); }
table.series { & :is(th, td) { vertical-align: middle; } & th[scope=row] { font-weight: 400; min-width: 12rem; max-width: 24rem; overflow-wrap: anywhere; line-height: 1.35; & a { color: var(--ink); font-weight: 600; text-decoration: none; } & a:hover { text-decoration: underline; } & .soft { display: block; font-size: var(--tiny); } } }
.latest b { font-size: 1.0625rem; font-weight: 600; }
.latest .soft { font-size: var(--tiny); }
.spark { display: block; width: 8rem; height: 1.75rem; overflow: visible; & path { fill: none; stroke: var(--chart-now); stroke-width: 1.5; vector-effect: non-scaling-stroke; } }
.problems { background: var(--paper); border: 1px solid var(--warn-line); border-inline-start: .25rem solid var(--state-unverified); border-radius: .5rem; margin: .75rem 0; & > div { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; align-items: center; padding: .5rem 1rem; } & > div + div { border-top: 1px solid var(--line); } & p { margin: 0; } }
.problems ul { flex: 1 1 24rem; min-width: 0; margin: 0; padding: 0; list-style: none; }
.problems li { padding-inline-start: 1.375rem; }
.problems li::before { content: var(--sign-warn); margin-inline: -1.375rem .5rem; vertical-align: -.125em; display: inline-block; }
.pager { display: flex; gap: 1rem; margin: .5rem 0; }
.question, .choose, .slider { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; margin: .75rem 0; & label { display: inline-flex; flex-wrap: wrap; gap: .25rem .5rem; align-items: center; max-width: 100%; } }
.question textarea { field-sizing: content; max-height: 12rem; min-height: 7rem; flex-basis: 100%; width: 100%; padding: .5rem; font-family: ui-monospace, monospace; font-size: .875rem; &:focus { max-height: 24rem; } }
.question fieldset { border: 1px solid var(--line); border-radius: .25rem; min-width: 0; flex-basis: 100%; }
.question fieldset .pick { display: inline-flex; flex-wrap: wrap; gap: .25rem .5rem; align-items: center; max-width: 100%; margin: .125rem 1rem .125rem 0; }
.choose .inline { display: contents; & legend { float: left; } }
.beside { display: grid; gap: 0 2rem; & > * { min-width: 0; } & aside a { display: inline-block; min-height: 1.5rem; } }
.found { padding-inline-start: 1.25rem; & li { margin: 0 0 .5rem; } & p { margin: 0; } }
ul.found { list-style: none; padding: 0; }
.facts { display: flex; flex-wrap: wrap; gap: .5rem 2rem; margin: .75rem 0; & div { min-width: 0; } & dt { color: var(--soft); font-size: var(--tiny); } & dt::first-letter { text-transform: uppercase; } & dd { margin: 0; font-size: 1.0625rem; font-variant-numeric: tabular-nums; } & .soft { font-size: var(--tiny); font-weight: 400; } & .main dd { font-size: 1.75rem; font-weight: 650; line-height: 1.2; } }
.lines { white-space: pre-wrap; max-width: 45rem; overflow-wrap: anywhere; }
mark { background: light-dark(#fff1a8, #574a00); color: inherit; }
tr:has(:target) { background: var(--band); }
figure { margin: .5rem 0; }
progress { width: 100%; accent-color: var(--link); }
.spans { display: flex; flex-wrap: wrap; gap: .375rem; margin: .75rem 0; & a { flex: none; padding: .125rem .625rem; min-width: 1.5rem; border: 1px solid var(--edge); border-radius: .25rem; color: var(--ink); text-decoration: none; } & a[aria-current] { background: var(--strong); color: var(--on-strong); border-color: transparent; } & [download] { margin-inline-start: auto; } & [download] ~ * { margin-inline-start: 0; } & .png { min-height: 0; padding: .125rem .625rem; line-height: inherit; } }
[hidden] { display: none !important; }
.choose select { max-width: min(18rem, 100%); }
.choose small { flex-basis: 100%; }
.choose .pick { display: inline-flex; flex-wrap: wrap; gap: .25rem .5rem; align-items: center; max-width: 100%; }
.legend li:has(.remove) { border: 1px solid var(--edge); border-radius: 1rem; padding-inline-start: .625rem; }
.day { display: inline-flex; align-items: center; & a { min-width: 1.875rem; min-height: 1.875rem; line-height: 1.875rem; text-align: center; text-decoration: none; font-size: 1.25rem; } }
@media (scripting: enabled) { .choose > button { display: none; } }
.remove { display: inline-block; min-width: 1.5rem; min-height: 1.5rem; text-align: center; text-decoration: none; }
.slider input[type=range] { width: min(30rem, 70vw); accent-color: var(--link); padding: 0; border: 0; }
.legend { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; list-style: none; padding: 0; margin: .5rem 0; font-size: var(--small); }
.legend li[class]::before, .tip :where([class]:not([class=""]))::before { content: ""; display: inline-block; width: 1.5rem; height: 3px; margin-right: .375rem; vertical-align: middle; print-color-adjust: exact; }
[data-part="legend"] .faint::before { height: 1px; background: repeating-linear-gradient(90deg, currentColor 0 4px, #0000 4px 8px); }
[data-part="legend"].bars li[class]::before { width: .75rem; height: .75rem; background: currentColor; }
[data-part="legend"] .band::before { height: .75rem; background: var(--chart-now-band); }
p.soft:not([hidden]) + #chart { display: none; }
#chart { min-height: 20rem; position: relative; & .u-select { background: color-mix(in srgb, var(--link) 20%, transparent); } }
.strips > div { position: relative; height: 1rem; &::before { content: ""; position: absolute; inset: .4rem calc(100% + .5rem) auto auto; width: 1.5rem; height: 3px; } }
.unfinished { background: repeating-linear-gradient(135deg, color-mix(in srgb, var(--ink) 30%, transparent) 0 1px, transparent 1px 6px); font-size: 0; }
.uplot .u-under, .strips > div { overflow: visible; & div { position: absolute; top: 0; bottom: 0; overflow: hidden; } & .change { border-left: 2px dotted var(--ink); overflow: visible; white-space: nowrap; padding-left: .25rem; font-size: var(--tiny); } & .now { top: -18px; line-height: 18px; padding-left: .25rem; font-size: var(--tiny); border-left: 1px solid var(--ink); overflow: visible; } & .state { top: -18px; line-height: 18px; padding-left: .25rem; font-size: var(--tiny); white-space: nowrap; border-bottom: 6px solid; background: repeating-linear-gradient(135deg, color-mix(in srgb, currentColor 14%, transparent) 0 1px, transparent 1px var(--stripe)), color-mix(in srgb, currentColor 12%, transparent); --stripe: 100rem; } & .state-provisional { --stripe: 10px; } & .state-withdrawn { --stripe: 8px; } & :is(.state-unverified, .state-absent, .state-late, .state-unrequested) { --stripe: 6px; } & .state-failed { --stripe: 4px; } }
.strips > div .state.state { top: 0; bottom: auto; height: .875rem; line-height: .875rem; border: 0; }
.tip { position: absolute; top: .5rem; z-index: 1; pointer-events: none; background: var(--paper); border: 1px solid var(--edge); border-radius: .25rem; padding: .25rem .5rem; margin-left: .75rem; font-size: var(--small); &.start { transform: translateX(calc(-100% - 1.5rem)); } & div:nth-child(2) { font-weight: 600; } }
.u-over { touch-action: pan-y; }
.card { display: none; gap: .5rem; margin: 0; order: 2; }
#chart.touch { display: flex; flex-direction: column; & .tip { position: static; order: 1; margin: .5rem 0; transform: none; } & .tip:not([hidden]) ~ .card { display: flex; } }
.problem-days { display: none; }
#cursor { min-height: 1.5em; margin: 0; font-size: var(--small); font-variant-numeric: tabular-nums; }
.figure { width: 100%; height: auto; display: block; overflow: visible; & .change { stroke: var(--ink); stroke-dasharray: 2 3; } & text { font: 11px system-ui, sans-serif; fill: var(--soft); } & path { vector-effect: non-scaling-stroke; } & .grid path { stroke: var(--line); fill: none; } & .line { fill: none; stroke-width: 1.5; } & .band { stroke: none; } & .faint { stroke-width: 1; stroke-opacity: .6; } & .band.faint { fill-opacity: .4; } & [class^="state-"] { fill-opacity: .15; } &.strips [class^="state-"] { fill-opacity: .35; } & .bars { fill: var(--chart-difference); } & :is(.zero, pattern path) { fill: none; stroke: var(--ink); } & pattern path { stroke-opacity: .35; } & + .figure { margin-top: .25rem; } }
.intervals { list-style: none; padding: 0; & .mark { display: inline-block; width: 1.25rem; text-align: center; font-weight: 700; border: 1px solid currentColor; } }
[data-part="table"] { & .scroll { max-height: 32rem; overflow: auto; } & th[scope=row] { white-space: nowrap; } & thead th { position: sticky; top: 0; background: var(--paper); } }
.carpet { & > summary { font-size: 1.0625rem; font-weight: 650; padding: .25rem 0; } & .cells { display: flex; gap: .25rem; } & .hours { width: 2.75rem; font-size: .6875rem; line-height: 12px; text-align: end; } & .hours span { display: block; height: 12px; white-space: nowrap; } & canvas { background: var(--band); image-rendering: pixelated; } }
.scale span { display: inline-block; width: 1rem; height: .75rem; vertical-align: middle; line-height: .75rem; font-size: .6875rem; text-align: center; color: #000; }
.days-axis { position: relative; height: 1.25rem; font-size: .6875rem; color: var(--soft); & span { position: absolute; white-space: nowrap; border-inline-start: 1px solid; padding-inline-start: 2px; } }
@media (max-width: 75rem) { .spark { width: 5rem; } td.wide, .strip { min-width: 8rem; } table.series :is(th, td) { padding-inline: .5rem; } .saved summary span { position: absolute; width: 1px; height: 1px; overflow: hidden; } }
@media (min-width: 46rem) and (max-width: 60rem) { table.series :is(.trend, thead th:nth-child(4)) { display: none; } }
@media (max-width: 60rem) { .grid.days td[class] { min-width: 1.125rem; } td.wide, .strip { min-width: 6rem; } table.series { & th[scope=row] { min-width: 9rem; max-width: 12rem; } & .when { white-space: normal; } } }
@media (min-width: 70rem) { header > div { flex-wrap: nowrap; & > * { flex-shrink: 0; } & > .find { flex-shrink: 1; min-width: 8rem; } & > .synced { flex-shrink: 9; min-width: 0; } } }
@media (min-width: 60rem) { .beside { grid-template-columns: minmax(0, 2fr) minmax(0, 1fr); } }
@media (max-width: 46rem) {
  .spark { width: 100%; }
  table.series caption { all: unset; display: block; padding: .5rem .75rem 0; color: var(--soft); font-size: var(--tiny); }
  table.series { &, & tbody { display: block; } & thead, & td:empty { display: none; } & tr { display: grid; grid-template: "name name" "latest age" "when age" "trend trend" "wide wide" / auto minmax(0, 1fr); padding: .5rem 0; border-bottom: 1px solid var(--line); } & tr > * { border: 0; padding: .125rem .75rem; width: auto; min-width: 0; } }
  table.series { & th[scope=row] { grid-area: name; max-width: none; min-width: 0; } & .latest { grid-area: latest; text-align: start; } & .when { grid-area: when; color: var(--soft); } & .age { grid-area: age; text-align: end; white-space: normal; } & .trend { grid-area: trend; } & .wide { grid-area: wide; width: 100%; } }
  main, footer { padding-inline: .75rem; }
  .panel { display: flex; flex-direction: column; padding-inline: .75rem; }
  .choose { order: 1; }
  #keys { display: none; }
  .facts { display: grid; grid-template-columns: 1fr 1fr; gap: .5rem 1rem; }
  .facts .main { grid-column: 1 / -1; }
  .facts div:not(.main) .soft { display: block; }
  .question { align-items: end; }
  .question label { flex: 1; }
  .question fieldset .pick { display: flex; margin-inline-end: 0; & label { flex: 0 0 7.5rem; } & input { flex: 1; min-width: 6rem; } & small { flex-basis: 100%; } }
  .question label :is(input, select) { flex: 1 1 100%; min-width: 6rem; }
  .spans span { display: none; }
  .synced b { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .saved > div { position: static; width: auto; }
  .find { flex-basis: 100%; max-width: none; order: 3; }
  header > div { gap: .25rem .625rem; padding-inline: .75rem; }
  header nav { order: 4; width: 100%; }
  header ul { flex-wrap: nowrap; white-space: nowrap; overflow-x: auto; padding-inline-end: 3rem; mask-image: linear-gradient(to right, #000 calc(100% - 3rem), transparent); }
  header a[aria-current] { scroll-initial-target: nearest; }
  @supports not (scroll-initial-target: nearest) { header li:has([aria-current]) { order: -1; } }
  table:not([class]) { &, & tbody { display: block; } }
  table:not([class]) :is(thead, td:empty) { display: none; }
  table:not([class]) tbody tr { display: flex; flex-wrap: wrap; gap: 0 1rem; padding: .5rem .75rem; border-bottom: 1px solid var(--line); }
  table:not([class]) tbody tr > * { padding: 0; border: 0; min-width: 0; max-width: 100%; }
  table:not([class]) tbody th { flex-basis: 100%; }
  table:not([class]) tbody tr:last-child { border: 0; }
  td[data-head]::before { content: attr(data-head) " "; color: var(--soft); font-size: var(--tiny); }
  td code, :is(th, td) bdi[title] { min-width: 0; }
  .values :is(th, td) { padding-inline: .5rem; }
  .values tr > :first-child { position: sticky; left: 0; z-index: 1; background: var(--paper); }
  .values thead tr > :first-child { z-index: 2; }
  .figure text { font-size: 22px; }
  .grid th[scope=row], .grid:not(.days) th[scope=row] { min-width: 2.5rem; padding-inline: .25rem; }
  .grid:not(.days) th[scope=row]:has(a) { min-width: 11rem; }
  .grid:not(.days) td[class] { min-width: 1.25rem; }
  .days th[scope=row] { position: sticky; left: 0; z-index: 1; background: var(--paper); }
}
@media (max-width: 37.5rem) {
  .problem-days { display: block; & a { display: inline-block; min-width: 3rem; min-height: 1.5rem; } }
  .days { &, & tbody { display: block; } & thead, & td:empty { display: none; } & tr { counter-reset: day; display: grid; grid-template-columns: repeat(7, 1fr); padding: .25rem .5rem; } & tr > th[scope=row] { grid-column: 1 / -1; position: static; padding: .25rem 0; font-weight: 600; } }
  .days tr > td[class] { height: 2.5rem; min-width: 0; counter-increment: day; &::after { content: counter(day); position: absolute; inset: auto auto 0 .25rem; font-size: .6875rem; font-weight: 400; pointer-events: none; } }
${[1, 2, 3, 4, 5, 6, 7].map((day) => `  .days .weekday-${day} { grid-column: ${day}; }`).join('\n')}
}
@media (min-width: 64rem) { .figure text { font-size: 8.5px; } .beside .figure text { font-size: 11px; } }
@media (forced-colors: active) { svg, .u-under div, .cell, .grid td[class] { forced-color-adjust: none; } }
@media (scripting: none) { #keys, #at-once, .carpet, .png { display: none; } }
@media print {
  nav, .skip, button, header, form, .choose, .slider, #keys, .carpet { display: none; }
  a { color: inherit; }
  body { font-size: 10pt; }
  .cell, .grid td[class], .strip { print-color-adjust: exact; }
  [data-part="table"] .scroll { max-height: none; }
}
`
