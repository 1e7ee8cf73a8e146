import fc from 'fast-check'
import { afterAll } from 'vitest'
import { endHosts } from './command.ts'
import { cases } from './randomCases.ts'

/**
 * Uses fixed random cases, so that results depend only on the change. `RANDOM_SEED=N npm test` (any integer) draws
 * others, as do the longer variants, which are separate scripts.
 */
fc.configureGlobal({ seed: Number(process.env.RANDOM_SEED ?? 1), numRuns: cases(100) })

// The processes that run commands serve all files of a worker, and end with it. Their coverage is written before that.
if (process.env.NODE_V8_COVERAGE) afterAll(endHosts)
