/* Measures everything that is promised to be fast or small: `npm run bench`, or `npm run bench -- load start --runs 7`. */
import { existsSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import yargs from 'yargs'
import { hideBin } from 'yargs/helpers'
import { against } from './against.ts'
import { type Case, markdown } from './bench.ts'
import { large } from './cases/large.ts'
import { load } from './cases/load.ts'
import { night } from './cases/night.ts'
import { page } from './cases/page.ts'
import { peers } from './cases/peers.ts'
import { planning } from './cases/planning.ts'
import { postgres } from './cases/postgres.ts'
import { replay } from './cases/replay.ts'
import { single } from './cases/single.ts'
import { start } from './cases/start.ts'
import { views } from './cases/views.ts'
import { wire } from './cases/wire.ts'
import { workers } from './cases/workers.ts'

const CASES: Readonly<Record<string, Case>> = {
  load,
  replay,
  wire,
  peers,
  night,
  planning,
  start,
  single,
  views,
  page,
  workers,
  postgres,
  large,
}
/** Bytes on disk that a value of the large case may need: row, replies, log and the copy of the peak. */
const DISK_A_VALUE = 60

const {
  _,
  runs,
  folder,
  output,
  against: other,
  ...options
} = yargs(hideBin(process.argv))
  .scriptName('npm run bench --')
  .usage(
    `$0 [cases]\n\nMeasures what is promised to be fast or small: ${Object.keys(CASES).join(', ')}.\nAll of it takes half an hour.`,
  )
  .options({
    runs: { type: 'number', default: 5, describe: 'of each contender; their median is told' },
    rows: { type: 'number', default: 1e8, describe: 'values of the large case, of the views and of the page' },
    against: {
      type: 'string',
      describe:
        'Compare with another checkout, pair by pair, instead: a folder, or a name that git knows; ends with 1 where this one is slower',
    },
    folder: { type: 'string', default: tmpdir(), describe: 'for databases, which are removed afterwards' },
    output: {
      type: 'string',
      default: join(import.meta.dirname, 'results.md'),
      describe: 'the file that a measurement of all cases is written to',
    },
  })
  .example('$0 load start --runs 7', '')
  .example('$0 --against main', '')
  .check(({ _, runs, rows, folder, output }) => {
    for (const name of _)
      if (!Object.hasOwn(CASES, name))
        throw new Error(`There is no case ${name}; there are: ${Object.keys(CASES).join(', ')}.`)
    for (const [name, count] of Object.entries({ runs, rows }))
      if (!Number.isInteger(count) || count < 1) throw new Error(`--${name} takes a whole number from 1.`)
    for (const needed of [folder, dirname(output)])
      if (!existsSync(needed)) throw new Error(`There is no folder ${needed}.`)
    return true
  })
  .fail((message, error) => {
    process.stderr.write(`${message ?? error.message}\n  npm run bench -- --help\n`)
    process.exit(2)
  })
  .version(false)
  .strictOptions()
  .parseSync()
const cases = _.map(String)
// The large case measures the views, too.
const names = cases.length > 0 ? cases : Object.keys(CASES).filter((name) => name !== 'views')
const say = (text: string): void => void process.stderr.write(`${text}\n`)
const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, Node ${process.version}, ${process.platform}, ${new Date().toISOString().slice(0, 10)}`
const report = [
  `# Measured

\`npm run bench${cases.length > 0 ? ` -- ${cases.join(' ')}` : ''}\` on ${machine}. Medians of ${runs} runs. Compare ratios, not absolute figures.`,
]
const skip = (text: string): void => {
  const line = `SKIPPED: ${text}`
  say(line)
  if (!report.includes(line)) report.push(line)
}
const { bavail, bsize } = statfsSync(folder)
let { rows } = options
const room = Math.floor((bavail * bsize) / DISK_A_VALUE)
if (rows > room && other === undefined && names.some((name) => ['large', 'views', 'page'].includes(name))) {
  skip(`${rows} values need ${(rows * DISK_A_VALUE) / 1e9} GB in ${folder}; taking ${room} (--rows, --folder).`)
  rows = room
}
const scratch = mkdtempSync(join(folder, 'indicator-sync-bench-'))
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }))
process.once('SIGINT', () => process.exit(130)).once('SIGTERM', () => process.exit(143))
if (other !== undefined) {
  const { section, slower } = await against({ folder: scratch, runs, say }, other)
  process.stdout.write(`${markdown(section)}\n`)
  process.exit(slower ? 1 : 0)
}
for (const name of names)
  for (const section of await CASES[name]!({ folder: scratch, runs, rows, say, skip })) {
    const text = markdown(section)
    process.stdout.write(`${text}\n\n`)
    report.push(text)
    // What was measured is kept, whatever becomes of the next case.
    if (cases.length === 0) writeFileSync(output, `${report.join('\n\n')}\n`)
  }
