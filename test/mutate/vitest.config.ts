import { defineConfig } from 'vitest/config'

/** Only the tests of the file that is mutated; `run.ts` says which. */
export default defineConfig({
  test: { include: (process.env.MUTATE_TESTS ?? '').split(','), testTimeout: 60_000 },
})
