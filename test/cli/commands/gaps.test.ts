import { expect, test } from 'vitest'
import { runCommand, tempFolder } from '../../kit.ts'
import { flawedStore } from '../flawed.ts'

test('gaps lists missing values with reasons as text or JSON, and fails with --fail', async () => {
  const { store, heal } = await flawedStore()
  const gaps = (...args: string[]) => runCommand(tempFolder(), ['gaps', '--database', store.file, ...args])
  const { code, out } = await gaps('--json')
  expect(code).toBe(0)
  // Unverified and failed ranges of a request for all geos are gaps of each known geo.
  expect(JSON.parse(out).sort((a: { from: string }, b: { from: string }) => (a.from < b.from ? -1 : 1))).toMatchObject([
    { indicator_id: 5, geo_id: 3, reason: 'absent', missing: 1, step_s: 3600, expected_in_day: 24 },
    { geo_id: 3, reason: 'unverified', from: '2025-10-02T00:00:00+02:00', missing: null },
    { geo_id: 3, reason: 'failed', from: '2025-10-03T00:00:00+02:00' },
  ])
  const table = await gaps('--fail')
  expect(table.code).toBe(6)
  expect(table.out).toMatch(/^series_id +kind +indicator_id/)
  for (const reason of ['absent', 'unverified', 'failed']) expect(table.out).toContain(reason)
  await heal()
  expect(await gaps('--fail')).toMatchObject({ code: 0, out: expect.stringMatching(/^No gaps: no final value/) })
  expect((await gaps('--json')).out).toBe('[]\n')
})
