/* Runs the suites on PostgreSQL: `npm run test:postgres`, optionally with the names of some. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { startCampaign } from '../../support/campaign.ts'

/** Tests that use a database independently of its file. */
const SUITES = [
  ...['test/sync.test.ts', 'test/replay.test.ts', 'test/mixedResolutions.test.ts', 'test/conformance.test.ts'],
  ...[
    'test/load',
    'test/reports',
    'test/sync/damage.process.test.ts',
    'test/fetch/faults.process.test.ts',
    'test/model/fromSeed1001.test.ts',
  ],
  'test/findings/oneList.test.ts',
  ...['archivesI90', 'archivesLoad', 'discover', 'publish', 'status'].map(
    (name) => `test/cli/commands/${name}.test.ts`,
  ),
  ...['series', 'overview', 'asOf', 'states', 'withdrawn', 'freshness', 'chart.slow', 'sql'].map(
    (name) => `test/page/${name}.test.ts`,
  ),
]
for (const suite of SUITES) if (!existsSync(suite)) throw new Error(`${suite} does not exist.`)

const { words, say, fault, end } = await startCampaign({
  script: 'test:postgres',
  about: 'Runs the tests of database files on a PostgreSQL server.',
  words: '[test files]',
})
const suites = words.length > 0 ? words : SUITES
say(`${suites.length} suites on PostgreSQL`)
const CONFIG = ['--config', 'test/postgres/suites/vitest.config.ts', '--isolate', '--testTimeout=60000']
const { status } = spawnSync('npx', ['vitest', 'run', ...CONFIG, ...suites], { stdio: 'inherit' })
if (status !== 0) fault(`vitest ended with ${status}`)
end(`${suites.length} suites`)
