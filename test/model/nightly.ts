/*
 * `npm run test:model -- --seeds 5000`: random sequences beyond those of the suite. `--seed N` runs one and shrinks it;
 * `--server postgres://…` sets the server of the databases.
 */
import { parseArgs } from 'node:util'
import fc from 'fast-check'
import { onDisk, onServer } from './databases.ts'
import { runMutants } from './mutants.ts'
import { sequences } from './random.ts'
import { beginModel, Difference, endModel, runSequence, type Tally } from './run.ts'
import { KILLS, leaveOut } from './scope.ts'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '500' },
    from: { type: 'string' },
    seed: { type: 'string' },
    without: { type: 'string', default: '' },
    but: { type: 'string', default: '' },
    kills: { type: 'boolean', default: false },
    mutants: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    keep: { type: 'boolean', default: false },
    server: { type: 'string' },
    shrink: { type: 'boolean', default: true },
  },
  allowNegative: true,
})
const say = (line: string): void => void process.stdout.write(`${line}\n`)
leaveOut(values.without)
KILLS.real = values.kills
const but = values.but.split(',').filter(Boolean).map(Number)
if (values.mutants) {
  const seeds = Number(values.seeds)
  const fates = await runMutants(seeds, values.only, values.without, but, ({ mutant, stale, isKilled, said }) =>
    say(`${stale ? 'STALE   ' : isKilled ? 'killed  ' : 'SURVIVED'} ${mutant.name} · ${said.slice(0, 120)}`),
  )
  const killed = fates.filter(({ isKilled }) => isKilled).length
  say(`${killed} of ${fates.length} mutants are killed`)
  process.exit(killed === fates.length ? 0 : 1)
}
const tally: Tally = { comparisons: 0, steps: 0, requests: 0 }
const one = values.seed === undefined ? null : Number(values.seed)
const first = one ?? (values.from === undefined ? Math.floor(Math.random() * 1e9) : Number(values.from))
const count = one === null ? Number(values.seeds) : 1
const { server } = values
await beginModel(server === undefined ? onDisk : () => onServer(server))
const began = performance.now()
let failures = 0
let done = 0
for (let seed = first; seed < first + count; seed++) {
  if (but.includes(seed)) continue
  done++
  const [sequence] = fc.sample(sequences, { seed, numRuns: 1 })
  try {
    await runSequence(sequence!, tally)
  } catch (error) {
    failures++
    say(`seed ${seed}: ${error instanceof Difference ? error.message : (error as Error).stack}`)
    if (one !== null || values.keep) {
      say(JSON.stringify(sequence))
      if (one !== null && values.shrink) {
        const property = fc.asyncProperty(sequences, (smaller) => runSequence(smaller, tally))
        const { counterexample, errorInstance, numShrinks } = await fc.check(property, { seed, numRuns: 1 })
        say(`after ${numShrinks} shrinks: ${(errorInstance as Error | null)?.message}`)
        say(JSON.stringify(counterexample?.[0], null, 1))
      }
    }
    if (!values.keep) break
  }
  if (done % 100 === 0) say(`${done} sequences, ${tally.comparisons} comparisons, ${failures} failures`)
}
await endModel()
const seconds = (performance.now() - began) / 1000
say(
  `${done} sequences from seed ${first}: ${tally.steps} steps, ${tally.requests} requests, ${tally.comparisons} comparisons, ${failures} failures, ${seconds.toFixed(0)} s`,
)
process.exitCode = failures > 0 ? 1 : 0
