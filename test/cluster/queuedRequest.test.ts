import { expect, test } from 'vitest'
import { type QueuedRequest, toPlannedRequest, toQueuedRequest } from '../../src/cluster/queuedRequest.ts'
import { readJob } from '../../src/job/read.ts'
import { planJob } from '../../src/plan/planJob.ts'
import { EMPTY_STATE } from '../../src/plan/plannerState.ts'
import { SERVICES } from '../../src/service/services.ts'

const NOW = Date.UTC(2025, 10, 24, 12) / 1000
const service = SERVICES.generic
const JOB = readJob(
  `name: all
catalogue: true
series: [{ indicators: [600], window: { from: 2025-11-01, to: 2025-11-03 } }, { indicators: [1293], datetime: 2025-11-01 }]
archives: [{ window: { from: 2025-11-01, to: 2025-11-03 } }]
archivesJson: [{ date: 2025-11-01 }]
widgets: { list: true, window: { from: 2025-11-01, to: 2025-11-03 } }
`,
  'job.yaml',
)
const planned = [...planJob({ job: JOB, service, plannerState: EMPTY_STATE, now: NOW, options: {} })]
const queued = planned.map(
  (one, position) =>
    JSON.parse(JSON.stringify(toQueuedRequest(JOB, 1, one, { now: NOW, position }).data)) as QueuedRequest,
)

test('a worker sends the planned request for every kind of job entry', () => {
  expect(queued.map((one) => toPlannedRequest(one, service))).toEqual(planned)
})

test('queued requests keep the order of the plan if a budget may end the run', () => {
  const job = { ...JOB, pace: { ...JOB.pace, callsPerDay: 9 } }
  const jobs = planned.map((one, position) => toQueuedRequest(job, 1, one, { now: NOW, position }))
  expect(jobs.toSorted((a, b) => b.priority - a.priority)).toEqual(jobs)
  expect(new Set(jobs.map(({ priority }) => priority)).size).toBe(jobs.length)
})

test('queued requests contain their parameters in the form in which they are sent', () => {
  const from = Date.UTC(2025, 9, 31, 23) / 1000
  const to = Date.UTC(2025, 10, 2, 23) / 1000
  const range = { start_date: from, end_date: to - 1 }
  const paramsOf = (entry: string) => queued.filter((one) => one.entryPath === entry).map(({ params }) => params)
  expect(paramsOf('series[0]')).toEqual([{ id: 600, locale: 'es', ...range }])
  expect(paramsOf('series[1]')).toEqual([{ id: 1293, locale: 'es', datetime: from }])
  expect(paramsOf('archives[0]')).toEqual([
    { locale: 'es', start_date: from, end_date: from + 86_399 },
    { locale: 'es', start_date: from + 86_400, end_date: to - 1 },
  ])
  expect(paramsOf('archivesJson[0]')).toEqual([{ locale: 'es', date: from }])
  expect(paramsOf('widgets')).toEqual([{ locale: 'es', ...range }])
})
