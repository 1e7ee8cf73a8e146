import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Script } from '../../src/emulator/world/script.ts'
import { findFindings } from '../../src/findings/findFindings.ts'
import type { Finding } from '../../src/findings/finding.ts'
import { emulate, ms, runCli, runJob, tempFolder } from '../support/kit.ts'
import { openStore } from '../support/testStore.ts'
import { processClock } from './clock.ts'

const DAY = 86_400
const seconds = (text: string): number => ms(text) / 1000
const FIRST_NIGHT = seconds('2025-11-03T20:15:00Z')
/** The nights before the geo vanishes. */
const GOOD_NIGHTS = 4
const GEO = 8741

/**
 * A series that lacks a geo in the responses from noon before the first bad night on, from an instant on. `lag`: seconds from the start of
 * a period to its publication.
 */
const script = (lag: number, every: number | 'day', goneFrom: string): Script => ({
  id: 9001,
  geos: [3, GEO],
  resolutions: [{ from: seconds('2025-01-01T00:00:00+01:00'), every }],
  lag,
  actions: [
    {
      do: 'withdraw',
      at: seconds('2025-11-07T11:00:00Z'),
      from: seconds(goneFrom),
      to: seconds('2030-01-01T00:00:00Z'),
      geos: [GEO],
    },
  ],
})

const ALWAYS = '2025-01-01T00:00:00Z'
const TOMORROW = '2025-11-08T00:00:00+01:00'

test.each([
  ['realtime values of one geo stop', 'late', 600, 3600, '2025-11-07T11:00:00Z', ''],
  ['realtime values of one geo vanish with their past', 'gap', 600, 3600, ALWAYS, ''],
  ['day-ahead prices of one geo stop', 'late', -36 * 3600, 3600, TOMORROW, ''],
  ['day-ahead prices of a selected geo stop', 'late', -36 * 3600, 3600, TOMORROW, `geoIds: [3, ${GEO}], `],
  ['day-ahead prices of one geo vanish with their past', 'gap', -36 * 3600, 900, ALWAYS, ''],
  [
    'values of days, published half a day later, stop for one geo',
    'late',
    1.5 * DAY,
    'day' as const,
    '2025-11-06T00:00:00+01:00',
    '',
  ],
])('%s: check alerts within two nights', async (_, kind, lag, every, goneFrom, geoIds) => {
  const emulator = await emulate({ scripts: [script(lag, every, goneFrom)] })
  const dir = tempFolder()
  const file = join(dir, 'market.db')
  const yaml = `series: [{ indicators: [9001], ${geoIds}window: { from: 2025-08-01, to: +2d } }]`
  /** Syncs and checks in a newly opened database, like the commands. */
  const night = async (number: number): Promise<Finding[]> => {
    const now = FIRST_NIGHT + number * DAY
    emulator.setNow(now)
    const store = await openStore(file)
    try {
      expect((await runJob(store, emulator, yaml, { now: now * 1000 })).outcome).toBe('done')
      return await findFindings(store, now)
    } finally {
      await store.close()
    }
  }
  for (let number = 0; number < GOOD_NIGHTS; number++) expect(await night(number), `night ${number}`).toEqual([])
  await night(GOOD_NIGHTS)
  const findings = await night(GOOD_NIGHTS + 1)
  expect(findings.map(({ kind, subject }) => [kind, subject])).toEqual([[kind, `indicator 9001, geo ${GEO}`]])
  const clock = processClock(dir)((FIRST_NIGHT + (GOOD_NIGHTS + 1) * DAY) * 1000)
  const { code, out } = await runCli(dir, ['check', '--database', file], clock)
  expect(out).toMatch(new RegExp(`^${kind}: indicator 9001, geo ${GEO}: `))
  expect(code).toBe(6)
})
