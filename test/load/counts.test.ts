import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { prometheusText } from '../../src/findings/metrics.ts'
import { findOpenFailures } from '../../src/state/failedRequests.ts'
import type { Summary } from '../../src/sync/sync.ts'
import { json, ms, requestedWindow, runJob, serve, tempStore, valueAt } from '../support/kit.ts'
import type { Store } from '../support/testStore.ts'

const NOW = ms('2025-11-04T12:00:00Z')
const DAY = 86_400
const SERIES = 'series:\n  - { indicators: [600], window: { from: 2025-05-01, to: 2025-07-01 }, chunk: 1y }'

interface Requested {
  readonly from: number
  readonly to: number
  readonly days: number
  /** How often this window was requested before. */
  readonly before: number
}

/** Starts an hourly series; `answer` may send something else, and returns true if it did. */
async function hours(answer: (response: ServerResponse, asked: Requested) => boolean) {
  const seen = new Map<string, number>()
  return serve((request: IncomingMessage, response) => {
    const { from, end } = requestedWindow(request)
    const before = seen.get(request.url!) ?? 0
    seen.set(request.url!, before + 1)
    if (answer(response, { from, to: end + 1, days: Math.ceil((end - from) / DAY), before })) return
    const values = []
    for (let at = from; at <= end; at += 3600) values.push(valueAt(at))
    json(response, { indicator: { id: 600, tiempo: [{ id: 4 }], values } })
  })
}

/** Expects all statistics of the last run to agree, and to include every call of the service. */
async function accountsAgree(store: Store, calls: number, summary: Summary | null): Promise<void> {
  const recorded = store.all(`select count(*) as requests, sum(attempts) as attempts from _fetch`)[0]
  const requests = store.get('select count(*) from _fetch')
  expect(recorded).toEqual({ requests, attempts: calls })
  expect(store.get('select sum(requests) from _run')).toBe(requests)
  expect(store.get('select sum(requests) from runs')).toBe(requests)
  expect(store.get('select count(*) from _budget')).toBe(calls)
  expect(store.get('select sum(bytes) from _run')).toBe(store.get('select sum(bytes) from _fetch'))
  if (summary) expect(summary.counts.requests).toBe(requests)
  const figures = await prometheusText(store)
  const sum = (name: string): number =>
    [...figures.matchAll(new RegExp(`^indicator_sync_${name}\\{.*\\} (\\d+)$`, 'gm'))].reduce(
      (all, [, n]) => all + Number(n),
      0,
    )
  expect([sum('requests_total'), sum('attempts_total')]).toEqual([requests, calls])
}

const status = (response: ServerResponse, code: number): true => {
  json(response, {}, code)
  return true
}

test.each<[string, (response: ServerResponse, asked: Requested) => boolean, object]>([
  ['succeeds', () => false, { ok: 1 }],
  [
    'rejects large windows (504)',
    (response, { days }) => days > 20 && status(response, 504),
    { ok: 6, 'too-large': 3 },
  ],
  [
    'rejects large windows (413)',
    (response, { days }) => days > 40 && status(response, 413),
    { ok: 3, 'too-large': 1 },
  ],
  ['fails twice and then succeeds', (response, { before }) => before < 2 && status(response, 503), { ok: 1 }],
  [
    'always fails for one half',
    (response, { days, from }) =>
      (days > 40 && status(response, 504)) || (from > ms('2025-05-15') / 1000 && status(response, 400)),
    { ok: 1, refused: 2, 'too-large': 1 },
  ],
  ['refuses the key', (response) => status(response, 401), { key: 1 }],
  [
    'requests a pause of an hour',
    (response) => {
      response.setHeader('Retry-After', '3600')
      return status(response, 429)
    },
    { stopped: 1 },
  ],
])('all statistics count every call to a service that %s', async (_name, answer, outcomes) => {
  const server = await hours(answer)
  const store = await tempStore()
  const summary = await runJob(store, server, SERIES, { now: NOW })
  await accountsAgree(store, server.calls.length, summary)
  const found = store.all('select outcome, count(*) as n from _fetch group by 1') as { outcome: string; n: number }[]
  expect(Object.fromEntries(found.map(({ outcome, n }) => [outcome, n]))).toEqual(outcomes)
  // For a window that was too large, only its failed parts count as failures.
  if (!('refused' in outcomes)) return
  expect((await findOpenFailures(store)).map(({ outcome }) => outcome)).toEqual(['refused', 'refused'])
  expect(store.all('select distinct reason from gaps')).toEqual([{ reason: 'failed' }])
})

test('a window that is too large does not count as failure and is covered by its parts', async () => {
  const server = await hours((response, { days }) => days > 20 && status(response, 504))
  const store = await tempStore()
  await runJob(store, server, SERIES, { now: NOW })
  expect(await findOpenFailures(store)).toEqual([])
  expect(store.all('select reason from gaps')).toEqual([])
  expect(
    store.get("select count(*) from _fetch where outcome = 'too-large' and status = 504 and hint is not null"),
  ).toBe(3)
  const calls = server.calls.length
  await runJob(store, server, SERIES, { now: NOW + 60_000 })
  expect(server.calls).toHaveLength(calls)
  await accountsAgree(store, calls, null)
})

test('all statistics count calls cut by a signal, an exhausted budget or an open breaker', async () => {
  const abort = new AbortController()
  const cut = await hours(() => {
    abort.abort()
    return true
  })
  const one = await tempStore()
  const first = await runJob(one, cut, SERIES, { now: NOW, signal: abort.signal, limits: { graceMs: 50 } })
  expect(first.outcome).toBe('stopped')
  await accountsAgree(one, cut.calls.length, first)

  const failing = await hours((response) => status(response, 503))
  const two = await tempStore()
  const pace = 'pace: { callsPerDay: 2 }\n'
  const second = await runJob(two, failing, pace + SERIES, { now: NOW })
  expect(second.earlyEnd?.code).toBe('budget')
  await accountsAgree(two, 2, second)

  const three = await tempStore()
  const third = await runJob(three, failing, SERIES.replace('1y', '1w'), {
    now: NOW,
    breaker: { failures: 3, pauseMs: 1, openings: 1, giveUpMs: 60_000 },
  })
  expect(third.earlyEnd?.code).toBe('unavailable')
  await accountsAgree(three, failing.calls.length - 2, third)
  expect((await findOpenFailures(three)).every(({ outcome }) => outcome === 'transient')).toBe(true)
  expect(three.all('select distinct reason from gaps order by 1')).toEqual([
    { reason: 'failed' },
    { reason: 'never requested' },
  ])
})
