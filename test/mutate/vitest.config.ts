import { defineConfig } from 'vitest/config'

/** Runs only the tests of the mutated file, set by `run.ts`. */
export default defineConfig({
  test: { include: (process.env.MUTATE_TESTS ?? '').split(','), testTimeout: 60_000 },
})
