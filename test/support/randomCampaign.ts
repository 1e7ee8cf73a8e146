/* `npm run test:random -- --cases 50`: the properties of the unit and process tests with many more random cases. */
import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { startCampaign } from './campaign.ts'

const { count, seed, words, fault, end } = await startCampaign({
  script: 'test:random',
  about: 'Runs the tests of properties with this many times the random cases of `npm test`.',
  counted: ['cases', 20],
  words: '[test files]',
})
const SLOW = /^test\/(cluster|crash|model|postgres)\/|\.slow\.test/
const isProperty = (file: string): boolean => !SLOW.test(file) && readFileSync(file, 'utf8').includes('fc.assert')
const files = words.length > 0 ? words : globSync('test/**/*.test.ts').filter(isProperty)
const { status } = spawnSync(
  'npx',
  ['vitest', 'run', '--project', 'unit', '--project', 'process', '--testTimeout=0', ...files],
  { stdio: 'inherit', env: { ...process.env, RANDOM_CASES: String(count), RANDOM_SEED: String(seed) } },
)
if (status !== 0) fault(`vitest ended with ${status}`)
end(`${files.length} files with ${count} times the cases`)
