/*
 * Generates docs/pictures, `npm run docs:pictures`: the terminal output of the demo, whose values change daily, and the
 * pages.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { drawPages } from './pagePictures.ts'

const BIN = resolve('src/cli/bin.js')
const COLUMNS = 104
const CELL = { width: 8.4, height: 18 }
const EDGE = 16

const folder = mkdtempSync(join(tmpdir(), 'indicator-sync-'))
/** Returns the output of a command in a terminal of a fixed width. */
const outputOf = (...args: string[]): string =>
  execFileSync(process.execPath, [BIN, ...args], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, COLUMNS: String(COLUMNS), NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'ignore'],
  })

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** Draws lines of a terminal; those that begin with `$ ` are typed commands. */
function svg(lines: readonly string[]): string {
  const width = COLUMNS * CELL.width + 2 * EDGE
  const height = lines.length * CELL.height + 2 * EDGE
  const rows = lines.map((line, i) => {
    const y = EDGE + (i + 0.75) * CELL.height
    const typed = line.startsWith('$ ') ? ' class="typed"' : ''
    return `<text x="${EDGE}" y="${y}" xml:space="preserve"${typed}>${escaped(line)}</text>`
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title">`,
    '<title id="title">A terminal: the demo is run, a query prints daily prices, and a week of them is drawn.</title>',
    '<style>text{font:14px ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace;fill:#d6deeb}.typed{fill:#7fdbca;font-weight:bold}</style>',
    `<rect width="100%" height="100%" rx="8" fill="#1d2433"/>`,
    ...rows,
    '</svg>',
    '',
  ].join('\n')
}

try {
  const demo = outputOf('demo').split('\n')
  const drawn = outputOf('show', '600', '--from', '-7d', '--database', 'data/demo.db').trimEnd().split('\n')
  const gaps = outputOf('gaps', '--database', 'data/demo.db').trimEnd().split('\n').slice(0, 6)
  const lines = [
    '$ npm run demo',
    ...demo.filter((line) => line !== '').slice(0, 11),
    '',
    '$ npx indicator-sync show 600 --from -7d --database data/demo.db',
    ...drawn,
    '',
    '$ npx indicator-sync gaps --database data/demo.db',
    ...gaps,
  ].map((line) => [...line].slice(0, COLUMNS).join(''))
  mkdirSync('docs/pictures', { recursive: true })
  writeFileSync('docs/pictures/terminal.svg', svg(lines))
  const pages = await drawPages(folder, 'docs/pictures')
  process.stdout.write(`written: ${['docs/pictures/terminal.svg', ...pages].join(', ')}\n`)
} finally {
  rmSync(folder, { recursive: true })
}
