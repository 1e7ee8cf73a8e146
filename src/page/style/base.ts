/** What every page shares: colours of both schemes, type, tables, and rules for screen readers and paper. */
export const BASE_STYLE = `
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
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--ink); font: .9375rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
header > div, main, footer { padding: 0 1.25rem; max-width: 84rem; margin: 0 auto; }
header { background: var(--paper); border-bottom: 1px solid var(--line); }
header > div { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem 1.25rem; min-height: 3.25rem; }
.brand { display: inline-flex; align-items: center; gap: .5rem; color: var(--ink); font-weight: 650; text-decoration: none; }
.brand::before { content: ""; width: 1.5rem; height: 1.5rem; background: url(icon.svg) center / contain no-repeat; }
header nav { flex: 1 1 auto; }
.find { flex: 0 1 15rem; } .find input { width: 100%; min-height: 2rem; padding: 0 .625rem; }
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
`
