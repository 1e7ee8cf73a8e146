import { expect, test } from 'vitest'
import { findRepeatedRequests } from '../../src/load/replies/repeatedRequests.ts'
import { tempStore } from '../support/kit.ts'

const DAY = 86_400
const EARLY = '2025-01-01T00:00:00.000Z'

/** What differs from a successful request of series 1 for day 5 to 8 and all geos, which changed nothing. */
interface Differing {
  readonly series?: number | null
  readonly days?: readonly [number, number] | null
  readonly geos?: string
  readonly job?: number
  readonly run?: number
  readonly reason?: string
  readonly outcome?: string
  readonly target?: string
  readonly rows?: 'rows_new' | 'rows_revised' | 'rows_withdrawn' | 'rows_rejected'
  readonly at?: string
  readonly body?: string
  readonly resolution?: number
}

/** Records requests with the ids 1, 2 …, and returns the ids of those that later ones repeat. */
async function repeated(requests: readonly Differing[], also: readonly string[] = []) {
  const store = await tempStore()
  const insert = (table: string, row: Readonly<Record<string, unknown>>) =>
    store.run(
      `insert into ${table} (${Object.keys(row)}) values (${Object.keys(row).map(() => '?')})`,
      Object.values(row),
    )
  for (const id of [1, 2])
    insert('_job', { id, name: `job ${id}`, definition_at: EARLY, returns: 0, host: 'h', file: `f${id}` })
  const counters = { rows_new: 0, rows_unchanged: 0, rows_revised: 0, rows_withdrawn: 0, rows_rejected: 0 }
  const times = { started_at: EARLY, finished_at: EARLY }
  const run = { job: 'j', version: 'x', outcome: 'done', requests: 0, failed: 0, bytes: 0, ...counters, ...times }
  for (const id of [1, 2]) insert('_run', { id, command: 'backfill', job_id: id, ...run })
  insert('_run', { id: 3, command: 'sync', job_id: 1, ...run })
  insert('indicator', { kind: 'indicator', id: 5, first_seen_at: EARLY })
  for (const id of [1, 2])
    insert('series', { id, kind: 'indicator', indicator_id: 5, geo_ids: id, time_zone: 'UTC', created_at: EARLY })
  insert('_reply', { hash: 'kept', body: Buffer.from('x'), bytes: 1, first_seen_at: EARLY })
  requests.forEach((request, i) => {
    const [from, to] = request.days === null ? [null, null] : (request.days ?? [5, 8])
    insert('_fetch', {
      id: i + 1,
      run_id: request.run ?? request.job ?? 1,
      entry: 'series[0]',
      route: 'indicator',
      target: request.target ?? '/x',
      params: '{}',
      series_id: request.series === undefined ? 1 : request.series,
      geo_ids: request.geos ?? null,
      from_at: from === null ? null : from * DAY,
      to_at: to === null ? null : to * DAY,
      started_at: EARLY,
      finished_at: request.at ?? EARLY,
      outcome: request.outcome ?? 'ok',
      attempts: 1,
      ms: 1,
      bytes: 1,
      reply_hash: request.body ?? null,
      resolution_id: request.resolution ?? null,
      ...counters,
      ...(request.rows && { [request.rows]: 1 }),
      rows_outside: 0,
      reason: request.reason ?? 'refresh',
    })
  })
  for (const sql of also) store.run(sql, [])
  return findRepeatedRequests(store.kysely, '2025-06-01T00:00:00.000Z', () => true)
}

/** Three equal requests of another series: the first is repeated, the second stays as evidence of missing bodies, the third is the last. */
const OTHERS: readonly Differing[] = [{ series: 2 }, { series: 2 }, { series: 2 }]
/** Their ids, after requests of a test. */
const isRepeated = async (earlier: Differing, ...later: readonly Differing[]): Promise<boolean> =>
  (await repeated([earlier, ...later, ...OTHERS])).includes(1)

test.each<[string, readonly Differing[]]>([
  ['the same window', [{}]],
  ['a larger window', [{ days: [4, 9] }]],
  ['windows that cover it together', [{ days: [4, 6] }, { days: [6, 9] }]],
])('a request is repeated by later ones for %s', async (_what, later) => {
  expect(await isRepeated({}, ...later)).toBe(true)
})

test('a request for a geo is repeated by a later one for more geos', async () => {
  expect(await isRepeated({ geos: '3' }, { geos: '1,3' })).toBe(true)
  expect(await isRepeated({ geos: '3' }, {})).toBe(true)
})

test.each<[string, Differing, readonly Differing[]]>([
  ['is the last one', {}, []],
  ['is repeated only in part', {}, [{ days: [5, 7] }]],
  ['is repeated for other geos only', { geos: '3' }, [{ geos: '1' }]],
  ['is repeated for some geos only', {}, [{ geos: '3' }]],
  ['is repeated by another job only', {}, [{ job: 2 }]],
  ['is repeated for another reason only', { reason: 'absent' }, [{}]],
  ['is repeated by a failure only', {}, [{ outcome: 'transient' }]],
  ['is repeated by a reply with rejected rows only', {}, [{ rows: 'rows_rejected' }]],
  ['failed', { outcome: 'refused' }, [{}]],
  ['received coarse values', { outcome: 'coarse' }, [{}]],
  ['has rejected rows', { rows: 'rows_rejected' }, [{}]],
  ['brought new values', { rows: 'rows_new' }, [{}]],
  ['revised values', { rows: 'rows_revised' }, [{}]],
  ['withdrew values', { rows: 'rows_withdrawn' }, [{}]],
  ['is recent', { at: '2025-07-01T00:00:00.000Z' }, [{}]],
  ['has a stored body', { body: 'kept' }, [{}]],
  ['belongs to one of the last runs of its job', { run: 3 }, [{}]],
  ['is the only one with a resolution of single days', { days: [5, 6], resolution: 4 }, [{ days: [5, 6] }]],
  ['requested an instant', { days: null }, [{ days: null }]],
])('a request stays that %s', async (_what, earlier, later) => {
  expect(await isRepeated(earlier, ...later)).toBe(false)
})

test('the last thirty requests up to the present stay, by which the usual delay is judged', async () => {
  const present = Date.parse(EARLY) / 1000 / DAY
  const requests = Array.from({ length: 33 }, (): Differing => ({ days: [present - 1, present] }))
  expect(await repeated([...requests, ...OTHERS])).toEqual([1, 2, 3, 34])
})

test('a list is repeated by a later one with the same path and query', async () => {
  expect(await isRepeated({ series: null, days: null }, { series: null, days: null })).toBe(true)
  expect(await isRepeated({ series: null, days: null }, { series: null, days: null, target: '/y' })).toBe(false)
})

test('a request to which a row refers stays', async () => {
  const cadence = `insert into _cadence (series_id, geo_id, from_at, kind, fetch_id) values (1, 3, 0, 'irregular', 1)`
  expect(await repeated([{}, {}, ...OTHERS])).toContain(1)
  expect(await repeated([{}, {}, ...OTHERS], [cadence])).not.toContain(1)
})
