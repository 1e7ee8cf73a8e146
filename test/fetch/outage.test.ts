import { createServer } from 'node:net'
import { describe, expect, test } from 'vitest'
import { exitCodeFor } from '../../src/cli/terminal/fail.ts'
import { summaryText } from '../../src/cli/text/summary.ts'
import { emulate, json, ms, runJob, type Script, serve, tempStore } from '../support/kit.ts'

const NOW = ms('2025-11-04T12:00:00Z')
const ONE = 'series: [{ indicators: [600], window: { from: 2025-10-01, to: 2025-10-02 } }]'
const MANY = 'series: [{ indicators: [600, 1001, 1293], window: { from: 2025-01-01, to: 2025-11-01 }, chunk: 1w }]'
const BREAKER = { failures: 8, pauseMs: 1, openings: 3, giveUpMs: 60_000 }

/** Returns the URL of a closed port. */
async function closedPort(): Promise<{ url: string }> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return { url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}` }
}

const always = (answer: Script) => () => serve(answer)

/** Failed requests of one error that a summary lists. */
const SHOWN = 3

describe('an unavailable service', () => {
  const OUTAGES = [
    ['a closed port', closedPort],
    ['500', always((_request, response) => json(response, {}, 500))],
    ['503', always((_request, response) => json(response, {}, 503))],
    ['504', always((_request, response) => json(response, {}, 504))],
    ['a maintenance page', always((_request, response) => response.end('<!doctype html><h1>Back soon</h1>'))],
    ['dropped connections', always((request) => request.socket.destroy())],
    ['a host without an address', async () => ({ url: 'https://nobody.invalid' })],
  ] as const
  test.each(
    OUTAGES.flatMap(([name, start]) => [
      [name, 'one request', ONE, start] as const,
      [name, 'many requests', MANY, start] as const,
    ]),
  )('%s during %s ends the run as unavailable with exit code 8', async (_name, _many, job, start) => {
    const store = await tempStore()
    const summary = await runJob(store, await start(), job, { now: NOW, breaker: BREAKER })
    expect(summary).toMatchObject({ outcome: 'failed', earlyEnd: { code: 'unavailable' } })
    expect(exitCodeFor(summary.earlyEnd)).toBe(8)
    const text = summaryText(summary)
    expect(text).toContain('The service is unavailable.')
    expect(summary.failures).toHaveLength(summary.counts.failed)
    for (const { planned } of summary.failures.slice(0, SHOWN)) expect(text).toContain(planned.http.target)
    const more = summary.failures.length - SHOWN
    if (more > 0) expect(text).toContain(`… and ${more} more with the same error`)
    expect(text, 'one command repairs it').not.toContain('indicator-sync retry')
    expect(store.all('select outcome, message from _run')).toEqual([
      { outcome: 'failed', message: summary.earlyEnd?.message },
    ])
  })

  test.each([
    [
      'one request is partial',
      ONE,
      { outcome: 'partial', earlyEnd: null },
      null,
      'Lower pace.perSecond in the job file',
    ],
    [
      'many requests ends as unavailable',
      MANY,
      { outcome: 'failed', earlyEnd: { code: 'unavailable' } },
      8,
      'it continues where this one stopped',
    ],
  ])(
    'a service that always returns 429 reports its rate limit, and a run of %s',
    async (_run, job, ended, code, hint) => {
      const server = await serve((_request, response) => json(response, {}, 429, { 'Retry-After': '0' }))
      const summary = await runJob(await tempStore(), server, job, { now: NOW, breaker: BREAKER })
      expect(summary).toMatchObject(ended)
      expect(summary.earlyEnd && exitCodeFor(summary.earlyEnd)).toBe(code)
      const text = summaryText(summary)
      expect(text).toContain("The service's rate limit was reached (status 429).")
      expect(text).toContain(hint)
    },
  )

  test('a 503 with a Retry-After of an hour ends the run after one call', async () => {
    const server = await serve((_request, response) => json(response, {}, 503, { 'Retry-After': '3600' }))
    const { earlyEnd } = await runJob(await tempStore(), server, MANY, { now: NOW })
    expect(earlyEnd).toMatchObject({ code: 'unavailable', message: expect.stringContaining('a pause of 60 minutes') })
    expect(server.calls).toHaveLength(1)
  })

  test('a second run within the requested pause also ends as unavailable', async () => {
    const server = await serve((_request, response) => json(response, {}, 503, { 'Retry-After': '3600' }))
    const store = await tempStore()
    await runJob(store, server, MANY, { now: NOW })
    const again = await runJob(store, server, MANY, { now: NOW + 60_000 })
    expect(again).toMatchObject({ outcome: 'failed', earlyEnd: { code: 'unavailable' } })
    expect(exitCodeFor(again.earlyEnd)).toBe(8)
    expect(again.earlyEnd?.hint).toContain('Run the same command again after that time.')
    expect(server.calls).toHaveLength(1)
  })

  test('the rate limit of one service takes precedence over a later outage of another', async () => {
    const limited = await serve((_request, response) => json(response, {}, 429, { 'Retry-After': '3600' }))
    const store = await tempStore()
    await runJob(store, limited, ONE, { now: NOW })
    await runJob(store, await closedPort(), ONE, { now: NOW + 1000, breaker: BREAKER })
    const down = await serve((_request, response) => json(response, {}, 500))
    await runJob(store, down, ONE, { now: NOW + 2000, breaker: BREAKER })
    const again = await runJob(store, limited, ONE, { now: NOW + 60_000 })
    expect([again.earlyEnd?.code, exitCodeFor(again.earlyEnd)]).toEqual(['retry-after', 4])
  })

  test('gaps distinguish failed requests from requests that were never sent', async () => {
    const store = await tempStore()
    await runJob(store, await closedPort(), MANY, { now: NOW, breaker: BREAKER })
    expect(store.all('select distinct reason from gaps order by 1')).toEqual([
      { reason: 'failed' },
      { reason: 'never requested' },
    ])
  })
})

test('a run that skips unknown items is partial, even if it sends no request', async () => {
  const store = await tempStore()
  const wrong = await serve((_request, response) => json(response, {}, 404))
  await runJob(store, wrong, ONE, { now: NOW })
  const summary = await runJob(store, await emulate({ now: NOW / 1000 }), ONE, { now: NOW + 60_000 })
  expect(summary).toMatchObject({ outcome: 'partial', counts: { requests: 0 } })
  expect(summaryText(summary)).toMatch(
    /^test: nothing requested; the service does not know 1 item of the job:\n.*indicator 600 since /,
  )
})

test('the summary of a partial run names its part, and what the job lacks', async () => {
  const store = await tempStore()
  const emulator = await emulate({ now: NOW / 1000 })
  const job = ONE.replace('[600]', '[600, 1001]')
  const run = (only?: number[]) => runJob(store, emulator, job, { now: NOW, ...(only ? { only } : {}) })
  await run([600])
  expect(summaryText(await run([600]))).toBe(
    'test: nothing to do now in the selected part.\n1 range of the job has missing data (list: indicator-sync gaps).',
  )
  await run()
  expect(summaryText(await run([600]))).toBe('test: nothing to do; the selected part is up to date.')
  expect(summaryText(await run())).toBe('test: nothing to do; up to date.')
})

test.each([
  ['rejected rows', { rows: 'garbage' }, 'partial', '2025-11-05T11:00:00Z'],
  ['missing values', { rows: 'none' }, 'done', '2025-11-05T11:00:00Z'],
] as const)(
  'a run that waits before it requests %s again does not claim that the job is up to date',
  async (_name, fault, outcome, nextAt) => {
    const faults = [{ route: 'indicator' as const, calls: [3], ...fault }]
    const store = await tempStore()
    const emulator = await emulate({ now: NOW / 1000, faults })
    const window = '{ from: 2025-09-20, to: 2025-10-02 }'
    const job = `series: [{ indicators: [600], geoIds: [3], window: ${window}, chunk: 1d }]`
    const first = await runJob(store, emulator, job, { now: NOW })
    const gap = `1 range of the job has missing data; the next request is after ${nextAt} (list: indicator-sync gaps).`
    expect([first.outcome, first.gaps]).toEqual([outcome, { within: 'job', ranges: 1, nextAt, isDue: false }])
    expect(summaryText(first)).toContain(gap)
    const again = await runJob(store, emulator, job, { now: NOW + 60_000 })
    expect(summaryText(again)).toBe(`test: nothing to do now.\n${gap}`)
  },
)

test('a run with one successful response is partial if other requests fail', async () => {
  const faults = [{ route: 'indicator', id: 1001, status: 500 }] as const
  const emulator = await emulate({ now: NOW / 1000, faults })
  const job = ONE.replace('[600]', '[600, 1001]')
  const { earlyEnd, outcome, failures } = await runJob(await tempStore(), emulator, job, { now: NOW, breaker: BREAKER })
  expect({ earlyEnd, outcome, failed: failures.length }).toEqual({ earlyEnd: null, outcome: 'partial', failed: 1 })
})

test('a refused request counts as a response, so that the run is partial', async () => {
  const server = await serve((_request, response) => json(response, {}, 404))
  expect(await runJob(await tempStore(), server, ONE, { now: NOW })).toMatchObject({
    outcome: 'partial',
    earlyEnd: null,
  })
})
