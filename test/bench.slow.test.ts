import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { tempFolder } from './support/kit.ts'

const run = promisify(execFile)

// The cases fill databases by SQL of their own, which a change of the schema breaks unnoticed.
test('the cases of the large database and of judging run', async () => {
  const args = ['bench/run.ts', 'views', 'lake', 'judge', '--runs', '1', '--rows', '1', '--folder', tempFolder()]
  const { stdout } = await run(process.execPath, args)
  for (const title of ['## Queries', '## Questions over all values']) expect(stdout).toContain(title)
})
