import fc from 'fast-check'
import { afterAll } from 'vitest'
import { cases } from './cases.ts'
import { endHosts } from './command.ts'

/**
 * Uses fixed random cases, so that results depend only on the change. `RANDOM_SEED=N npm test` (any integer) draws
 * others, as do the longer variants, which are separate scripts.
 */
fc.configureGlobal({ seed: Number(process.env.RANDOM_SEED ?? 1), numRuns: cases(100) })

afterAll(endHosts)
