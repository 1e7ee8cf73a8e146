import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { EXIT, exitCodeFor } from '../../src/cli/terminal/fail.ts'
import { openQueue } from '../../src/cluster/queue.ts'
import { toQueuedRequest } from '../../src/cluster/queuedRequest.ts'
import type { WorkerContext } from '../../src/cluster/runWorker.ts'
import { openStore } from '../../src/db/open.ts'
import { clearQueue, readQueues } from '../../src/db/queries/queues.ts'
import { readJob } from '../../src/job/read.ts'
import { planJob } from '../../src/plan/planJob.ts'
import { EMPTY_STATE } from '../../src/plan/plannerState.ts'
import { SERVICES } from '../../src/service/services.ts'
import { openRun } from '../../src/sync/record.ts'
import { KeyError, PermanentError, TransientError } from '../../src/util/errors.ts'
import type { SyncEvent } from '../../src/util/events.ts'
import { databaseWithRoles, migratedDatabase, withClient } from '../postgres/database.ts'
import { emulate, json, runCli, serve, tempFolder, valueAt } from '../support/kit.ts'
import { IN_FULL } from '../support/randomCases.ts'
import { testSignals } from '../support/systems.ts'
import { distribute, JOB, jobStates, joined, LAST_DAY, NOW, startWorker, YAML } from './joined.ts'
import { machine } from './machines.ts'

const WAIT = { timeout: 60_000 }

const ONE_VALUE = {
  indicator: {
    id: 600,
    tiempo: [{ id: 4 }],
    geos: [{ geo_id: 3, geo_name: 'España' }],
    values: [valueAt(NOW - 86_400)],
  },
}

/** Starts a service and prepares processes that share a database. */
async function machines(options: Omit<Parameters<typeof emulate>[0], 'now'> = {}) {
  const emulator = await emulate({ now: NOW, ...options })
  const file = await migratedDatabase()
  const join = (key = emulator.key) => joined(file, emulator.url, key)
  return {
    emulator,
    file,
    join,
    states: () => jobStates(file, emulator.url),
    sql: (text: string) => withClient(file, (client) => client.query(text)),
  }
}

/** Queues the requests of a job without a waiting plan. */
async function send(context: WorkerContext, job = JOB, service = SERVICES.generic): Promise<void> {
  const { id: run } = await openRun(context, { command: 'sync', job })
  const queue = await openQueue(context.store, new URL(context.baseUrl).host, () => undefined)
  const planned = planJob({ job, service, plannerState: EMPTY_STATE, now: NOW, options: {} })
  await queue.send([...planned].map((request, position) => toQueuedRequest(job, run, request, { now: NOW, position })))
  await queue.close()
}

/** Starts a worker and records its events. */
function startRecorded(context: WorkerContext, options: Parameters<typeof startWorker>[1] = {}) {
  const events: SyncEvent[] = []
  const names = (): string[] => events.map(({ event }) => event)
  return { events, names, ...startWorker({ ...context, onEvent: (event) => void events.push(event) }, options) }
}

test('workers fetch and load each request of a plan once, in the run of the plan', async () => {
  const { emulator, join, states } = await machines()
  const planner = await join()
  const workers = [startWorker(await join()), startWorker(await join())]
  const events: SyncEvent[] = []
  const [summary] = await distribute(planner, [JOB], (event) => void events.push(event))
  expect(summary).toMatchObject({ outcome: 'done', earlyEnd: null, counts: { requests: 5, failed: 0 } })
  expect(summary!.counts.rows_new).toBeGreaterThan(100)
  const ofRun = events.filter(({ event }) => ['run.started', 'run.ended'].includes(event))
  expect(ofRun).toMatchObject([
    { event: 'run.started', run: summary!.runId },
    { event: 'run.ended', run: summary!.runId, outcome: 'done', requests: 5, failed: 0 },
  ])
  expect(await states()).toEqual({ completed: 5 })
  expect(await readQueues(planner.store)).toEqual([])
  expect(await distribute(planner)).toMatchObject([{ outcome: 'done', counts: { requests: 0 } }])
  const worked = await Promise.all(workers.map(({ stop }) => stop()))
  expect(worked.reduce((sum, { done }) => sum + done, 0)).toBe(5)
  expect(new Set(emulator.requests.map(({ url }) => url)).size).toBe(5)
  expect(emulator.requests).toHaveLength(5)
})

test.each([
  [404, 'partial', 'not-found', PermanentError, null],
  [500, 'failed', 'server-error', TransientError, { code: 'unavailable' }],
] as const)(
  'a request that returns %i fails as in a run of a single process',
  async (status, outcome, code, ErrorClass, stop) => {
    const { join } = await machines({ faults: [{ route: 'indicator', status }] })
    startWorker({ ...(await join()), breaker: { failures: 8, pauseMs: 5, openings: 3, giveUpMs: 60_000 } })
    const news = readJob('name: texts\npace: { perSecond: 50 }\ncontent: [{ kinds: [news] }]\n', 'texts.yaml')
    const [failed, next] = await distribute(await join(), [LAST_DAY, news])
    expect(failed).toMatchObject({ outcome, counts: { requests: 1, failed: 1 }, failures: [{ error: { code } }] })
    expect(failed!.failures[0]!.error).toBeInstanceOf(ErrorClass)
    if (stop) expect(failed!.earlyEnd).toMatchObject(stop)
    else expect(failed!.earlyEnd).toBeNull()
    // The next job of the same command is not affected.
    expect(next).toMatchObject({ job: 'texts', outcome: 'done', failures: [] })
  },
)

test("a plan fails like a plain run if the last worker's key is refused, and the next succeeds", async () => {
  const { join } = await machines()
  const wrong = startWorker(await join('x'.repeat(64)))
  const planner = await join()
  const [{ outcome, failures, earlyEnd } = {}] = await distribute(planner, [LAST_DAY])
  expect({ outcome, failures }).toMatchObject({ outcome: 'failed', failures: [{ error: { code: 'key-refused' } }] })
  expect(earlyEnd).toBeInstanceOf(KeyError)
  expect(earlyEnd).toMatchObject({ code: 'key-refused', hint: expect.stringContaining('INDICATOR_SYNC_API_KEY') })
  expect((await wrong.working).earlyEnd).toBeInstanceOf(KeyError)
  startWorker(await join())
  expect(await distribute(planner, [LAST_DAY])).toMatchObject([{ outcome: 'done', earlyEnd: null }])
})

test('a plan ends when workers cannot reach the service, and they send its requests after recovery', async () => {
  const { emulator, join, states } = await machines()
  const { port } = new URL(emulator.url)
  await emulator.close()
  const breaker = { failures: 3, pauseMs: 2_000, openings: 1, giveUpMs: 60_000 }
  const recorded = startRecorded({ ...(await join()), breaker })
  const [{ outcome, failures, earlyEnd } = {}] = await distribute(await join())
  expect({ outcome, failures }).toEqual({ outcome: 'failed', failures: [] })
  expect(earlyEnd).toMatchObject({ code: 'unavailable', hint: expect.stringContaining('stay in the queue') })
  expect(exitCodeFor(earlyEnd!)).toBe(EXIT.unavailable)
  expect(recorded.names()).toContain('calls.paused')
  await emulate({ now: NOW, port: Number(port), key: emulator.key })
  await expect.poll(states, WAIT).toEqual({ completed: 5 })
})

test('an unknown series is requested once, not once per window', async () => {
  const { url, calls } = await serve((_request, response) => json(response, { status: 404 }, 404))
  const file = await migratedDatabase()
  startWorker(await joined(file, url, 'key'), { concurrency: 1 })
  const summaries = await distribute(await joined(file, url, 'key'))
  expect(summaries).toMatchObject([
    { outcome: 'partial', earlyEnd: null, failures: [{ error: { code: 'not-found' } }] },
  ])
  expect(calls).toHaveLength(1)
})

test('a window that is too large is loaded in parts, and its request completes after the last', async () => {
  const { join, states, sql } = await machines({ geoDays: 2 })
  startWorker(await join())
  const whole = readJob(YAML.replace(', chunk: 1d', ''), 'whole.yaml')
  expect(await distribute(await join(), [whole])).toMatchObject([{ outcome: 'done' }])
  expect(await states()).toEqual({ completed: 1 })
  const { rows } = await sql('select sum(to_at - from_at)::int as covered from _coverage')
  expect(rows).toEqual([{ covered: 5 * 86_400 }])
})

test('a request whose workers died too often is reported and requested again by the next plan', async () => {
  const { join, states, sql } = await machines()
  const planner = await join()
  const planning = distribute(planner)
  await expect.poll(states, WAIT).toEqual({ created: 5 })
  await sql(
    `update pgboss.job set data = '{}', retry_limit = 0 where id = (select min(id::text)::uuid from pgboss.job)`,
  )
  startWorker(await join())
  expect(await planning).toMatchObject([
    {
      outcome: 'stopped',
      counts: { requests: 4 },
      earlyEnd: { code: 'requests-dead', message: expect.stringContaining('1 request is dead') },
    },
  ])
  expect(await readQueues(planner.store)).toMatchObject([{ queued: 0, active: 0, dead: 1 }])
  expect(await distribute(planner)).toMatchObject([{ outcome: 'done', earlyEnd: null, counts: { requests: 1 } }])
  expect(await readQueues(planner.store)).toEqual([])
})

testSignals('a plan and a plain sync refuse a database with another active plan and name it', async () => {
  const { emulator, file, states } = await machines()
  const folder = tempFolder()
  writeFileSync(join(folder, 'job.yaml'), YAML)
  const env = { INDICATOR_SYNC_DATABASE: file, INDICATOR_SYNC_API_KEY: emulator.key }
  const args = ['sync', 'job.yaml', '--service', 'generic', '--base-url', emulator.url]
  const waiting = await runCli(folder, [...args, '--distributed', '--log-format', 'json'], env, async (child) => {
    await expect.poll(() => states().catch(() => null), WAIT).toEqual({ created: 5 })
    for (const more of [['--distributed'], []])
      expect(await runCli(folder, [...args, ...more], env)).toMatchObject({
        code: EXIT.busy,
        err: expect.stringContaining(`Process ${child.pid} on `),
      })
    child.kill('SIGINT')
  })
  expect(waiting.code).toBe(130)
  // Workers may continue with its requests until the next plan replaces them.
  expect(await states()).toEqual({ created: 5 })
  expect((await runCli(folder, args, env)).code).toBe(EXIT.done)
  expect(await states()).toEqual({})
  expect(emulator.requests).toHaveLength(5)
})

test.each<[string, string, (context: WorkerContext, sql: (text: string) => Promise<unknown>) => Promise<unknown>]>([
  [
    'another worker acquired',
    'active',
    (_context, sql) => sql(`update pgboss.job set retry_count = 5 where state = 'active'`),
  ],
  ['a new plan replaced', '', (context) => clearQueue(context.store.kysely, new URL(context.baseUrl).host)],
])('a worker writes nothing for a request that %s', async (_who, state, take) => {
  const { file, join, sql } = await machines()
  const taken = Promise.withResolvers<void>()
  const service = await serve((_request, response) => void taken.promise.then(() => json(response, ONE_VALUE)))
  const context = { ...(await join()), baseUrl: service.url }
  await send(context, LAST_DAY)
  const { events, names } = startRecorded(context)
  await expect.poll(() => service.calls.length, WAIT).toBe(1)
  await take(context, sql)
  taken.resolve()
  await expect.poll(names, WAIT).toContain('claim.lost')
  expect(events.find(({ event }) => event === 'claim.lost')).toMatchObject({
    command: 'worker',
    job: 'shared',
    run: 1,
    route: 'indicator',
    indicator: 600,
    attempt: 1,
    code: 'claim-lost',
    window: { from: '2025-11-02T23:00:00Z', to: '2025-11-03T23:00:00Z' },
  })
  for (const table of ['_fetch', '_coverage', 'observation'])
    expect((await sql(`select from ${table}`)).rowCount, table).toBe(0)
  expect(Object.keys(await jobStates(file, service.url))).toEqual(state === '' ? [] : [state])
  await sql(`delete from pgboss.job`)
})

test('a worker for another service ends and leaves the request to other workers', async () => {
  const { emulator, join, states } = await machines()
  const context = await join()
  await send(context, LAST_DAY, SERVICES.esios)
  expect(await startWorker(context).working).toMatchObject({ done: 0, earlyEnd: { code: 'other-service' } })
  expect(emulator.requests).toEqual([])
  expect(await startWorker({ ...context, service: SERVICES.esios }, { untilEmpty: true }).working).toMatchObject({
    done: 1,
    failed: 0,
  })
  expect(await states()).toEqual({ completed: 1 })
})

testSignals('a worker process finishes its pending calls on SIGTERM and takes no further request', async () => {
  const { emulator, file, join, sql, states } = await machines({ latencyMs: 1_000 })
  await send(await join())
  const env = { INDICATOR_SYNC_DATABASE: file, INDICATOR_SYNC_API_KEY: emulator.key }
  const args = ['worker', '--service', 'generic', '--base-url', emulator.url, '--concurrency', '1']
  const { code } = await runCli(tempFolder(), args, env, async (child) => {
    while (emulator.requests.length === 0) await sleep(20)
    child.kill('SIGTERM')
  })
  expect(code).toBe(143)
  expect(emulator.requests).toHaveLength(1)
  expect((await sql('select outcome from _fetch')).rows).toEqual([{ outcome: 'ok' }])
  expect((await sql('select state from _coverage')).rows).toEqual([{ state: 'values' }])
  expect(await states()).toEqual({ created: 4, completed: 1 })
})

test('a worker ends after a newer version migrated the database', async () => {
  const { join, sql } = await machines()
  const { working } = startWorker(await join())
  await sql(`insert into _migration values ('9999_later', '2030-01-01')`)
  expect(await working).toMatchObject({ done: 0, earlyEnd: { code: 'newer-schema' } })
})

test('a worker without the right to create the queue names who can, and starts once it exists', async () => {
  const { as } = await databaseWithRoles()
  const writer = await openStore(as('writer'))
  onTestFinished(() => writer.close())
  const worker = await openStore(as('worker'))
  onTestFinished(() => worker.close())
  const open = async (of: typeof writer) => (await openQueue(of, 'service.test', () => undefined)).close()
  await expect(open(worker)).rejects.toMatchObject({
    code: 'no-queue',
    message: 'The database has no queue yet, and this user may not create it.',
    hint: expect.stringContaining('sync --distributed'),
  })
  await open(writer)
  await open(worker)
})

test.each([
  ['rights are revoked', 'revoke all on all tables in schema pgboss from indicator_worker', { name: 'RightsError' }],
  ['queue is deleted', 'drop schema pgboss cascade', { code: 'no-queue' }],
])('a worker whose %s ends without reporting an unresponsive database', async (_what, meanwhile, error) => {
  const { url, as } = await databaseWithRoles()
  const writer = await joined(as('writer'), 'http://service.test', 'key')
  await send(writer)
  await withClient(url, (client) => client.query(readFileSync('docs/roles.sql', 'utf8')))
  await clearQueue(writer.store.kysely, 'service.test')
  const heard = Promise.withResolvers<void>()
  const { working, names } = startRecorded(await joined(as('worker'), 'http://service.test', 'key'), {
    onHeard: heard.resolve,
  })
  await heard.promise
  await withClient(url, (client) => client.query(meanwhile))
  const { earlyEnd } = await working
  expect(earlyEnd).toMatchObject(error)
  expect(exitCodeFor(earlyEnd)).toBe(EXIT.store)
  expect(names().filter((name) => name.startsWith('database'))).toEqual([])
})

test('a worker whose connections are terminated reports it and continues', async () => {
  const { file, join, sql, states } = await machines()
  const context = await join()
  await send(context)
  const { events, names, stop } = await withClient(file, async (client) => {
    await client.query('begin; lock table pgboss.job')
    const started = startRecorded(context)
    while (!started.names().includes('database.lost')) {
      await sql(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
      await sleep(100)
    }
    await client.query('rollback')
    return started
  })
  await expect.poll(names, WAIT).toContain('database.back')
  await expect.poll(states, WAIT).toEqual({ completed: 5 })
  expect((await stop()).earlyEnd).toBeNull()
  expect(events.filter(({ code }) => code === 'bug')).toEqual([])
})

test('a worker reports an error of its own database work, and other workers retry the request', async () => {
  const { join } = await machines()
  const context = await join()
  await send(context, LAST_DAY)
  const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC', syscall: 'write', path: '/tmp/x' })
  let refusals = 1
  const write: typeof context.store.write = (work) =>
    refusals-- > 0 ? Promise.reject(full) : context.store.write(work)
  const { events, working } = startRecorded({ ...context, store: { ...context.store, write } }, { untilEmpty: true })
  expect(await working).toMatchObject({ done: 1, earlyEnd: null })
  expect(events.filter(({ event }) => event === 'claim.failed')).toMatchObject([{ code: 'enospc', attempt: 1, run: 1 }])
})

test.runIf(IN_FULL)('the request of a dead worker moves to another one, and the plan completes', async () => {
  const { emulator, file, join } = await machines({ latencyMs: 2_000 })
  const planning = distribute(await join(), [LAST_DAY])
  const first = machine(file, emulator.url, ['worker', '--service', 'generic'], {
    INDICATOR_SYNC_API_KEY: emulator.key,
  })
  await expect.poll(() => emulator.requests.length, WAIT).toBe(1)
  first.child.kill('SIGKILL')
  startWorker(await join())
  expect(await planning).toMatchObject([{ outcome: 'done', counts: { requests: 1 } }])
  expect(emulator.requests).toHaveLength(2)
})
