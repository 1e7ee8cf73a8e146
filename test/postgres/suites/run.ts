/* The suites over PostgreSQL: `npm run test:postgres`, or with the names of some of them. */
import { spawnSync } from 'node:child_process'

/** What takes a database and says nothing of the file that it is in. */
const SUITES = [
  ...['test/sync.test.ts', 'test/replay.test.ts', 'test/resolution.test.ts', 'test/conformance.test.ts'],
  ...['test/load', 'test/checks', 'test/state', 'test/fetch/faults.test.ts', 'test/model/first.test.ts'],
  ...['test/products/products.test.ts', 'test/products/diff.test.ts', 'test/cli/commands/export.test.ts'],
  ...['series', 'overview', 'looking', 'known', 'statements'].map((name) => `test/page/${name}.test.ts`),
]

const asked = process.argv.slice(2)
const { status } = spawnSync(
  'npx',
  ['vitest', 'run', '--config', 'test/postgres/suites/vitest.config.ts', ...(asked.length > 0 ? asked : SUITES)],
  { stdio: 'inherit' },
)
process.exit(status ?? 1)
