import { expect, test } from 'vitest'
import { findFindings } from '../../src/findings/findFindings.ts'
import type { SyncEvent } from '../../src/util/events.ts'
import { startHourlyService } from '../support/hourlyService.ts'
import { json, ms, runJob, serve, tempStore } from '../support/kit.ts'

const NOW = ms('2025-11-04T20:15:00Z')
const WEEK = 7 * 86_400_000
const JOB = 'name: nightly\nseries: [{ indicators: [5], window: { from: 2025-11-01, to: 2025-11-03 } }]'

test.each([
  ['a week ahead', WEEK, /^The clock of this machine is 7 days behind the clock of the service\.$/],
  ['an hour behind', -3_600_000, /^The clock of this machine is 60 minutes ahead of the clock of the service\.$/],
  ['right', 0, null],
])('a run warns once if the clock of the service is %s', async (_name, ahead, reason) => {
  const server = await serve((_request, response) =>
    json(response, { message: 'no' }, 404, { Date: new Date(Date.now() + ahead).toUTCString() }),
  )
  const events: SyncEvent[] = []
  const two = JOB.replace('[5]', '[5, 6]')
  await runJob(await tempStore(), server, two, { now: NOW, onEvent: (event) => events.push(event) })
  const warnings = events.filter(({ event }) => event === 'clock.differs')
  expect(warnings).toHaveLength(reason === null ? 0 : 1)
  if (reason !== null) expect(warnings[0]).toMatchObject({ job: 'nightly', reason: expect.stringMatching(reason) })
})

test('runs with times in the future are a finding until that time has come', async () => {
  const store = await tempStore()
  const service = await startHourlyService()
  await service.run(store, JOB, NOW)
  await service.run(store, JOB, NOW + WEEK)
  const found = async (now: number) =>
    (await findFindings(store, now / 1000, { depth: 'state' })).filter(({ kind }) => kind === 'clock')
  expect(await found(NOW + 3_600_000)).toMatchObject([
    {
      subject: 'clock',
      command: null,
      message: expect.stringMatching(/^1 run has a time in the future, up to 2025-11-11T20:15/),
    },
  ])
  expect(await found(NOW + WEEK)).toEqual([])
})
