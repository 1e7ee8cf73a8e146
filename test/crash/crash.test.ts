import { expect, test } from 'vitest'
import { crashCommands, crashPairs } from './campaign.ts'
import { crash } from './harness.ts'
import { STEPS } from './steps.ts'

/** As many kills as reach each step and each command; nightly: `npm run test:crash -- --kills 300 --seed 7`. */
const KILLS = 13
const COMMANDS = 7

test('a file killed at any step is intact, and the resumed run loads the same rows', async () => {
  const report = await crash(KILLS, 20251104)
  expect(report.faults).toEqual([])
  expect(report.kills).toBe(KILLS)
  expect(Object.keys(report.byStep)).toEqual(expect.arrayContaining(Object.keys(STEPS)))
})

test('a command killed at any step leaves the old or new state, and the next run cleans up', async () => {
  const report = await crashCommands(2 * COMMANDS, 20251105)
  expect(report.faults).toEqual([])
  expect(Object.keys(report.byStep)).toHaveLength(COMMANDS)
})

test('only one of two syncs writes, and the other takes over when the writer is killed', async () => {
  const report = await crashPairs(2, 20251106)
  expect(report.faults).toEqual([])
})
