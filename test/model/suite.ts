/* The sequences of the suite, always the same to reproduce failures. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ON_SERVER } from '../support/onServer.ts'
import { onDisk, onServer } from './databases.ts'
import { sequences } from './randomSequences.ts'
import { beginModel, endModel, runSequence } from './run.ts'
import { Difference, type Tally } from './scene.ts'

/** The sequences that run on a server, because each statement is a round trip. */
const ON_SERVER_COUNT = 1

/** Declares a test with a number of sequences from a seed; a difference names its seed. */
export function modelTest(first: number, all: number): void {
  const count = ON_SERVER ? ON_SERVER_COUNT : all
  beforeAll(() =>
    beginModel(ON_SERVER ? async () => onServer(await (await import('../postgres/database.ts')).serverUrl()) : onDisk),
  )
  afterAll(endModel)
  test(`${count} random sequences from seed ${first} give the database that the model predicts`, async () => {
    const tally: Tally = { comparisons: 0, steps: 0, requests: 0 }
    for (let seed = first; seed < first + count; seed++) {
      const [sequence] = fc.sample(sequences, { seed, numRuns: 1 })
      await runSequence(sequence!, tally).catch((error: Error) => {
        if (!(error instanceof Difference)) throw error
        const shrink = `npm run test:model -- --seeds 1 --seed ${seed} repeats and shrinks it`
        throw new Error(`seed ${seed}: ${error.message}\n${shrink}`)
      })
    }
    expect(tally.comparisons).toBeGreaterThan(100 * count)
  })
}
