import fc from 'fast-check'
import { afterAll } from 'vitest'
import { endHosts } from './command.ts'

/**
 * The suite draws the same random cases every time, so that a change is judged by itself and not by luck; other cases are
 * drawn with `RANDOM_SEED=N npm test` (any whole number), and by the longer variants, which are scripts of their own.
 */
fc.configureGlobal({ seed: Number(process.env.RANDOM_SEED ?? 1) })

afterAll(endHosts)
