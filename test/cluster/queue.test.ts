import { resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type ActiveJob, openQueue, type Queue } from '../../src/cluster/queue.ts'
import { type QueuedRequest, toQueuedRequest } from '../../src/cluster/queuedRequest.ts'
import { openStore } from '../../src/db/open.ts'
import { clearQueue, queueNames, readQueues } from '../../src/db/queries/queues.ts'
import { planJob } from '../../src/plan/planJob.ts'
import { EMPTY_STATE } from '../../src/plan/plannerState.ts'
import { SERVICES } from '../../src/service/services.ts'
import type { SyncError } from '../../src/util/errors.ts'
import { migratedDatabase, withClient } from '../postgres/database.ts'
import { JOB, jobStates, NOW } from './joined.ts'
import { machine } from './machines.ts'

const HOST = 'service.test:8080'
const PLANNED = [...planJob({ job: JOB, service: SERVICES.generic, plannerState: EMPTY_STATE, now: NOW, options: {} })]
const JOBS = PLANNED.map((planned, position) => toQueuedRequest(JOB, 1, planned, { now: NOW, position }))

/** Opens a queue with its store and access to SQL. */
async function open(url?: string) {
  const file = url ?? (await migratedDatabase())
  const store = await openStore(file)
  onTestFinished(() => store.close())
  const queue = await openQueue(store, HOST, (error) => expect(String(error)).toBe(''))
  onTestFinished(() => queue.close())
  const sql = (text: string) => withClient(file, (client) => client.query(text))
  return { file, store, queue, sql, states: () => jobStates(file, `http://${HOST}`) }
}

/** Works on the jobs of a queue, by default one at a time, and collects them. */
async function collect(queue: Queue, concurrency = 1, handle = async (_job: ActiveJob): Promise<void> => undefined) {
  const jobs: ActiveJob[] = []
  await queue.work(concurrency, async (job) => {
    jobs.push(job)
    await handle(job)
  })
  return jobs
}

const windowEnd = ({ window }: QueuedRequest): number => window!.to

test('an identical request is queued once, and the latest windows run first', async () => {
  const { queue, states } = await open()
  await queue.send(JOBS)
  await queue.send(JOBS.slice(0, 2))
  expect(await states()).toEqual({ created: 5 })
  const jobs = await collect(queue)
  await expect.poll(states, { timeout: 30_000 }).toEqual({ completed: 5 })
  const ends = jobs.map(({ data }) => windowEnd(data))
  expect(ends).toEqual(ends.toSorted((a, b) => b - a))
  await queue.send(JOBS.slice(0, 1))
  await expect.poll(() => jobs.length, { timeout: 30_000 }).toBe(6)
})

test('a check of a stopped queue ends, so that a worker that checks while it stops can exit', async () => {
  const { queue } = await open()
  await queue.close()
  await queue.check()
})

test('a worker whose queue was deleted gets an error that says so, whatever the words of pg-boss', async () => {
  const { store, sql } = await open()
  const errors: SyncError[] = []
  const queue = await openQueue(store, HOST, (error) => errors.push(error))
  onTestFinished(() => queue.close())
  await collect(queue)
  await sql(`select pgboss.delete_queue('${queueNames(HOST).queue}')`)
  await expect.poll(() => errors.length, { timeout: 30_000 }).toBeGreaterThan(0)
  expect(new Set(errors.map(({ code }) => code))).toEqual(new Set(['no-queue']))
})

test('two processes never execute the same request', async () => {
  const one = await open()
  const second = await open(one.file)
  await one.queue.send(Array.from({ length: 60 }, (_, i) => ({ ...JOBS[0]!, key: `${i}` })))
  const jobs = [await collect(one.queue, 4), await collect(second.queue, 4)]
  await expect.poll(one.states, { timeout: 30_000 }).toEqual({ completed: 60 })
  expect(new Set(jobs.flat().map(({ id }) => id)).size).toBe(60)
  expect(jobs.flat()).toHaveLength(60)
})

test('a request without heartbeats moves to another worker, and the first cannot complete it', async () => {
  const one = await open()
  const other = await open(one.file)
  const { promise, resolve: end } = Promise.withResolvers<void>()
  onTestFinished(() => end())
  await one.queue.send(JOBS.slice(0, 1))
  const first = await collect(one.queue, 1, () => promise)
  await expect.poll(() => first.length, { timeout: 30_000 }).toBe(1)
  const second = await collect(other.queue, 1, () => promise)
  // As if the process were suspended.
  await one.sql(`update pgboss.job set heartbeat_on = now() - interval '1 minute' where state = 'active'`)
  await expect.poll(() => second.length, { timeout: 30_000 }).toBe(1)
  expect(second[0]).toMatchObject({ id: first[0]!.id, retryCount: first[0]!.retryCount + 1 })
  const { write } = one.store
  expect(await write((tx) => one.queue.confirm(first[0]!, tx))).toBe(false)
  expect(await write((tx) => one.queue.complete(first[0]!, tx))).toBe(false)
  expect(await write((tx) => other.queue.confirm(second[0]!, tx))).toBe(true)
  expect(await write((tx) => other.queue.complete(second[0]!, tx))).toBe(true)
})

test('a request completed in a rolled-back transaction remains active', async () => {
  const { queue, store, states } = await open()
  await queue.send(JOBS.slice(0, 1))
  const { promise, resolve: end } = Promise.withResolvers<void>()
  onTestFinished(() => end())
  const jobs = await collect(queue, 1, () => promise)
  await expect.poll(() => jobs.length, { timeout: 30_000 }).toBe(1)
  const rolledBack = store.write(async (tx) => {
    expect(await queue.complete(jobs[0]!, tx)).toBe(true)
    throw new Error('rolled back')
  })
  await expect(rolledBack).rejects.toThrow('rolled back')
  expect(await states()).toEqual({ active: 1 })
  expect(await store.write((tx) => queue.complete(jobs[0]!, tx))).toBe(true)
  expect(await states()).toEqual({ completed: 1 })
})

test('a request that always fails is dead after its last attempt, until the next plan clears it', async () => {
  const { queue, store, sql } = await open()
  await queue.send(JOBS.slice(0, 1))
  await sql('update pgboss.job set retry_limit = 1, retry_delay = 0')
  const jobs = await collect(queue, 1, () => Promise.reject(new Error('no')))
  const counts = async () => (await readQueues(store))?.[0]
  await expect.poll(counts, { timeout: 30_000 }).toMatchObject({ queued: 0, active: 0, dead: 1 })
  expect(jobs.map(({ retryCount }) => retryCount)).toEqual([0, 1])
  await clearQueue(store.kysely, HOST)
  expect(await counts()).toBeUndefined()
})

test.each([['sync', 'demo.yaml', '--distributed'], ['worker']])(
  'a command that cannot create its queue reports this and ends: %s',
  async (...args) => {
    const { file, sql } = await open()
    // At that point the queue and its timers have started.
    await sql('drop function pgboss.create_queue(text, jsonb)')
    const words = args.map((word) => word.replace('demo.yaml', resolve('jobs/demo.yaml')))
    const one = machine(file, 'http://127.0.0.1:9', words)
    // Kills only a process that does not end.
    const killer = setTimeout(() => one.child.kill('SIGKILL'), 60_000)
    expect(await one.ended).toBe(7)
    clearTimeout(killer)
    expect(one.said()).toContain('create_queue')
  },
  90_000,
)
