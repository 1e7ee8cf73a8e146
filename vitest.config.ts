import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    setupFiles: ['test/setup.ts'],
    // Tests wait for processes more than they work.
    maxWorkers: 2,
    // Only so that what hangs ends: no test says how fast a machine is.
    testTimeout: 900_000,
    hookTimeout: 900_000,
  },
})
