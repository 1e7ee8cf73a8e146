/** Lists, facts, texts, forms, the pictures of runs and of answers. */
export const READING_STYLE = `
.question { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: end; margin: .75rem 0; }
.question label { display: inline-flex; flex-wrap: wrap; gap: .25rem .5rem; align-items: center; max-width: 100%; }
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
.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 15rem), 1fr)); gap: .25rem 1rem; }
.facts div { min-width: 0; } .facts dt { color: var(--soft); font-size: .875rem; } .facts dd { margin: 0; overflow-wrap: anywhere; }
.lines { white-space: pre-wrap; max-width: 45rem; overflow-wrap: anywhere; }
ins { background: light-dark(#d9f2e3, #173a2a); color: inherit; } del { background: light-dark(#fbe0de, #47201e); color: inherit; }
mark { background: light-dark(#fff1a8, #574a00); color: inherit; }
.running::before { content: "… "; }
figure { margin: .5rem 0; }
.durations { max-width: 100%; height: auto; } .durations .bar { fill: var(--provisional); } .durations .bar.failed { fill: var(--failed); stroke: var(--ink); stroke-width: 1; }
.lane { max-width: 100%; background: var(--band); } .lane path { fill: none; stroke-width: 6; } .lane .sent { stroke: var(--provisional); } .lane .failed { stroke: var(--failed); }
.keys { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; list-style: none; padding: 0; margin: .25rem 0; }
.drawing { display: block; width: 100%; height: auto; } .drawing text { fill: var(--soft); font-size: 12px; } .drawing .rule { stroke: var(--line); }
.line-0, .line-1, .line-2, .line-3 { fill: none; stroke-width: 1.5; }
.line-0 { stroke: var(--provisional); } .line-1 { stroke: var(--failed); stroke-dasharray: 6 2; } .line-2 { stroke: var(--final); stroke-dasharray: 2 2; } .line-3 { stroke: var(--unverified); stroke-dasharray: 8 2 2 2; }
`
