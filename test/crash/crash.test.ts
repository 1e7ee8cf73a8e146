import { expect, test } from 'vitest'
import { crash } from './harness.ts'

/** The ordinary dose; `npm run test:crash -- --kills 300 --seed 7` is the nightly one. */
const KILLS = 40

test('after kill -9 at any step the file is whole, and the resumed run ends in the rows of an undisturbed one', {
  timeout: 300_000,
}, async () => {
  const report = await crash(KILLS, 20251104)
  expect(report.faults).toEqual([])
  expect(report.kills).toBe(KILLS)
  expect(Object.keys(report.byStep).length).toBeGreaterThanOrEqual(9)
})
