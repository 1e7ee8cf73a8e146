/** The pages on a series: chart, slider, carpet, versions. */
export const SERIES_STYLE = `
:root {
  --chart-now: light-dark(#0b57a4, #8ab8f0);
  --chart-now-band: light-dark(#0b57a433, #8ab8f033);
  --chart-then: light-dark(#a34700, #f0a860);
  --chart-then-band: light-dark(#a3470033, #f0a86033);
  --chart-second: light-dark(#5b6770, #b9c2ca);
  --chart-second-band: light-dark(#5b677022, #b9c2ca22);
  --state-provisional: var(--provisional);
  --state-empty: var(--empty);
  --state-unverified: var(--unverified);
  --state-absent: var(--unverified);
  --state-failed: var(--failed);
  --state-unasked: var(--empty);
}
.spans { display: flex; flex-wrap: wrap; gap: .25rem 1rem; }
.spans a { padding: .25rem 0; min-width: 1.5rem; }
.spans a[aria-current] { font-weight: 600; color: var(--ink); }
.choose { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: end; margin: .5rem 0; }
.choose label, .slider label { display: inline-flex; gap: .25rem; align-items: center; flex-wrap: wrap; max-width: 100%; }
[hidden] { display: none !important; }
.choose select { max-width: 18rem; }
.choose small { flex-basis: 100%; }
.slider { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; }
.slider input { width: min(30rem, 70vw); }
.legend { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; list-style: none; padding: 0; margin: .25rem 0; }
[data-part="legend"] li::before { content: ""; display: inline-block; width: 1.5rem; border-top: 3px solid var(--chart-now); margin-right: .375rem; vertical-align: middle; }
.legend .then::before { border-top-color: var(--chart-then); }
.legend .then ~ .second::before, .legend .second::before { border-top-color: var(--chart-second); border-top-width: 1px; }
[data-part="legend"] .band::before { border-top: .75rem solid var(--chart-now-band); }
#chart { min-height: 20rem; }
#chart .u-select { background: color-mix(in srgb, var(--link) 20%, transparent); }
#cursor { min-height: 1.5em; font-variant-numeric: tabular-nums; }
.figure { width: 100%; height: auto; display: block; }
.figure text { font: 11px system-ui, sans-serif; fill: var(--soft); }
.figure .grid path { stroke: var(--line); fill: none; }
.figure .line { fill: none; stroke-width: 1.5; stroke: var(--chart-now); }
.figure .band { fill: var(--chart-now-band); stroke: none; }
.figure .line.then { stroke: var(--chart-then); }
.figure .band.then { fill: var(--chart-then-band); }
.figure .line.second { stroke: var(--chart-second); stroke-width: 1; }
.figure .band.second { fill: var(--chart-second-band); }
.figure .line[class*="fan-"] { stroke: var(--ink); }
.figure .band[class*="fan-"] { fill: none; }
.figure .fan-0 { stroke-opacity: .25; } .figure .fan-1 { stroke-opacity: .35; } .figure .fan-2 { stroke-opacity: .45; }
.figure .fan-3 { stroke-opacity: .6; } .figure .fan-4 { stroke-opacity: .8; } .figure .line.fan-5 { stroke: var(--chart-now); stroke-width: 2.5; }
.figure [class^="state-"] { fill-opacity: .15; }
.state-provisional { fill: var(--state-provisional); color: var(--state-provisional); }
.state-empty { fill: var(--state-empty); color: var(--state-empty); }
.state-unverified, .state-absent { fill: var(--state-unverified); color: var(--state-unverified); }
.state-failed { fill: var(--state-failed); color: var(--state-failed); }
.state-unasked { fill: var(--state-unasked); color: var(--state-unasked); }
.intervals { list-style: none; padding: 0; }
.intervals .mark { display: inline-block; width: 1.25rem; text-align: center; font-weight: 700; border: 1px solid currentColor; }
[data-part="table"] .scroll { max-height: 32rem; overflow: auto; }
[data-part="table"] th[scope=row] { white-space: nowrap; }
[data-part="table"] thead th { position: sticky; top: 0; background: var(--paper); }
.carpet summary { cursor: pointer; font-size: 1.2rem; font-weight: 600; padding: .25rem 0; }
.carpet .cells { display: flex; gap: .25rem; }
.carpet .hours { width: 2.75rem; font-size: .6875rem; line-height: 12px; text-align: end; }
.carpet .hours span { display: block; height: 12px; white-space: nowrap; }
.carpet canvas { background: var(--band); image-rendering: pixelated; }
.heat { width: 100%; height: auto; }
.heat rect { fill: var(--chart-now); }
.heat .h1 { fill-opacity: .2; } .heat .h2 { fill-opacity: .4; } .heat .h3 { fill-opacity: .6; } .heat .h4 { fill-opacity: .8; }
@media print { [data-part="table"] .scroll { max-height: none; } .choose, .slider, #keys, .carpet { display: none; } }
@media (forced-colors: active) {
  :root { --chart-now: CanvasText; --chart-then: LinkText; --chart-second: GrayText; --chart-now-band: GrayText; --chart-then-band: GrayText; --chart-second-band: GrayText; }
}
`
