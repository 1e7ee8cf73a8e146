import { expect, test } from 'vitest'
import { json, requestedWindow, runCommand, serve, valueAt } from '../../support/kit.ts'
import { jobFolder, serviceAt } from '../jobFolder.ts'

const HOUR = 3600

test('a restate that is answered with half of the values exits with 1 and says how many are lost', async () => {
  let keeps = (_at: number): boolean => true
  const server = await serve((request, response) => {
    const { from, end } = requestedWindow(request)
    const hours = Array.from({ length: Math.floor((end - from) / HOUR) + 1 }, (_, i) => from + i * HOUR)
    json(response, {
      indicator: { id: 700, tiempo: [{ id: 4 }], values: hours.filter(keeps).map((at) => valueAt(at)) },
    })
  })
  const dir = jobFolder({
    'job.yaml':
      'name: j\npace: { perSecond: 50 }\nseries: [{ indicators: [700], window: { from: 2025-01-01, to: 2025-01-15 } }]',
  })
  const env = serviceAt(server.url)
  const restate = ['restate', 'job.yaml', '--from', '2025-01-05', '--to', '2025-01-06']
  expect((await runCommand(dir, ['sync', 'job.yaml'], env)).code).toBe(0)
  expect((await runCommand(dir, restate, env)).code).toBe(0)
  keeps = (at) => at % (2 * HOUR) === 0
  const result = await runCommand(dir, restate, env)
  expect(result).toMatchObject({
    code: 1,
    out: expect.stringMatching(/lacked 12 stored values; the history keeps them/),
  })
  const gaps = JSON.parse((await runCommand(dir, ['gaps', '--json'])).out) as { missing: number }[]
  expect(gaps.reduce((sum, { missing }) => sum + missing, 0)).toBe(12)
})
