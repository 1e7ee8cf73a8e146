/* `npm run test:model -- --seeds 5000`: random sequences beyond those of the suite. `--seeds 1 --seed N` runs one and shrinks it. */
import fc from 'fast-check'
import { startCampaign } from '../support/campaign.ts'
import { onDisk, onServer } from './databases.ts'
import { sequences } from './randomSequences.ts'
import { beginModel, endModel, runSequence } from './run.ts'
import { runMutants } from './runMutants.ts'
import { Difference, type Tally } from './scene.ts'
import { KILLS, leaveOut } from './scope.ts'

const {
  flags,
  count,
  seed: first,
  isOver,
  say,
  fault,
  end,
} = await startCampaign({
  script: 'test:model',
  about: 'Compares random sequences of commands with a model. A single sequence is shrunk if it fails.',
  counted: ['seeds', 500],
  flags: {
    without: { type: 'string', default: '', describe: 'parts that are not compared, such as counters,gaps' },
    but: { type: 'string', default: '', describe: 'seeds that are left out, such as 7,12' },
    kills: { type: 'boolean', default: false, describe: 'ends processes, not only transactions' },
    keep: { type: 'boolean', default: false, describe: 'continues after a fault' },
    server: { type: 'string', describe: 'address of a PostgreSQL server for the databases' },
    shrink: { type: 'boolean', default: true, describe: 'looks for a smaller sequence with the same fault' },
    mutants: { type: 'boolean', default: false, describe: 'reintroduces old faults, each of which must be found' },
    only: { type: 'string', default: '', describe: 'mutants with this word in their name or file' },
  },
})
leaveOut(flags.without)
KILLS.real = flags.kills
const but = flags.but.split(',').filter(Boolean).map(Number)

async function findMutants(): Promise<void> {
  const fates = await runMutants(count, flags.only, flags.without, but, ({ mutant, fate, message }) => {
    const line = `${fate.padEnd(8)} ${mutant.name} · ${message.slice(0, 120)}`
    if (fate === 'killed') say(line)
    else fault(line, `--mutants --seeds ${count} --only '${mutant.name}'`)
  })
  end(`${fates.length} mutants with ${count} sequences each`)
}

async function compareSequences(): Promise<void> {
  const tally: Tally = { comparisons: 0, steps: 0, requests: 0 }
  const { server } = flags
  await beginModel(server === undefined ? onDisk : () => onServer(server))
  let done = 0
  for (let seed = first; seed < first + count && !isOver(); seed++) {
    if (but.includes(seed)) continue
    done++
    const [sequence] = fc.sample(sequences, { seed, numRuns: 1 })
    try {
      await runSequence(sequence!, tally)
    } catch (error) {
      const text = error instanceof Difference ? error.message : (error as Error).stack
      fault(`seed ${seed}: ${text}`, `--seeds 1 --seed ${seed}`)
      if (count === 1 || flags.keep) say(JSON.stringify(sequence))
      if (count === 1 && flags.shrink) {
        const property = fc.asyncProperty(sequences, (smaller) => runSequence(smaller, tally))
        const { counterexample, errorInstance, numShrinks } = await fc.check(property, { seed, numRuns: 1 })
        say(`after ${numShrinks} shrinks: ${(errorInstance as Error | null)?.message}`)
        say(JSON.stringify(counterexample?.[0], null, 1))
      }
      if (!flags.keep) break
    }
    if (done % 100 === 0) say(`${done} sequences, ${tally.comparisons} comparisons`)
  }
  await endModel()
  end(`${done} sequences, ${tally.steps} steps, ${tally.requests} requests, ${tally.comparisons} comparisons`)
}

await (flags.mutants ? findMutants() : compareSequences())
// A host that still runs would keep the process alive.
process.exit()
