/* Measures speed and memory: `npm run bench` writes results.md, `npm run bench -- load --runs 7` prints a case. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import yargs from 'yargs'
import { hideBin } from 'yargs/helpers'
import { compare } from './against.ts'
import { type Case, markdown } from './bench.ts'
import { growth } from './cases/growth.ts'
import { judge } from './cases/judge.ts'
import { lake } from './cases/lake.ts'
import { load } from './cases/load.ts'
import { night } from './cases/night.ts'
import { page } from './cases/page.ts'
import { peers } from './cases/peers.ts'
import { postgres } from './cases/postgres.ts'
import { replay } from './cases/replay.ts'
import { start } from './cases/start.ts'
import { views } from './cases/views.ts'
import { workers } from './cases/workers.ts'

/** The cases of results.md, in its order. */
const REPORT: Readonly<Record<string, Case>> = { load, peers, start, views, lake, page, growth }
const CASES: Readonly<Record<string, Case>> = { ...REPORT, replay, night, judge, postgres, workers }
const RESULTS = join(import.meta.dirname, 'results.md')

const { _, runs, rows, folder, against } = yargs(hideBin(process.argv))
  .scriptName('npm run bench --')
  .usage(
    `$0 [cases]\n\nWithout cases, measures ${Object.keys(REPORT).join(', ')} in half an hour and writes bench/results.md.\nOther cases: ${Object.keys(CASES).slice(Object.keys(REPORT).length).join(', ')}.`,
  )
  .options({
    runs: { type: 'number', default: 3, describe: 'Runs of each contender' },
    rows: { type: 'number', default: 30_000_000, describe: 'Values of the database of views and page' },
    against: { type: 'string', describe: 'Compare with another checkout (a folder or commit); exit 1 if slower' },
    folder: { type: 'string', default: tmpdir(), describe: 'Folder of the temporary databases' },
  })
  .example('$0 load start --runs 7', '')
  .example('$0 --against main', '')
  .check(({ _: names, runs, rows }) => {
    for (const name of names) if (!Object.hasOwn(CASES, name)) throw new Error(`Unknown case: ${name}.`)
    for (const [name, count] of Object.entries({ runs, rows }))
      if (!Number.isInteger(count) || count < 1) throw new Error(`--${name} must be a whole number from 1.`)
    return true
  })
  .fail((message, error) => {
    process.stderr.write(`${message ?? error.message}\n  npm run bench -- --help\n`)
    process.exit(2)
  })
  .version(false)
  .strictOptions()
  .parseSync()
const names = _.length > 0 ? _.map(String) : Object.keys(REPORT)
const skipped: string[] = []
const say = (text: string): void => void process.stderr.write(`${text}\n`)
const skip = (text: string): void => {
  say(`SKIPPED: ${text}`)
  if (!skipped.includes(text)) skipped.push(text)
}
const scratch = mkdtempSync(join(folder, 'indicator-sync-bench-'))
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }))
process.once('SIGINT', () => process.exit(130)).once('SIGTERM', () => process.exit(143))
if (against !== undefined) {
  const { section, isSlower } = await compare({ folder: scratch, runs, say }, against)
  process.stdout.write(`${markdown(section)}\n`)
  process.exit(isSlower ? 1 : 0)
}
const sections: string[] = []
for (const name of names) {
  const text = markdown(await CASES[name]!({ folder: scratch, runs, rows, say, skip }))
  process.stdout.write(`${text}\n\n`)
  sections.push(text)
}
const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, Node ${process.version}, ${new Date().toISOString().slice(0, 10)}`
const intro = `\`npm run bench\` on ${machine}. Medians of ${runs} runs; slow peers run once. Compare ratios, not absolute figures.`
if (_.length === 0)
  writeFileSync(
    RESULTS,
    `${['# Measured', intro, ...skipped.map((text) => `SKIPPED: ${text}`), ...sections].join('\n\n')}\n`,
  )
