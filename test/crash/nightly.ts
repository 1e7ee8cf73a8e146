/** `node test/crash/nightly.ts --kills 300 --seed 7`: the long campaign, with a line a round. Exit code 1 when anything is wrong. */
import { parseArgs } from 'node:util'
import { crash } from './harness.ts'

const { values } = parseArgs({
  options: { kills: { type: 'string', default: '300' }, seed: { type: 'string', default: String(Date.now() % 1e6) } },
})
const { kills, seed } = values
const report = await crash(Number(kills), Number(seed), (line) => process.stderr.write(`${line}\n`))
process.stdout.write(`${JSON.stringify({ seed: Number(seed), ...report }, null, 2)}\n`)
process.exitCode = report.faults.length === 0 ? 0 : 1
