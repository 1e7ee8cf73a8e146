/** The long campaign: `npm run test:crash -- --kills 300 --seed 7`. Prints a line per round; exit code 1 on errors. */
import yargs from 'yargs'
import { hideBin } from 'yargs/helpers'
import { crashCommands, crashPairs } from './campaign.ts'
import { crash } from './harness.ts'

const { kills, seed } = yargs(hideBin(process.argv))
  .scriptName('npm run test:crash --')
  .usage(
    '$0\n\nKills syncs and other commands at random, suspends them, lets two write at once, and compares what they leave with calm runs.',
  )
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
const report = (line: string): void => void process.stderr.write(`${line}\n`)
const half = Math.ceil(kills / 2)
const reports = {
  syncs: await crash(half, seed, report),
  commands: await crashCommands(kills - half, seed, report),
  pairs: await crashPairs(Math.ceil(kills / 10), seed, report),
}
process.stdout.write(`${JSON.stringify({ seed, ...reports }, null, 2)}\n`)
process.exitCode = Object.values(reports).every(({ faults }) => faults.length === 0) ? 0 : 1
