import { expect, test } from 'vitest'
import { crashCommands, crashPairs } from './campaign.ts'
import { crash } from './harness.ts'
import { STEPS } from './steps.ts'

/** The ordinary dose; `npm run test:crash -- --kills 300 --seed 7` is the nightly one. */
const KILLS = 24

test('after kill -9 at any step the file is whole, and the resumed run ends in the rows of an undisturbed one', async () => {
  const report = await crash(KILLS, 20251104)
  expect(report.faults).toEqual([])
  expect(report.kills).toBe(KILLS)
  expect(Object.keys(report.byStep)).toEqual(expect.arrayContaining(Object.keys(STEPS)))
})

test('a command that is killed at any step leaves the old or the new, and the next one ends as if nothing had been, leftovers too', async () => {
  const report = await crashCommands(16, 20251105)
  expect(report.faults).toEqual([])
  expect(Object.keys(report.byStep)).toHaveLength(7)
})

test('of two syncs one writes, also while it is suspended, and when it is killed the other one may', async () => {
  const report = await crashPairs(4, 20251106)
  expect(report.faults).toEqual([])
})
