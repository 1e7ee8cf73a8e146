import type { ChildProcess } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { KeyError, PermanentError, StoreError, TransientError } from '../../src/base/errors.ts'
import type { SyncEvent } from '../../src/base/events.ts'
import { hostOf } from '../../src/calls/hosts.ts'
import { readMachines } from '../../src/checks/machines.ts'
import { EXIT, exitCodeOf } from '../../src/cli/terminal/fail.ts'
import { claimedRequest, leaseHolderOf } from '../../src/cluster/claims.ts'
import { createLeases, createOwnLeases } from '../../src/cluster/leases.ts'
import { openQueue } from '../../src/cluster/queue.ts'
import type { QueuedRequest } from '../../src/cluster/queuedRequest.ts'
import { queuedOf } from '../../src/cluster/queuedRequest.ts'
import { register } from '../../src/cluster/registry.ts'
import { openSharedRun } from '../../src/cluster/sharedRun.ts'
import { createSharedTurns } from '../../src/cluster/turns.ts'
import { work } from '../../src/cluster/worker.ts'
import { createWorkerRuns } from '../../src/cluster/workerRuns.ts'
import { coordinationOf, shared } from '../../src/db/coordination.ts'
import { openStore } from '../../src/db/open.ts'
import { BEAT_MS, WORKER } from '../../src/db/queries/workers.ts'
import type { SyncContext } from '../../src/ingestAll.ts'
import { EMPTY_STATE } from '../../src/job/plannerState.ts'
import { readJob } from '../../src/job/read.ts'
import { plan } from '../../src/plan/plan.ts'
import { beginRun } from '../../src/runs/runRecord.ts'
import { SERVICES } from '../../src/services/services.ts'
import { sync } from '../../src/sync.ts'
import { emulate, json, ms, runCli, serve, tempFolder } from '../kit.ts'
import { askPage } from '../page/askPage.ts'
import { databaseWithRoles, migratedDatabase, withClient } from '../postgres/database.ts'
import { handOut, handOutAll, JOB, joined, LAST_DAY, NOW, type Process, YAML } from './joined.ts'

test('what is planned is fetched and loaded by workers, each request by one of them, and again nothing is', async () => {
  const emulator = await emulate({ now: NOW })
  const file = await migratedDatabase()
  const [planner, ...workers] = [
    await joined(file, emulator.url, emulator.key),
    await joined(file, emulator.url, emulator.key),
    await joined(file, emulator.url, emulator.key),
  ]
  const stopping = new AbortController()
  const working = workers.map(({ context, queue }) =>
    work({ ...context, signal: stopping.signal }, queue, { concurrency: 2 }),
  )
  const events: SyncEvent[] = []
  const summary = await handOut(planner!, JOB, (event) => events.push(event))
  expect(summary).toMatchObject({ outcome: 'done', counts: { requests: 5, failed: 0 } })
  // The run begins and ends once, with what the workers did.
  const [first, last] = [events[0], events.at(-1)]
  expect(first).toMatchObject({ event: 'run.started', run: summary.runId })
  expect(last).toMatchObject({ event: 'run.ended', run: summary.runId, outcome: 'done', requests: 5, failed: 0 })
  expect(last?.rows?.new).toBe(summary.counts.rows_new)
  expect(events.filter(({ event }) => event.startsWith('run.'))).toHaveLength(2)
  expect(summary.counts.rows_new).toBeGreaterThan(100)
  const { workers: known, queues } = (await readMachines(planner!.store))!
  expect(known).toHaveLength(2)
  expect(queues).toEqual([])
  const { html } = await askPage(planner!.store, '/runs')
  expect(html.split(`${hostname()} ${process.pid}`)).toHaveLength(3)
  expect(await handOut(planner!, JOB)).toMatchObject({ outcome: 'done', counts: { requests: 0 } })
  stopping.abort()
  expect((await Promise.all(working)).reduce((sum, { done }) => sum + done, 0)).toBe(5)
  expect(new Set(emulator.requests.map(({ url }) => url)).size).toBe(5)
  expect(emulator.requests).toHaveLength(5)
  expect((await readMachines(planner!.store))?.workers).toEqual([])
})

test('what workers could not fetch fails with the error of a plain run, and has its class', async () => {
  const emulator = await emulate({ now: NOW, faults: [{ route: 'indicator', status: 404 }] })
  const file = await migratedDatabase()
  const { context, queue } = await joined(file, emulator.url, emulator.key)
  const planner = await joined(file, emulator.url, emulator.key)
  const planning = handOut(planner, LAST_DAY)
  await expect.poll(() => queue.left(LAST_DAY.name)).toBe(1)
  await work(context, queue, { concurrency: 1, untilEmpty: true })
  const { outcome, failures } = await planning
  expect({ outcome, failures }).toMatchObject({ outcome: 'partial', failures: [{ error: { code: 'not-found' } }] })
  expect(failures[0]!.error).toBeInstanceOf(PermanentError)
})

test('a plan ends as a plain run does when the service refuses the key of the last worker, and the next one gets an answer', async () => {
  const emulator = await emulate({ now: NOW })
  const file = await migratedDatabase()
  const planner = await joined(file, emulator.url, emulator.key)
  const wrong = await joined(file, emulator.url, 'x'.repeat(64))
  const planning = handOut(planner, LAST_DAY)
  await expect.poll(() => planner.queue.left(LAST_DAY.name)).toBe(1)
  expect((await work(wrong.context, wrong.queue, { concurrency: 1 })).stop).toBeInstanceOf(KeyError)
  const { outcome, failures, stop } = await planning
  expect({ outcome, failures }).toEqual({ outcome: 'failed', failures: [] })
  expect(stop).toBeInstanceOf(KeyError)
  expect(stop).toMatchObject({ code: 'key-refused', hint: expect.stringContaining('INDICATOR_SYNC_API_KEY') })
  const right = await joined(file, emulator.url, emulator.key)
  const again = handOut(planner, LAST_DAY)
  await work(right.context, right.queue, { concurrency: 1, untilEmpty: true })
  expect(await again).toMatchObject({ outcome: 'done', stop: null })
})

/** A service that fails to answer about indicators, who hands out requests to it, and a worker that takes them until it is stopped. */
async function failing() {
  const emulator = await emulate({ now: NOW, faults: [{ route: 'indicator', status: 500 }] })
  const file = await migratedDatabase()
  const [planner, worker] = [
    await joined(file, emulator.url, emulator.key),
    await joined(file, emulator.url, emulator.key),
  ]
  const stopping = new AbortController()
  const breaker = { failures: 8, pauseMs: 5, openings: 3, giveUpMs: 60_000 }
  const working = work({ ...worker.context, signal: stopping.signal, breaker }, worker.queue, { concurrency: 2 })
  return {
    planner,
    stop: async () => {
      stopping.abort()
      await working
    },
  }
}

test('what fails every time is taken three times and left for the next run, and a plan does not wait for longer', async () => {
  const { planner, stop } = await failing()
  const summary = await handOut(planner, LAST_DAY)
  await stop()
  expect(summary).toMatchObject({
    outcome: 'failed',
    stop: { code: 'unavailable' },
    counts: { requests: 3, failed: 3 },
  })
  expect(summary.failures).toMatchObject([{ error: { code: 'server-error' } }])
  expect(summary.failures[0]!.error).toBeInstanceOf(TransientError)
  expect((await readMachines(planner.store))?.queues).toEqual([])
})

test('what fails of one job is no failure of the next one of the same command', async () => {
  const { planner, stop } = await failing()
  const news = readJob('name: texts\npace: { perSecond: 50 }\ncontent: [{ kinds: [news] }]\n', 'texts.yaml')
  const summaries = await handOutAll(planner, [LAST_DAY, news])
  await stop()
  expect(summaries).toMatchObject([
    { job: 'shared', outcome: 'failed', failures: [{}] },
    { job: 'texts', outcome: 'done', failures: [], counts: { failed: 0 } },
  ])
})

test('a plan whose requests were deleted from the queue is not done, and says how many are missing; the next one requests them', async () => {
  const emulator = await emulate({ now: NOW })
  const file = await migratedDatabase()
  const [planner, worker] = [
    await joined(file, emulator.url, emulator.key),
    await joined(file, emulator.url, emulator.key),
  ]
  const planning = handOut(planner, JOB)
  await expect.poll(() => planner.queue.left(JOB.name)).toBe(5)
  await withClient(file, (client) =>
    client.query(`delete from pgboss.job where id in (select id from pgboss.job where state = 'created' limit 3)`),
  )
  const stopping = new AbortController()
  const working = work({ ...worker.context, signal: stopping.signal }, worker.queue, { concurrency: 2 })
  expect(await planning).toMatchObject({
    outcome: 'stopped',
    counts: { requests: 2 },
    failures: [],
    stop: { code: 'requests-lost', message: '3 planned requests are neither answered nor in the queue any more.' },
  })
  expect(await handOut(planner, JOB)).toMatchObject({ outcome: 'done', stop: null, counts: { requests: 3 } })
  stopping.abort()
  await working
})

test('what was answered since it was planned is not requested, and of the rest only what is left', async () => {
  const emulator = await emulate({ now: NOW })
  const file = await migratedDatabase()
  const one = await joined(file, emulator.url, emulator.key)
  const whole = readJob(
    'name: whole\nseries:\n  - { indicators: [600], geoIds: [3], window: { from: 2025-10-30, to: 2025-11-04 } }\n',
    'whole.yaml',
  )
  const planned = [...plan({ job: whole, service: SERVICES.generic, plannerState: EMPTY_STATE, now: NOW, options: {} })]
  expect(planned).toHaveLength(1)
  // Another one has answered three of its five days meanwhile.
  const range = { from: ms('2025-10-30T23:00:00Z') / 1000, to: ms('2025-11-02T23:00:00Z') / 1000 }
  const turns: SyncContext['turns'] = (pace) =>
    createSharedTurns({ store: one.context.control, pace, signal: one.context.signal })
  await sync({ ...one.context, turns }, JOB, 'sync', { range: { interval: range, how: 'narrow' } })
  const before = emulator.requests.length
  await one.queue.insert(planned.map((request) => queuedOf(whole, request, 0, NOW)))
  expect(await work(one.context, one.queue, { concurrency: 1, untilEmpty: true })).toMatchObject({ done: 1, failed: 0 })
  const requested = emulator.requests.slice(before).map(({ url }) => new URL(url, emulator.url).searchParams)
  expect(requested.map((search) => [search.get('start_date'), search.get('end_date')])).toEqual([
    ['2025-10-29T23:00:00Z', '2025-10-30T22:59:59Z'],
    ['2025-11-02T23:00:00Z', '2025-11-03T22:59:59Z'],
  ])
  await one.queue.insert(planned.map((request) => queuedOf(whole, request, 0, NOW)))
  await work(one.context, one.queue, { concurrency: 1, untilEmpty: true })
  expect(emulator.requests).toHaveLength(before + 2)
})

test('what was answered for some geos of a request is requested for the others only', async () => {
  const emulator = await emulate({ now: NOW })
  const one = await joined(await migratedDatabase(), emulator.url, emulator.key)
  const jobOf = (geoIds: string, window: string) =>
    readJob(`name: geos\nseries:\n  - { indicators: [600], geoIds: ${geoIds}, window: ${window} }\n`, 'geos.yaml')
  const planOf = (job: ReturnType<typeof jobOf>) => [
    ...plan({ job, service: SERVICES.generic, plannerState: EMPTY_STATE, now: NOW, options: {} }),
  ]
  // All of one geo has been answered meanwhile, and the first day of another one.
  for (const job of [
    jobOf('[3]', '{ from: 2025-10-30, to: 2025-11-02 }'),
    jobOf('[2]', '{ from: 2025-10-30, to: 2025-10-31 }'),
  ])
    await one.queue.insert(planOf(job).map((request) => queuedOf(job, request, 0, NOW)))
  await work(one.context, one.queue, { concurrency: 1, untilEmpty: true })
  const before = emulator.requests.length
  const whole = jobOf('[1, 2, 3]', '{ from: 2025-10-30, to: 2025-11-02 }')
  await one.queue.insert(planOf(whole).map((request) => queuedOf(whole, request, 0, NOW)))
  expect(await work(one.context, one.queue, { concurrency: 1, untilEmpty: true })).toMatchObject({ done: 1, failed: 0 })
  const requested = emulator.requests.slice(before).map(({ url }) => new URL(url, emulator.url).searchParams)
  expect(requested.map((search) => [search.getAll('geo_ids[]'), search.get('start_date')])).toEqual([
    [['1'], '2025-10-29T23:00:00Z'],
    [['1', '2'], '2025-10-30T23:00:00Z'],
  ])
})

test('a series that the service does not know is requested once by a worker, not once for each window', async () => {
  const { url, calls } = await serve((_request, response) => json(response, { status: 404 }, 404))
  const file = await migratedDatabase()
  const [planner, worker] = [await joined(file, url, 'key'), await joined(file, url, 'key')]
  const stopping = new AbortController()
  const working = work({ ...worker.context, signal: stopping.signal }, worker.queue, { concurrency: 1 })
  // As in a run of one process, the failure is named, and nothing is missing.
  const summary = await handOut(planner, JOB)
  expect(summary).toMatchObject({ outcome: 'partial', stop: null, failures: [{ error: { code: 'not-found' } }] })
  expect(calls).toHaveLength(1)
  stopping.abort()
  await working
})

test('a worker for another service takes nothing of a plan: it puts it back as it was, and ends', async () => {
  const emulator = await emulate({ now: NOW })
  const { context, queue } = await joined(await migratedDatabase(), emulator.url, emulator.key)
  const planned = plan({ job: LAST_DAY, service: SERVICES.esios, plannerState: EMPTY_STATE, now: NOW, options: {} })
  await queue.insert([...planned].map((request) => queuedOf(LAST_DAY, request, 0, NOW)))
  const before = await queue.open()
  const { done, stop } = await work(context, queue, { concurrency: 1 })
  expect({ done, stop }).toMatchObject({ done: 0, stop: { code: 'other-service' } })
  expect(emulator.requests).toEqual([])
  expect((await queue.open()).map(({ id: _id, ...one }) => one)).toEqual(before.map(({ id: _id, ...one }) => one))
  const right = { ...context, service: SERVICES.esios }
  expect(await work(right, queue, { concurrency: 1, untilEmpty: true })).toMatchObject({ done: 1, failed: 0 })
})

test('two who ask of the same series at the same time never ask for the same interval of it', async () => {
  const emulator = await emulate({ now: NOW, latencyMs: 500 })
  const file = await migratedDatabase()
  const processes = [await joined(file, emulator.url, emulator.key), await joined(file, emulator.url, emulator.key)]
  // Planned at the same instant: neither plan knows of the other.
  const windows = ['{ from: 2025-10-28, to: 2025-11-02 }', '{ from: 2025-10-31, to: 2025-11-04 }']
  for (const [i, window] of windows.entries()) {
    const job = readJob(
      `name: job-${i}\nseries:\n  - { indicators: [600], geoIds: [3], window: ${window} }\n`,
      `job${i}.yaml`,
    )
    const planned = plan({ job, service: SERVICES.generic, plannerState: EMPTY_STATE, now: NOW, options: {} })
    await processes[0]!.queue.insert([...planned].map((request) => queuedOf(job, request, 0, NOW)))
  }
  const worked = await Promise.all(
    processes.map(({ context, queue }) => work(context, queue, { concurrency: 1, untilEmpty: true })),
  )
  expect(worked.reduce((sum, { done }) => sum + done, 0)).toBe(2)
  const requested = emulator.requests
    .map(({ url }) => new URL(url, emulator.url).searchParams)
    .map((search) => [ms(search.get('start_date')!), ms(search.get('end_date')!)] as const)
    .sort(([a], [b]) => a - b)
  expect(requested.length).toBe(2)
  expect(requested[0]![1]).toBeLessThan(requested[1]![0])
  expect(await processes[0]!.store.kysely.selectFrom('_coverage').select(['from_at', 'to_at']).execute()).toEqual([
    { from_at: ms('2025-10-27T23:00:00Z') / 1000, to_at: ms('2025-11-03T23:00:00Z') / 1000 },
  ])
})

test('a worker that is told to stop ends what is on its way, and gives the rest back at once', async () => {
  const emulator = await emulate({ now: NOW, latencyMs: 500 })
  const { context, queue } = await joined(await migratedDatabase(), emulator.url, emulator.key)
  const planned = plan({ job: JOB, service: SERVICES.generic, plannerState: EMPTY_STATE, now: NOW, options: {} })
  await queue.insert([...planned].map((request) => queuedOf(JOB, request, 0, NOW)))
  const stopping = new AbortController()
  const working = work({ ...context, signal: stopping.signal }, queue, { concurrency: 3 })
  while (emulator.requests.length === 0) await sleep(20)
  stopping.abort()
  const { done, failed, stop } = await working
  expect({ failed, stop }).toEqual({ failed: 0, stop: null })
  // Whatever was on its way has come, and was loaded.
  expect(emulator.requests).toHaveLength(done)
  expect(done).toBeLessThan(5)
  expect(await queue.left(JOB.name)).toBe(5 - done)
  expect(await queue.claim(5)).toHaveLength(5 - done)
  expect(await shared(context.store.kysely).selectFrom('_asking').selectAll().execute()).toEqual([])
})

test('a worker process that gets SIGTERM ends what is on its way, takes nothing more and leaves no doubt', async () => {
  const emulator = await emulate({ now: NOW, latencyMs: 1000 })
  const file = await migratedDatabase()
  const { store, queue } = await joined(file, emulator.url, emulator.key)
  const planned = plan({ job: JOB, service: SERVICES.generic, plannerState: EMPTY_STATE, now: NOW, options: {} })
  await queue.insert([...planned].map((request) => queuedOf(JOB, request, 0, NOW)))
  const env = { INDICATOR_SYNC_DATABASE: file, INDICATOR_SYNC_API_KEY: emulator.key }
  const args = ['worker', '--service', 'generic', '--base-url', emulator.url, '--concurrency', '1']
  const { code } = await runCli(tempFolder(), args, env, async (child) => {
    while (emulator.requests.length === 0) await sleep(20)
    child.kill('SIGTERM')
  })
  expect(code).toBe(143)
  expect(emulator.requests).toHaveLength(1)
  expect(await store.kysely.selectFrom('_fetch').select('outcome').execute()).toEqual([{ outcome: 'ok' }])
  expect(await store.kysely.selectFrom('_run').select('outcome').execute()).toEqual([{ outcome: 'done' }])
  expect(await store.kysely.selectFrom('_coverage').select('state').execute()).toEqual([{ state: 'values' }])
  for (const table of ['_asking', '_call', '_worker'] as const)
    expect(await shared(store.kysely).selectFrom(table).selectAll().execute(), table).toEqual([])
  expect(await queue.claim(5)).toHaveLength(4)
})

test('a worker takes nothing more once a newer version has migrated the database', async () => {
  const emulator = await emulate({ now: NOW })
  const file = await migratedDatabase()
  const { context, queue } = await joined(file, emulator.url, emulator.key)
  const working = work(context, queue, { concurrency: 1 })
  await withClient(file, (client) => client.query(`insert into _migration values ('9999_later', '2030-01-01')`))
  expect(await working).toMatchObject({ done: 0, stop: { code: 'newer-schema' } })
})

test('a worker whose role may not make the queue tells who makes it, and begins once it is there', async () => {
  const { as } = await databaseWithRoles()
  const writer = await openStore(as('writer'))
  onTestFinished(() => writer.close())
  const worker = await openStore(as('worker'))
  onTestFinished(() => worker.close())
  const open = (of: typeof writer) =>
    openQueue<QueuedRequest>(of, 'service.test', { supervises: false, onError: () => undefined })
  await expect(open(worker)).rejects.toMatchObject({
    code: 'no-queue',
    message: 'The database has no queue yet, and this user may not make it.',
    hint: expect.stringContaining('sync --distributed'),
  })
  for (const store of [writer, worker]) {
    const queue = await open(store)
    onTestFinished(() => queue.close())
    expect(await queue.left(JOB.name)).toBe(0)
  }
})

test('a run that begins closes earlier ones of its job, and leaves those of other jobs, which may be alive', async () => {
  const { store } = await joined(await migratedDatabase(), 'http://service.test', 'key')
  const begin = (job: string) => beginRun(store, { command: 'sync', job, version: 'test', now: '2025-11-04T12:00:00Z' })
  const [one, other] = [await begin('one'), await begin('other')]
  const again = await begin('one')
  expect(await store.kysely.selectFrom('_run').select(['id', 'outcome']).orderBy('id').execute()).toEqual([
    { id: one, outcome: 'failed' },
    { id: other, outcome: 'running' },
    { id: again, outcome: 'running' },
  ])
})

test('the run of a worker that was killed is closed by the next worker, also by one that leaves at once', async () => {
  const emulator = await emulate({ now: NOW })
  const { context, queue, store } = await joined(await migratedDatabase(), emulator.url, emulator.key)
  const run = { command: WORKER, job: JOB.name, version: 'test', now: '2025-11-04T12:00:00Z' }
  const id = await beginRun(store, run)
  const killed = await register(store, hostOf(emulator.url), 'test')
  await killed.beat({ claims: 1, done: 0, draining: 0, runs: `${id}`, holding: null })
  await shared(store.kysely).updateTable('_worker').set({ seen_at: 0 }).execute()
  expect(await work(context, queue, { concurrency: 1, untilEmpty: true })).toMatchObject({ done: 0, stop: null })
  expect(await store.kysely.selectFrom('_run').select(['id', 'outcome']).execute()).toEqual([
    { id, outcome: 'stopped' },
  ])
  expect(await shared(store.kysely).selectFrom('_worker').select('id').execute()).toEqual([])
})

const WAITS = { timeout: 60_000 }

/** Makes a database take all its workers for dead, as it does one that was silent for a minute. */
async function takeForDead({ store, context }: Process): Promise<void> {
  await shared(store.kysely).updateTable('_worker').set({ seen_at: 0 }).execute()
  await (await register(store, hostOf(context.baseUrl), 'test')).leave()
}

test.each<[who: string, joins: (process: Process) => Promise<void>]>([
  ['worker', async ({ context }) => (await register(context.control, 'service.test', 'test')).leave()],
  ['sync', async ({ store, context }) => (await openSharedRun(store, context)).close()],
])(
  'the leases and calls of processes that died are forgotten by any %s, those of the others are not',
  async (_who, joins) => {
    const process = await joined(await migratedDatabase(), 'http://service.test', 'key')
    const { store } = process
    const db = shared(store.kysely)
    const soon = (await coordinationOf(store).clock()) + 60_000
    const leases = [
      { claim: 'series', series_id: null, geo_ids: null, from_at: 1, to_at: 2, target: null },
      { claim: 'listing', series_id: null, geo_ids: null, from_at: null, to_at: null, target: '/indicators' },
    ]
    await db
      .insertInto('_asking')
      .values(leases.map((lease) => ({ ...lease, until_at: 1 })))
      .execute()
    await db.insertInto('_asking').values({ claim: 'alive', target: '/news', until_at: soon }).execute()
    await db
      .insertInto('_call')
      .values([1, soon].map((until_at) => ({ host: 'service.test', until_at })))
      .execute()
    await joins(process)
    expect(await db.selectFrom('_asking').select('claim').execute()).toEqual([{ claim: 'alive' }])
    expect(await db.selectFrom('_call').select('until_at').execute()).toEqual([{ until_at: soon }])
  },
)

test('a worker that was taken for dead and comes back is noted again, and its runs are closed when it is killed', async () => {
  const emulator = await emulate({ now: NOW })
  const process = await joined(await migratedDatabase(), emulator.url, emulator.key)
  const { store } = process
  const noted = async () => (await readMachines(store))!.workers.map(({ seenAt: _, ...worker }) => worker)
  const run = { command: WORKER, job: JOB.name, version: 'test', now: '2025-11-04T12:00:00Z' }
  const outcomes = () => store.kysely.selectFrom('_run').select(['id', 'outcome']).orderBy('id').execute()
  const [before, after] = [await beginRun(store, run), await beginRun(store, run)]
  const silent = await register(store, hostOf(emulator.url), 'test')
  const heartbeat = { claims: 1, done: 0, draining: 0, runs: `${before}`, holding: null } as const
  expect(await silent.beat(heartbeat)).toBe(false)
  const [worker] = await noted()
  await takeForDead(process)
  expect(await noted()).toEqual([])
  expect(await silent.beat({ ...heartbeat, runs: `${before},${after}` })).toBe(true)
  expect(await noted()).toEqual([worker])
  expect(await outcomes()).toEqual([
    { id: before, outcome: 'stopped' },
    { id: after, outcome: 'running' },
  ])
  expect(await silent.beat({ ...heartbeat, runs: `${after}` })).toBe(false)
  await takeForDead(process)
  expect(await outcomes()).toEqual([before, after].map((id) => ({ id, outcome: 'stopped' })))
})

test('what a worker does after it was taken for dead belongs to a new run; the one that others ended stays so', async () => {
  const emulator = await emulate({ now: NOW })
  const process = await joined(await migratedDatabase(), emulator.url, emulator.key)
  const { store, context } = process
  const [planned] = plan({ job: JOB, service: SERVICES.generic, plannerState: EMPTY_STATE, now: NOW, options: {} })
  const { data } = queuedOf(JOB, planned!, 0, NOW)
  const events: SyncEvent[] = []
  const workerRuns = createWorkerRuns({ ...context, onEvent: (event) => events.push(event) })
  const { runId: first } = await workerRuns.of(data)
  workerRuns.giveUp()
  const { runId: second } = await workerRuns.of(data)
  expect(second).not.toBe(first)
  expect(workerRuns.runs()).toEqual([first, second])
  await workerRuns.end(null)
  expect(workerRuns.runs()).toEqual([])
  expect(await store.kysely.selectFrom('_run').select(['id', 'outcome', 'message']).orderBy('id').execute()).toEqual([
    { id: first, outcome: 'stopped', message: expect.stringContaining('was silent for more than 60 s') },
    { id: second, outcome: 'done', message: null },
  ])
  const ended = events.filter(({ event }) => event === 'run.ended')
  expect(new Map(ended.map(({ run, code }) => [run, code]))).toEqual(
    new Map([
      [first, 'silent'],
      [second, null],
    ]),
  )
  expect(ended).toHaveLength(2)
})

test('a worker at work that was taken for dead is there again after its next heartbeat', async () => {
  const emulator = await emulate({ now: NOW })
  const process = await joined(await migratedDatabase(), emulator.url, emulator.key)
  const { store, context, queue } = process
  const stopping = new AbortController()
  const working = work({ ...context, signal: stopping.signal }, queue, { concurrency: 1 })
  const workers = async () => (await readMachines(store))!.workers.length
  await expect.poll(workers, WAITS).toBe(1)
  await takeForDead(process)
  await expect.poll(workers, WAITS).toBe(1)
  stopping.abort()
  await working
})

/** A command that hands a plan to workers, and there are none: its lines, and what is recorded of its run while it waits. */
async function handOutAlone(file: string, url: string, key: string, then: (child: ChildProcess) => Promise<void>) {
  const folder = tempFolder()
  writeFileSync(join(folder, 'job.yaml'), YAML)
  const env = { INDICATOR_SYNC_DATABASE: file, INDICATOR_SYNC_API_KEY: key }
  const args = ['sync', 'job.yaml', '--distributed', '--service', 'generic', '--base-url', url, '--log-format', 'json']
  const { code, err } = await runCli(folder, args, env, then)
  const events = err.split('\n').flatMap((line): SyncEvent[] => (line.startsWith('{') ? [JSON.parse(line)] : []))
  return { code, runs: events.filter(({ event }) => event.startsWith('run.') && event !== 'run.progress') }
}

test('the run of a plan that is handed out goes on until nothing is left, or the wait is stopped', async () => {
  const emulator = await emulate({ now: NOW })
  const file = await migratedDatabase()
  const { store, queue } = await joined(file, emulator.url, emulator.key)
  const outcomes = () => store.kysely.selectFrom('_run').select(['outcome', 'message']).execute()
  const seen: unknown[] = []
  const { code, runs } = await handOutAlone(file, emulator.url, emulator.key, async (child) => {
    while ((await queue.left(JOB.name)) < 5) await sleep(20)
    seen.push(...(await outcomes()))
    // Another run takes it for one that a crash left open; it says again that it goes on.
    await store.kysely.updateTable('_run').set({ outcome: 'stopped', message: 'gone' }).execute()
    while ((await outcomes())[0]!.outcome !== 'running') await sleep(20)
    child.kill('SIGINT')
  })
  expect(code).toBe(130)
  expect(seen).toEqual([{ outcome: 'running', message: null }])
  expect(runs).toMatchObject([
    { event: 'run.started', run: 1 },
    { event: 'run.ended', run: 1, outcome: 'stopped', code: 'signal', requests: 0 },
  ])
  expect(await outcomes()).toEqual([{ outcome: 'stopped', message: 'Stopped by a signal.' }])
  expect(await queue.left(JOB.name)).toBe(5)
})

test('a sync beside workers never asks for what one of them asks for at that moment', async () => {
  const emulator = await emulate({ now: NOW, latencyMs: 500 })
  const file = await migratedDatabase()
  const [one, two] = [await joined(file, emulator.url, emulator.key), await joined(file, emulator.url, emulator.key)]
  const jobOf = (window: string) =>
    readJob(`name: whole\nseries:\n  - { indicators: [600], geoIds: [3], window: ${window} }\n`, 'whole.yaml')
  const first = jobOf('{ from: 2025-10-28, to: 2025-11-02 }')
  const planned = plan({ job: first, service: SERVICES.generic, plannerState: EMPTY_STATE, now: NOW, options: {} })
  await one.queue.insert([...planned].map((request) => queuedOf(first, request, 0, NOW)))
  const working = work(one.context, one.queue, { concurrency: 1, untilEmpty: true })
  while (emulator.requests.length === 0) await sleep(20)
  const leases = createOwnLeases(createLeases(two.store, two.context.control, two.context.signal), 0)
  onTestFinished(() => leases.close())
  const turns: SyncContext['turns'] = (pace) =>
    createSharedTurns({ store: two.context.control, pace, signal: two.context.signal })
  const synced = sync({ ...two.context, turns, leased: leases.leased }, jobOf('{ from: 2025-10-31, to: 2025-11-04 }'))
  expect(await working).toMatchObject({ done: 1, failed: 0 })
  expect(await synced).toMatchObject({ outcome: 'done', counts: { requests: 1 } })
  const requested = emulator.requests.map(({ url }) => new URL(url, emulator.url).searchParams.get('start_date'))
  expect(requested).toEqual(['2025-10-27T23:00:00Z', '2025-11-01T23:00:00Z'])
  expect(await shared(two.store.kysely).selectFrom('_asking').selectAll().execute()).toEqual([])
})

test('a sync beside workers, and a plan that needs the catalogue, request no listing that another process requests', async () => {
  const emulator = await emulate({ now: NOW, latencyMs: 500 })
  const file = await migratedDatabase()
  const listings = (name: string) =>
    readJob(
      `name: ${name}\npace: { perSecond: 50 }\ncatalogue: { locales: [es, en] }\ncontent: [{ kinds: [news], locales: [es] }]\nseries: [{ indicators: { match: precio, exclude: [600] }, window: { from: 2025-11-03, to: 2025-11-04 } }]\n`,
      `${name}.yaml`,
    )
  const worker = await joined(file, emulator.url, emulator.key)
  const stopping = new AbortController()
  const working = work({ ...worker.context, signal: stopping.signal }, worker.queue, { concurrency: 4 })
  const run = async (name: string, distributed: boolean) => {
    const { store, context } = await joined(file, emulator.url, emulator.key)
    const sharedRun = await openSharedRun(store, context, distributed)
    try {
      return await sync({ ...context, ...sharedRun.context, now: context.now }, listings(name))
    } finally {
      await sharedRun.close()
    }
  }
  for (const { outcome } of await Promise.all([run('a', true), run('b', true), run('c', false)]))
    expect(outcome).toBe('done')
  stopping.abort()
  await working
  const requested = emulator.requests.map(({ url }) => url)
  expect([...requested].sort()).toEqual([...new Set(requested)].sort())
  expect(requested.length).toBeGreaterThan(2)
  expect(await shared(worker.store.kysely).selectFrom('_asking').selectAll().execute()).toEqual([])
})

test('of two requests whose workers died with leases on the same days, one goes on: nobody waits for a lease of who waits', async () => {
  const [planned] = plan({ job: JOB, service: SERVICES.generic, plannerState: EMPTY_STATE, now: NOW, options: {} })
  const { store, context } = await joined(await migratedDatabase(), 'http://service.test', 'key')
  const leases = createLeases(store, context.control, AbortSignal.timeout(30_000))
  const [one, two] = [
    { id: 'one', after: 0 },
    { id: 'two', after: 0 },
  ]
  await leases.acquire(one, planned!)
  // Nothing was heard of the first for so long that the second got the days; then both are in hand again.
  await shared(store.kysely).updateTable('_asking').set({ until_at: 0 }).execute()
  await leases.acquire(two, planned!)
  await leases.renew([one, two])
  const beat = setInterval(() => leases.renew([one, two]).catch(() => undefined), 50)
  onTestFinished(() => clearInterval(beat))
  const again = [one, two].map((holder) => leases.acquire(holder, planned!).then(() => leases.release(holder)))
  await Promise.all(again)
  expect(await shared(store.kysely).selectFrom('_asking').selectAll().execute()).toEqual([])
})

test('a later attempt at a request takes the place of the earlier ones: it waits for no lease of theirs', async () => {
  const [planned] = plan({ job: JOB, service: SERVICES.generic, plannerState: EMPTY_STATE, now: NOW, options: {} })
  const { store, context } = await joined(await migratedDatabase(), 'http://service.test', 'key')
  const leases = createLeases(store, context.control, AbortSignal.timeout(20_000))
  const attempt = (retryCount: number) =>
    leaseHolderOf({ key: '', id: 'claim', retryCount, priority: 0, data: queuedOf(JOB, planned!, 0, NOW).data })
  await leases.acquire(attempt(0), planned!)
  // Its worker died just after it had renewed it, and the lease lasts as long as one likes.
  await shared(store.kysely).updateTable('_asking').set({ until_at: 8e15 }).execute()
  expect(await leases.acquire(attempt(1), planned!)).toEqual([planned])
  expect(await shared(store.kysely).selectFrom('_asking').select('claim').execute()).toEqual([{ claim: 'claim 1' }])
})

test('who was given up writes nothing more: the answer of a worker whose request others have is rolled back', async () => {
  const emulator = await emulate({ now: NOW })
  const { store, queue } = await joined(await migratedDatabase(), emulator.url, emulator.key)
  const [planned] = plan({ job: JOB, service: SERVICES.generic, plannerState: EMPTY_STATE, now: NOW, options: {} })
  await queue.insert([queuedOf(JOB, planned!, 0, NOW)])
  const [claim] = await queue.claim(1)
  const late = claimedRequest(store, queue, claim!, planned!)
  // Given to another one, as it is when nothing is heard of a worker.
  await queue.fail(claim!, {})
  let [again] = await queue.claim(1)
  while (!again) {
    await sleep(200)
    ;[again] = await queue.claim(1)
  }
  const write = (request: typeof late) =>
    request.store.write(async (tx) => {
      await tx.insertInto('_budget').values({ host: 'x', called_at: 1 }).execute()
      await request.onRecorded(tx, planned!, null)
    })
  await expect(write(late)).rejects.toMatchObject({ code: 'claim-lost' })
  expect(await store.kysely.selectFrom('_budget').selectAll().execute()).toEqual([])
  const claimed = claimedRequest(store, queue, again, planned!)
  await write(claimed)
  expect(claimed.isEnded()).toBe(true)
  expect(await store.kysely.selectFrom('_budget').selectAll().execute()).toHaveLength(1)
  expect(await queue.left(JOB.name)).toBe(0)
})

test('what goes wrong in the hands of a worker is told by events of its own, with what it was about', async () => {
  const emulator = await emulate({ now: NOW, latencyMs: 1000 })
  const file = await migratedDatabase()
  const { context, queue } = await joined(file, emulator.url, emulator.key)
  const [planned] = plan({ job: JOB, service: SERVICES.generic, plannerState: EMPTY_STATE, now: NOW, options: {} })
  const queued = queuedOf(JOB, planned!, 0, NOW)
  const events: SyncEvent[] = []
  const stopping = new AbortController()
  let refusals = 2
  const failing: typeof queue = {
    ...queue,
    async claim(count) {
      if (refusals-- > 0) throw new StoreError('The server is gone.', { code: 'no-server', hint: 'Start it.' })
      return queue.claim(count)
    },
  }
  const unknown = { ...queued, data: { ...queued.data, route: 'nonsense' as 'indicator' }, key: 'nonsense' }
  await queue.insert([queued, unknown])
  const onEvent = (event: SyncEvent) => {
    events.push(event)
    if (event.event === 'claim.lost') stopping.abort()
  }
  const working = work({ ...context, signal: stopping.signal, onEvent }, failing, { concurrency: 2 })
  while (emulator.requests.length === 0) await sleep(20)
  // Another one has it now: its attempt is a later one.
  await withClient(file, (client) => client.query(`update pgboss.job set retry_count = 5 where state = 'active'`))
  await working
  const command = 'worker'
  expect(events.filter(({ event }) => /^(database|claim|note)/.test(event))).toMatchObject([
    { event: 'database.lost', command, code: 'no-server', reason: 'The server is gone.', hint: 'Start it.' },
    { event: 'database.back', command },
    { event: 'claim.failed', command, job: 'shared', route: 'nonsense', attempt: 1, code: 'unknown-route' },
    {
      event: 'claim.lost',
      command,
      job: 'shared',
      run: 1,
      route: 'indicator',
      indicator: 600,
      attempt: 1,
      window: { from: expect.any(String), to: expect.any(String) },
      code: 'claim-lost',
    },
  ])
})

test('a worker whose connection the server ends tells that it was lost, not of a bug, and goes on', async () => {
  const emulator = await emulate({ now: NOW })
  const file = await migratedDatabase()
  const { context, queue } = await joined(file, emulator.url, emulator.key)
  const [planned] = plan({ job: JOB, service: SERVICES.generic, plannerState: EMPTY_STATE, now: NOW, options: {} })
  await queue.insert([queuedOf(JOB, planned!, 0, NOW)])
  const events: SyncEvent[] = []
  const onEvent = (event: SyncEvent) => void events.push(event)
  const working = await withClient(file, async (client) => {
    await client.query('begin; lock table pgboss.job')
    const begun = work({ ...context, onEvent }, queue, { concurrency: 1, untilEmpty: true })
    while (!events.some(({ event }) => event === 'database.lost')) {
      await client.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
      await sleep(20)
    }
    return { begun }
  })
  expect(await working.begun).toEqual({ done: 1, failed: 0, stop: null })
  expect(events.filter(({ event, code }) => event.startsWith('database') || code === 'bug')).toMatchObject([
    { event: 'database.lost', code: '57p01', hint: 'Run the command again; what was committed is kept.' },
    { event: 'database.back' },
  ])
})

test('a worker whose rights are revoked, or whose queue is deleted, ends and says what to do, and not that the database does not answer', async () => {
  const { url, as } = await databaseWithRoles()
  const writer = await joined(as('writer'), 'http://service.test', 'key')
  const ends = async (meanwhile: string) => {
    const { context, queue } = await joined(as('worker'), 'http://service.test', 'key')
    const events: SyncEvent[] = []
    const working = work({ ...context, onEvent: (event) => events.push(event) }, queue, { concurrency: 1 })
    await expect.poll(async () => (await readMachines(writer.store))?.workers).toHaveLength(1)
    await withClient(url, (client) => client.query(meanwhile))
    const { stop } = await working
    expect(events.filter(({ event }) => event.startsWith('database'))).toEqual([])
    expect(exitCodeOf(stop)).toBe(EXIT.store)
    return stop
  }
  expect(await ends('revoke all on all tables in schema pgboss from indicator_worker')).toMatchObject({
    name: 'RightsError',
    hint: expect.stringContaining('docs/scale.md'),
  })
  await withClient(url, (client) => client.query(readFileSync('docs/roles.sql', 'utf8')))
  // The heartbeat needs it.
  expect(await ends('revoke update on _worker from indicator_worker')).toMatchObject({ name: 'RightsError' })
  await withClient(url, (client) => client.query(readFileSync('docs/roles.sql', 'utf8')))
  expect(await ends('drop schema pgboss cascade')).toMatchObject({
    code: 'no-queue',
    hint: expect.stringContaining('sync --distributed'),
  })
})

test('a worker whose queue is deleted while it has a request in hand does not say that the database does not answer', async () => {
  const [asked, mayAnswer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const { url: service } = await serve(async (_request, response) => {
    asked.resolve()
    await mayAnswer.promise
    json(response, { message: 'no' }, 404)
  })
  const file = await migratedDatabase()
  const { context, queue } = await joined(file, service, 'key')
  const [planned] = plan({ job: JOB, service: SERVICES.generic, plannerState: EMPTY_STATE, now: NOW, options: {} })
  await queue.insert([queuedOf(JOB, planned!, 0, NOW)])
  const events: SyncEvent[] = []
  const working = work({ ...context, onEvent: (event) => events.push(event) }, queue, { concurrency: 1 })
  await asked.promise
  await withClient(file, (client) => client.query('drop schema pgboss cascade'))
  await sleep(2 * BEAT_MS)
  mayAnswer.resolve()
  expect((await working).stop).toMatchObject({ code: 'no-queue' })
  expect(events.filter(({ event }) => event.startsWith('database'))).toEqual([])
})

test('a bug outside of a request ends a worker; a full disk while it handles one is no bug', async () => {
  const { context, queue } = await joined(await migratedDatabase(), 'http://service.test', 'key')
  const bug = new TypeError('x is not a function')
  const { stop } = await work(context, { ...queue, claim: () => Promise.reject(bug) }, { concurrency: 1 })
  expect(stop).toMatchObject({ name: 'BugError', cause: bug })
  expect(exitCodeOf(stop)).toBe(EXIT.bug)

  const [planned] = plan({ job: JOB, service: SERVICES.generic, plannerState: EMPTY_STATE, now: NOW, options: {} })
  await queue.insert([queuedOf(JOB, planned!, 0, NOW)])
  const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC', syscall: 'write', path: '/tmp/x' })
  const stopping = new AbortController()
  const events: SyncEvent[] = []
  let failed = 0
  const onEvent = (event: SyncEvent) => {
    events.push(event)
    if (event.event === 'claim.failed') stopping.abort()
  }
  const counting: typeof queue = {
    ...queue,
    async fail(...about) {
      failed++
      return queue.fail(...about)
    },
  }
  const store = { ...context.store, write: () => Promise.reject(full) }
  await work({ ...context, store, signal: stopping.signal, onEvent }, counting, { concurrency: 1 })
  expect(events.filter(({ event }) => event === 'claim.failed')).toMatchObject([{ code: 'enospc' }])
  expect(failed).toBe(0)
})

test('a refused key ends a worker, and its requests are there for others; what may pass is tried again', async () => {
  const emulator = await emulate({
    now: NOW,
    faults: [{ route: 'indicator', every: 4, status: 500 }],
  })
  const file = await migratedDatabase()
  const [wrong, right] = [
    await joined(file, emulator.url, 'w'.repeat(64)),
    await joined(file, emulator.url, emulator.key),
  ]
  const planned = [...plan({ job: JOB, service: SERVICES.generic, plannerState: EMPTY_STATE, now: NOW, options: {} })]
  await wrong.queue.insert(planned.map((request) => queuedOf(JOB, request, 0, NOW)))
  const { stop } = await work(wrong.context, wrong.queue, { concurrency: 1, untilEmpty: true })
  expect(stop).toMatchObject({ name: 'KeyError' })
  const runs = wrong.context.store.kysely.selectFrom('_run').select('outcome')
  expect(await runs.execute()).toEqual([{ outcome: 'failed' }])
  expect(await right.queue.left(JOB.name)).toBe(5)
  await work(right.context, right.queue, { concurrency: 2, untilEmpty: true })
  expect(await right.queue.left(JOB.name)).toBe(0)
})
