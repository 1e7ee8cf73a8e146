import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/sequencer.ts'

/**
 * The least share of the statements of each folder that tests reach (%), a little below what they reach today. The floors of `cli`
 * and of `products` are from when the coverage of commands, which run in processes of their own, was not collected.
 */
const FLOORS = {
  base: 88,
  services: 82,
  tables: 99,
  db: 87,
  job: 94,
  state: 93,
  plan: 92,
  fetch: 90,
  transform: 93,
  load: 96,
  checks: 91,
  products: 56,
  threads: 80,
  cluster: 82,
  emulator: 95,
  lake: 87,
  page: 75,
  cli: 20,
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    setupFiles: ['test/setup.ts'],
    globalSetup: ['test/postgres/setup.ts'],
    // One more than the cores of a small machine: tests wait for processes and clocks a fifth of their time.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    // Only so that what hangs ends: no test says how fast a machine is.
    testTimeout: 900_000,
    hookTimeout: 900_000,
    coverage: {
      provider: 'v8',
      // Commands run in processes of their own (`test/command.ts`).
      autoAttachSubprocess: true,
      include: ['src/**/*.ts'],
      reporter: ['text-summary', 'html'],
      // A test that fails hides no figure.
      reportOnFailure: true,
      thresholds: Object.fromEntries(
        Object.entries(FLOORS).map(([folder, statements]) => [`src/${folder}/**`, { statements }]),
      ),
    },
  },
})
