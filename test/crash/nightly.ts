/** `npm run test:crash -- --kills 300 --seed 7`: the long campaign, with a line a round. Exit code 1 when anything is wrong. */
import yargs from 'yargs'
import { hideBin } from 'yargs/helpers'
import { crash } from './harness.ts'

const { kills, seed } = yargs(hideBin(process.argv))
  .scriptName('npm run test:crash --')
  .usage('$0\n\nKills syncs at random and compares what they leave with a calm run.')
  .options({
    kills: { type: 'number', default: 300, describe: 'how often' },
    seed: { type: 'number', default: Date.now() % 1e6, describe: 'the same number, the same kills' },
  })
  .check(({ kills, seed }) => {
    for (const [name, count] of Object.entries({ kills, seed }))
      if (!Number.isInteger(count) || count < 0) throw new Error(`--${name} takes a whole number.`)
    return true
  })
  .fail((message, error) => {
    process.stderr.write(`${message ?? error.message}\n  npm run test:crash -- --help\n`)
    process.exit(2)
  })
  .version(false)
  .strict()
  .parseSync()
const report = await crash(kills, seed, (line) => process.stderr.write(`${line}\n`))
process.stdout.write(`${JSON.stringify({ seed, ...report }, null, 2)}\n`)
process.exitCode = report.faults.length === 0 ? 0 : 1
