import { describe, expect, test } from 'vitest'
import { nextTime } from '../../src/cli/jobs/dueTimes.ts'
import { type Fault, faultFile } from '../../src/emulator/faults.ts'
import { createBreaker } from '../../src/fetch/breaker.ts'
import { quotaWaitMs } from '../../src/fetch/waits.ts'
import { prometheusText } from '../../src/findings/metrics.ts'
import { seriesKey } from '../../src/job/plannedRequest.ts'
import { readJob } from '../../src/job/read.ts'
import { readPlannerState } from '../../src/sync/readPlannerState.ts'
import { emulate, json, ms, runJob, serve, tempStore } from '../support/kit.ts'
import type { Store } from '../support/testStore.ts'

const NOW = '2025-11-04T12:00:00Z'
const SECONDS = ms(NOW) / 1000
const JOB = `catalogue: true
series:
  - { indicators: [1739, 805, 460], window: { from: 2025-10-01, to: 2025-11-01 }, chunk: 1w }
content: [{ kinds: [news, glossaries] }]
archives: [{ window: { from: 2025-10-01, to: 2025-10-04 } }]`
const everything = (store: Store) => [
  store.all('select indicator_id, geo_id, at_utc, step_s, value from observations order by 1, 2, 3'),
  store.all('select kind, id, locale, title, body from content_text order by 1, 2, 3'),
  store.all('select kind, id, date, date_times, publication_dates from archive_edition order by 1, 2, 3, 4, 5'),
  store.all('select id, locale, name from indicator_text order by 1, 2'),
]

describe('a faulty service', () => {
  /** The rows of a correct service, created on first use. */
  let undisturbed: unknown[] | undefined
  const undisturbedRows = async (): Promise<unknown[]> => {
    const store = await tempStore()
    await runJob(store, await emulate({ now: SECONDS }), JOB, { now: ms(NOW) })
    return everything(store)
  }

  test.each<[string, Fault[]]>([
    [
      'sometimes returns 503 and 429',
      [
        { every: 3, status: 503 },
        { every: 4, status: 429, retryAfter: 0 },
      ],
    ],
    ['requests a pause until a date', [{ route: 'indicator', calls: [1], status: 429, retryAfter: 'date' }]],
    ['drops connections', [{ probability: 0.2, body: 'drop' }]],
    ['truncates bodies', [{ every: 3, body: 'truncated' }]],
    ['compresses incorrectly', [{ every: 3, body: 'wrong-brotli' }]],
    ['returns HTML pages with 200', [{ every: 4, body: 'html' }]],
    ['returns messages', [{ every: 5, body: 'message' }]],
    ['returns empty bodies', [{ every: 4, body: 'empty' }]],
    ['returns another root key', [{ route: 'indicator', every: 5, body: 'other-root' }]],
    ['refuses at random', [{ probability: 0.3, status: 400 }]],
    ['repeats rows', [{ route: 'indicator', rows: 'duplicates' }]],
    ['returns unsorted rows', [{ route: 'indicator', rows: 'unsorted' }]],
    ['returns rows outside the window', [{ route: 'indicator', rows: 'outside' }]],
    ['sends bodies slowly', [{ route: 'indicator', every: 9, body: 'slow' }]],
    ['is slow', [{ route: 'indicator', calls: [2], latencyMs: 300 }]],
  ])('the rows after recovery are correct for a service that %s', async (_name, faults) => {
    const store = await tempStore()
    await runJob(store, await emulate({ now: SECONDS, faults }), JOB, { now: ms(NOW) })
    const healed = await runJob(store, await emulate({ now: SECONDS }), JOB, { now: ms(NOW) })
    expect(healed.failures).toEqual([])
    undisturbed ??= await undisturbedRows()
    expect(everything(store)).toEqual(undisturbed)
    expect(store.all('select id from observation_revision o join series on id = series_id')).toEqual([])
  })

  test('a dead service gets few calls, and the run can be resumed', async () => {
    const server = await serve((_request, response) => json(response, {}, 500))
    const store = await tempStore()
    const summary = await runJob(store, server, JOB, {
      now: ms(NOW),
      breaker: { failures: 8, pauseMs: 5, openings: 3, giveUpMs: 60_000 },
    })
    expect(summary).toMatchObject({ outcome: 'failed', earlyEnd: { code: 'unavailable' } })
    expect(server.calls.length).toBeLessThanOrEqual(8 + 3 + 1)
  })

  test('windows that time out are split, and the smaller size is stored', async () => {
    const emulator = await emulate({ now: SECONDS })
    const limit = 20 * 86_400
    const server = await serve(async (request, response) => {
      const search = new URL(request.url!, 'http://x').searchParams
      const length = (ms(search.get('end_date')!) - ms(search.get('start_date')!)) / 1000
      if (length > limit) return json(response, {}, 504)
      const answer = await fetch(`${emulator.url}${request.url}`, { headers: { 'x-api-key': emulator.key } })
      json(response, await answer.text(), answer.status)
    })
    const yaml = (to: string) =>
      `series:\n  - { indicators: [1739], geoIds: [3], window: { from: 2024-01-01, to: ${to} } }`
    const store = await tempStore()
    const first = await runJob(store, server, yaml('2025-01-01'), { now: ms(NOW) })
    expect(first.outcome).toBe('done')
    expect(store.get('select count(*) from observation')).toBe(366 * 24)
    const refused = (from: number) => server.calls.slice(from).filter(({ url }) => /start_date/.test(url!)).length
    expect(refused(0)).toBeLessThan(60)
    expect(store.get('select window_s from series')).toBeGreaterThan(0)
    const before = server.calls.length
    await runJob(store, server, yaml('2025-02-01'), { now: ms(NOW) })
    expect(server.calls.length - before).toBeLessThanOrEqual(6)
    expect(
      (await readPlannerState(store)).series(
        seriesKey({
          kind: 'indicator',
          indicatorId: 1739,
          timeTrunc: null,
          timeAgg: null,
          geoAgg: null,
          geoTrunc: null,
          geoIds: null,
        }),
      ).windowS,
    ).toBeGreaterThan(0)
  })

  test.each([
    ['only a route', [{ route: 'indicator' }], false],
    ['an unknown route', [{ route: 'nowhere', status: 500 }], false],
    ['an unknown key', [{ colour: 1, status: 500 }], false],
    ['one fault', [{ status: 500 }], true],
  ])('a fault file with %s is validated', (_name, faults, good) =>
    expect(faultFile.safeParse(faults).success).toBe(good),
  )
})

describe('limits declared by the service', () => {
  const CONTINUE = { kind: 'continue' }
  const GIVE_UP_ITEM = { kind: 'giveUpItem' }
  const GIVE_UP_HOST = { kind: 'giveUpHost' }
  const pause = (ms: number) => ({ kind: 'pause', ms })
  const now = 1_762_257_600_000
  test.each<[Record<string, string>, number]>([
    [{ ratelimit: 'limit=10, remaining=0, reset=7' }, 7000],
    [{ ratelimit: '"default";r=0;t=3' }, 3000],
    [{ ratelimit: 'limit=10, remaining=4, reset=7' }, 0],
    [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '5' }, 5000],
    [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(now / 1000 + 9) }, 9000],
    [{ 'x-ratelimit-remaining': '3', 'x-ratelimit-reset': '5' }, 0],
    [{ 'x-ratelimit-remaining': '0' }, 0],
    [{}, 0],
  ])('%o means a wait of %i ms', (headers, wait) => expect(quotaWaitMs(headers, now)).toBe(wait))

  test('an exhausted quota delays the next call until its reset', async () => {
    const times: number[] = []
    const pauses: object[] = []
    const server = await serve((request, response, call) => {
      times.push(performance.now())
      const id = Number(/indicators\/(\d+)/.exec(request.url!)![1])
      json(
        response,
        { indicator: { id, tiempo: [], geos: [], values: [] } },
        200,
        call === 1 ? { RateLimit: 'limit=1, remaining=0, reset=1' } : {},
      )
    })
    await runJob(
      await tempStore(),
      server,
      'series:\n  - { indicators: [1, 2], window: { from: 2025-01-01, to: 2025-01-02 } }',
      { onEvent: (event) => void (event.event === 'calls.paused' && pauses.push(event)) },
    )
    expect(pauses).toMatchObject([{ wait_ms: 1_000, reason: 'the rate limit of the service is used up' }])
    expect(times[1]! - times[0]!).toBeGreaterThan(900)
  })

  test('a circuit breaker opens for longer after each failure and closes after a success', () => {
    const breaker = createBreaker({ failures: 3, pauseMs: 10, openings: 2, giveUpMs: 60_000 })
    const fail = (item: number) => breaker.failed(`/indicators/${item}`, false)
    expect([1, 2, 3, 4, 5].map(fail)).toEqual([CONTINUE, CONTINUE, pause(10), pause(20), GIVE_UP_HOST])
    breaker.succeeded()
    expect([1, 2, 3].map(fail)).toEqual([CONTINUE, CONTINUE, pause(10)])
  })

  test('a circuit breaker gives up an item if all failures are about it, and the host as soon as another one fails', () => {
    const breaker = createBreaker({ failures: 2, pauseMs: 10, openings: 1, giveUpMs: 60_000 })
    expect([6, 6, 6, 6, 5].map((item) => breaker.failed(`/indicators/${item}`, false))).toEqual([
      ...[CONTINUE, pause(10), GIVE_UP_ITEM, GIVE_UP_ITEM, GIVE_UP_HOST],
    ])
  })

  test('a circuit breaker gives up on an unreachable host after a time, independent of calls', () => {
    let now = 0
    const breaker = createBreaker({ failures: 8, pauseMs: 10, openings: 3, giveUpMs: 35_000 }, () => now)
    const fail = (isUnreachable: boolean) => {
      now += 11_000
      return breaker.failed('/indicators/1', isUnreachable)
    }
    expect([1, 2, 3, 4, 5].map(() => fail(true))).toEqual([CONTINUE, CONTINUE, CONTINUE, CONTINUE, GIVE_UP_HOST])
    breaker.succeeded()
    expect([1, 2, 3, 4, 5].map(() => fail(false))).toEqual([CONTINUE, CONTINUE, CONTINUE, CONTINUE, CONTINUE])
  })
})

describe('metrics and schedules', () => {
  test('metrics are in the Prometheus text format', async () => {
    const store = await tempStore()
    await runJob(
      store,
      await emulate({ now: SECONDS }),
      'series:\n  - { indicators: [1739, 99], window: { last: 2d } }',
      { now: ms(NOW) },
    )
    const text = await prometheusText(store)
    expect(text).toContain('indicator_sync_requests_total{route="indicator",outcome="ok"} 1\n')
    expect(text).toContain('indicator_sync_requests_total{route="indicator",outcome="refused"} 1\n')
    for (const line of text.split('\n'))
      expect(line).toMatch(/^$|^# (HELP|TYPE) \w+ .+$|^\w+(\{(\w+="[^"]*",?)+\})? -?[\d.]+$/)
  })

  test('a schedule keeps its local time when the clocks change', () => {
    const job = readJob('name: x\ncatalogue: true\nschedule: "15 21 * * *"', 'f')
    const from = ms('2025-10-24T12:00:00Z')
    const times = [from]
    for (let i = 0; i < 4; i++) times.push(nextTime(job, times.at(-1)!))
    expect(times.slice(1).map((at) => new Date(at).toISOString().slice(0, 16))).toEqual([
      '2025-10-24T19:15',
      '2025-10-25T19:15',
      '2025-10-26T20:15',
      '2025-10-27T20:15',
    ])
  })
})
