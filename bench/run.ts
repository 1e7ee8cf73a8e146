/* Measures everything that is promised to be fast or small: `npm run bench`, or `npm run bench -- load start --runs 7`. */
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Case, markdown } from './bench.ts'
import { large } from './cases/large.ts'
import { load } from './cases/load.ts'
import { night } from './cases/night.ts'
import { planning } from './cases/planning.ts'
import { replay } from './cases/replay.ts'
import { single } from './cases/single.ts'
import { start } from './cases/start.ts'
import { wire } from './cases/wire.ts'

const CASES: Readonly<Record<string, Case>> = { load, replay, wire, night, planning, start, single, large }
/** Bytes on disk that a value of the large case may need: row, tape, log and the copy of the peak. */
const DISK_A_VALUE = 60

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    runs: { type: 'string', default: '5' },
    rows: { type: 'string', default: '100000000' },
    folder: { type: 'string', default: tmpdir() },
    output: { type: 'string', default: join(import.meta.dirname, 'results.md') },
  },
})
const names = positionals.length > 0 ? positionals : Object.keys(CASES)
const say = (text: string): void => void process.stderr.write(`${text}\n`)
for (const name of names)
  if (!CASES[name]) {
    say(`There is no case ${name}; there are: ${Object.keys(CASES).join(', ')}.`)
    process.exit(2)
  }
const { bavail, bsize } = statfsSync(values.folder)
let rows = Number(values.rows)
const room = Math.floor((bavail * bsize) / DISK_A_VALUE)
if (rows > room && names.includes('large')) {
  say(
    `SKIPPED: ${rows} values need ${(rows * DISK_A_VALUE) / 1e9} GB in ${values.folder}; taking ${room} (--rows, --folder).`,
  )
  rows = room
}
const folder = mkdtempSync(join(values.folder, 'indicator-sync-bench-'))
const report = [
  `# Measured

\`npm run bench${positionals.length > 0 ? ` -- ${positionals.join(' ')}` : ''}\` on ${cpus().length} cores (${cpus()[0]?.model ?? 'unknown'}), Node ${process.version}, ${process.platform}. Medians of ${values.runs} runs, contenders in turn; read the ratios, for absolute figures move with the machine.`,
]
try {
  for (const name of names)
    for (const section of await CASES[name]!({ folder, runs: Number(values.runs), rows, say })) {
      const text = markdown(section)
      process.stdout.write(`${text}\n\n`)
      report.push(text)
      // What was measured is kept, whatever becomes of the next case.
      if (positionals.length === 0) writeFileSync(values.output, `${report.join('\n\n')}\n`)
    }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
