import { expect, test } from 'vitest'
import { measurePeer } from '../bench/measure.ts'

test('a program of others that fails is told with its last words, and what else is measured goes on', async () => {
  const skipped: string[] = []
  const bench = { skip: (text: string) => void skipped.push(text) }
  const run = (script: string) => measurePeer('a peer', bench, process.execPath, ['-e', script])
  expect(await run('console.error("first\\nits last word"); process.exit(3)')).toBeNull()
  expect(skipped).toEqual(['a peer failed: its last word'])
  expect((await run('console.log("7")'))?.last).toBe('7')
  expect(await measurePeer('one that is not there', bench, '/there/is/no/such/program', [])).toBeNull()
  expect(skipped).toHaveLength(2)
})
