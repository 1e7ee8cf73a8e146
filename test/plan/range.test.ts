import { expect, test } from 'vitest'
import { readJob } from '../../src/job/read.ts'
import { planJob } from '../../src/plan/planJob.ts'
import { EMPTY_STATE } from '../../src/plan/plannerState.ts'
import type { UserOptions } from '../../src/plan/planning.ts'
import { SERVICES } from '../../src/service/services.ts'
import { ms } from '../support/kit.ts'

const JOB = readJob(
  `name: t
content: [{ kinds: [news] }]
series:
  - { indicators: [1], window: { from: 2025-03-01, to: 2025-03-03 } }
  - { indicators: [2], datetime: 2025-03-01T12:00 }
  - { indicators: [3], datetime: 2025-03-02 }
archivesJson: [{ date: 2025-03-01 }, { date: 2025-03-02 }]
`,
  'job.yaml',
)
const DAY = { from: ms('2025-02-28T23:00:00Z') / 1000, to: ms('2025-03-01T23:00:00Z') / 1000 }

/** Returns the paths of the requested entries. */
function entriesOf(options: UserOptions): string[] {
  const now = ms('2025-03-10T12:00:00Z') / 1000
  const planned = planJob({ job: JOB, service: SERVICES.generic, plannerState: EMPTY_STATE, now, options })
  return [...new Set([...planned].map(({ entryPath }) => entryPath))].sort()
}

test.for<[command: string, options: UserOptions]>([
  ['restate', { range: { interval: DAY, how: 'narrow' }, restate: true }],
  ['backfill', { range: { interval: DAY, how: 'replace' } }],
])('%s of a range requests only data, instants and dates within it', ([, options]) => {
  expect(entriesOf(options)).toEqual(['archivesJson[0]', 'series[0]', 'series[1]'])
})

test('a sync of a range omits instants and dates outside, and keeps requests without a range', () => {
  const options: UserOptions = { range: { interval: DAY, how: 'narrow' } }
  expect(entriesOf(options)).toEqual(['archivesJson[0]', 'content[0]', 'series[0]', 'series[1]'])
  expect(entriesOf({})).toHaveLength(6)
})
