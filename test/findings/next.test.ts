import { expect, test } from 'vitest'
import { findFindings } from '../../src/findings/findFindings.ts'
import { countJobGaps, findGaps, jobGapsText } from '../../src/findings/findGaps.ts'
import { SERVICES } from '../../src/service/services.ts'
import { askPage } from '../page/askPage.ts'
import { startHourlyService } from '../support/hourlyService.ts'
import { jobOf, ms, tempStore } from '../support/kit.ts'

const DAY = 86_400_000
// The pages show this time.
const NOW = ms('2025-11-05T00:00:00Z')
const lost = 'series: [{ indicators: [5, 6, 7], window: { from: 2025-10-01, to: 2025-10-11 }, lookback: 2d }]'

/** Runs a job twice: the second time, one day is requested again, so that all other missing periods stay due. */
async function leaveDue(yaml: string) {
  const store = await tempStore()
  const service = await startHourlyService({ has: (at) => at % 86_400 !== 0 })
  for (const at of [NOW - 1.1 * DAY, NOW - 60_000]) await service.run(store, yaml, at)
  expect(store.get("select count(*) from _fetch where reason = 'absent'")).toBe(1)
  return store
}

const SCHEDULED = 'schedule: "0 3 * * *"\n'

test.each([
  ['a job', '', '', 'indicator-sync sync test.yaml --database FILE'],
  ['a job with a schedule', SCHEDULED, ' (next run: 2025-11-05T02:00:00Z)', 'the schedule of test (0 3 * * *)'],
])('due missing periods of %s are requested by its next runs, not at a past time', async (_name, more, at, run) => {
  const yaml = `name: test\n${more}${lost}`
  const store = await leaveDue(yaml)
  const now = NOW / 1000
  const messages = (await findFindings(store, now, { depth: 'state' })).map(({ message }) => message)
  const ends = messages.map((message) => message.split('; ')[1])
  expect(ends).toContain(`requested again by the next runs, in turn${at}`)
  expect(ends).not.toContainEqual(expect.stringContaining('2025-11-04'))
  const nexts = (await findGaps(store, now)).map(({ next }) => next?.replace(store.file, 'FILE'))
  expect(new Set(nexts)).toEqual(new Set([`${run}, in turn`, `${run}, from 2025-11-07T01:22:00Z on`]))
  const counted = await countJobGaps(store, 1, jobOf(yaml, SERVICES.generic), now)
  expect(jobGapsText(counted)).toBe(
    '30 ranges of the job have missing data; the next runs request them in turn (list: indicator-sync gaps)',
  )
  const { html } = await askPage(store, '/coverage/6')
  expect(html).toContain('The next runs request it in turn.')
  expect(html).not.toContain('requests it again from')
  expect((await askPage(store, '/series/6?span=month&at=2025-10-05')).html).toContain(
    'requested again by the next runs',
  )
})

test('a job whose budget is spent promises turns instead of its next run', async () => {
  const store = await tempStore()
  const service = await startHourlyService()
  await service.run(store, `name: test\npace: { callsPerDay: 1 }\n${lost}`, NOW - 60_000)
  const gaps = await findGaps(store, NOW / 1000)
  expect(gaps.map(({ reason }) => reason)).toEqual(['never requested', 'never requested'])
  expect(gaps[0]!.next).toMatch(/^indicator-sync sync test.yaml .*, in turn, within the budget of 1 call a day$/)
  const { html } = await askPage(store, '/coverage/6')
  expect(html).toContain('The next runs request it in turn, at most 1 call a day.')
})
