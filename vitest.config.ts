import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/support/longestFirst.ts'

// The processes of tests share a compile cache, as commands do (`src/cli/bin.js`), except with coverage.
if (!process.argv.some((word) => word.startsWith('--coverage')))
  process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), 'node-compile-cache')

/**
 * Minimum statement coverage of each folder (%), in the processes of tests and of commands: a little below the present coverage.
 */
const FLOORS = {
  util: 95,
  service: 97,
  db: 91,
  job: 96,
  state: 89,
  judge: 98,
  plan: 95,
  fetch: 95,
  transform: 96,
  load: 97,
  reports: 95,
  findings: 95,
  sync: 93,
  cluster: 89,
  emulator: 97,
  lake: 91,
  page: 80,
  cli: 89,
}

// The zone of the machine must not matter: this one changes its clocks at other times than the zone of the service.
process.env.TZ ??= 'Pacific/Chatham'

/** Number of waiting processes per core: on a busy machine tests may take longer. */
const busy = Math.max(1, loadavg()[0]! / availableParallelism())
// On a busy machine, Chromium sometimes stops responding; a test that fails twice has found a fault.
const PATIENT = { testTimeout: 120_000 * busy, retry: 1 }

const DEPENDENCIES = '**/node_modules/**'
/** Folders that need PostgreSQL or Chromium, or kill processes; elsewhere the name of the file says so. */
const SLOW = ['test/{cluster,crash,model,postgres}/**/*.test.ts', 'test/**/*.slow.test.ts']
/** Slow files that only `npm run test:nightly` starts: many attacks, workers that wait for timeouts, and large databases. */
const NIGHTLY = [
  'test/bench.slow.test.ts',
  'test/cluster/{connections,frozen}.test.ts',
  'test/db/hostile.slow.test.ts',
  'test/fetch/attacker.slow.test.ts',
  'test/transform/floods.slow.test.ts',
]
/** Slow files that run with all variants at night (`IN_FULL` of `test/support/randomCases.ts`). */
const FULLER_AT_NIGHT = [
  'test/cli/volumes.slow.test.ts',
  'test/cluster/worker.test.ts',
  'test/lake/{bucket,random}.slow.test.ts',
  'test/page/accessible.slow.test.ts',
]
/** Folders that start the program. */
const PROCESS = ['test/{cli,docs}/**/*.test.ts', 'test/**/*.process.test.ts']

export default defineConfig({
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [DEPENDENCIES, ...PROCESS, ...SLOW],
          isolate: false,
        },
      },
      { extends: true, test: { name: 'process', include: PROCESS, exclude: [DEPENDENCIES, ...SLOW], isolate: false } },
      { extends: true, test: { name: 'slow', include: SLOW, exclude: [DEPENDENCIES, ...NIGHTLY], ...PATIENT } },
      {
        extends: true,
        test: {
          name: 'nightly',
          include: [...NIGHTLY, ...FULLER_AT_NIGHT],
          exclude: [DEPENDENCIES],
          env: { INDICATOR_SYNC_TEST_IN_FULL: '1' },
          ...PATIENT,
          testTimeout: 2 * PATIENT.testTimeout,
        },
      },
    ],
    setupFiles: ['test/support/setup.ts'],
    globalSetup: ['test/postgres/setup.ts', 'test/support/sharedFolder.ts', 'test/support/builtProgram.ts'],
    // Two more than the cores of a small machine: tests wait for processes and clocks.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    testTimeout: 60_000 * busy,
    hookTimeout: 120_000 * busy,
    coverage: {
      provider: 'v8',
      // Commands run in processes of their own (`test/support/command.ts`).
      autoAttachSubprocess: true,
      include: ['src/**/*.ts'],
      reporter: ['text-summary', 'html'],
      // A failed test does not suppress the report.
      reportOnFailure: true,
      thresholds: Object.fromEntries(
        Object.entries(FLOORS).map(([part, statements]) => [`src/${part}/**`, { statements }]),
      ),
    },
  },
})
