import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runCommand, tempFolder } from '../../support/kit.ts'
import { addSeries, fillBy } from '../filled.ts'

/** Prepares commands in a folder with a database of two values from two years. */
async function place() {
  const dir = tempFolder()
  await fillBy(join(dir, 'own.db'), (store) =>
    addSeries(store, 1, {}, 3, [
      ['2024-05-01', 1],
      ['2025-05-01', 2],
    ]),
  )
  const lake = (...args: string[]) => runCommand(dir, ['lake', ...args], { INDICATOR_SYNC_DATABASE: 'own.db' })
  return { dir, lake }
}

test('lake sync writes a snapshot only after changes, and lake check finds missing files', async () => {
  const { dir, lake } = await place()
  const first = await lake('sync', 'lake', '--json')
  expect([first.code, JSON.parse(first.out)]).toMatchObject([
    0,
    { folder: 'lake', snapshot: 1, changed: true, rows: { observation: 2 } },
  ])
  expect(await lake('sync', 'lake')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^lake: nothing changed since snapshot 1, 2 values, /),
  })
  expect(await lake('sync', 'lake', '--quiet')).toEqual({ code: 0, out: '', err: '' })
  expect((await lake('sync', 'other', '--verbose')).err).toMatch(/^observation 2024-05$/m)
  expect(await lake('check', 'lake')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^lake: snapshot \d+ is complete, 2 values, in sync/),
  })
  const { findings, rows } = JSON.parse((await lake('check', 'lake', '--json')).out)
  expect([findings, rows]).toEqual([[], 2])
  // The newest snapshot folder, not the symlink.
  const newest = readdirSync(join(dir, 'lake'))
    .filter((name) => name.startsWith('snapshot-'))
    .sort()
    .at(-1)!
  rmSync(join(dir, 'lake', newest, 'observation/year=2024'), { recursive: true })
  const missing = await lake('check', 'lake')
  expect([missing.code, missing.out]).toEqual([6, expect.stringMatching(/^file +what\n[\s\S]*2024/)])
  expect(JSON.parse((await lake('check', 'lake', '--json')).out).findings.length).toBeGreaterThan(0)
})

test.each<[string, string[], RegExp]>([
  ['an empty folder name', ['sync', ' '], /name of the folder is empty/],
  ['no lake', ['check', 'lake'], /lake/],
])('lake with %s is refused and creates nothing', async (_, args, message) => {
  const { dir, lake } = await place()
  expect(await lake(...args)).toMatchObject({ code: 2, out: '', err: expect.stringMatching(message) })
  expect(readdirSync(dir).filter((name) => !name.startsWith('own.db'))).toEqual([])
})
