import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { SyncEvent } from '../../src/base/events.ts'
import { readMachines } from '../../src/checks/machines.ts'
import { work } from '../../src/cluster/worker.ts'
import { coordinationOf } from '../../src/db/coordination.ts'
import { readJob } from '../../src/job/read.ts'
import { emulate } from '../kit.ts'
import { migratedDatabase, withClient } from '../postgres/database.ts'
import { handOut, JOB, joined, LAST_DAY, NOW, type Process, YAML } from './joined.ts'

/** The same series under another name, in other windows, all of them within those of `JOB`. */
const OTHER = readJob(
  YAML.replace('name: shared', 'name: other').replace('2025-10-30', '2025-10-31').replace('chunk: 1d', 'chunk: 2d'),
  'other.yaml',
)

/** Waits for what comes sooner or later, however slow the machine is. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await sleep(20)
}

/** Two who plan, a worker for later, and the host. */
async function machines(options: Omit<Parameters<typeof emulate>[0], 'now'> = {}) {
  const emulator = await emulate({ now: NOW, ...options })
  const file = await migratedDatabase()
  const join = () => joined(file, emulator.url, emulator.key)
  const [first, second, worker] = [await join(), await join(), await join()]
  const runs = async (count: number): Promise<void> => {
    const all = () => first.store.kysely.selectFrom('_run').select('id').where('command', '=', 'sync').execute()
    await until(async () => (await all()).length === count)
  }
  const sql = (text: string) => withClient(file, (client) => client.query(text))
  const workAll = () => work(worker.context, worker.queue, { concurrency: 2, untilEmpty: true })
  return { emulator, first, second, runs, sql, workAll }
}

const isWaiting = (events: readonly SyncEvent[]): boolean => events.some(({ event }) => event === 'workers.missing')

const held = async ({ store }: Process): Promise<number> => {
  const rows = await store.kysely.selectFrom('_coverage').select(['from_at', 'to_at']).execute()
  return rows.reduce((sum, { from_at, to_at }) => sum + to_at - from_at, 0) / 86_400
}

test('a plan waits for what another job has queued of what it wants, and requests none of it twice', async () => {
  const { emulator, first, second, workAll } = await machines()
  const planning = handOut(first, JOB)
  await until(async () => (await first.queue.left(JOB.name)) === 5)
  let isDone = false
  const events: SyncEvent[] = []
  const other = handOut(second, OTHER, (event) => events.push(event)).finally(() => {
    isDone = true
  })
  // It says so because it waits.
  await until(() => isWaiting(events))
  expect(isDone).toBe(false)
  expect(await second.queue.left(OTHER.name)).toBe(0)
  await workAll()
  expect(await planning).toMatchObject({ outcome: 'done', counts: { requests: 5 } })
  expect(await other).toMatchObject({ outcome: 'done', stop: null, counts: { requests: 0 } })
  expect(await held(second)).toBe(5)
  expect(emulator.requests).toHaveLength(5)
})

test('a plan sees every answer up to the last one, also one that was still being loaded when a later one was there', async () => {
  const { emulator, first, second, sql, workAll } = await machines()
  // The answer gets its number, and is committed a while after that.
  await sql(
    'create function slow() returns trigger language plpgsql as $$ begin perform pg_sleep(3); return new; end $$',
  )
  await sql('create trigger slow after insert on _fetch for each row execute function slow()')
  const loading = handOut(first, LAST_DAY)
  await until(async () => (await first.queue.left(LAST_DAY.name)) === 1)
  const working = workAll()
  const asleep = `select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`
  await until(async () => (await sql(asleep)).rowCount === 1)
  expect((await sql('select from _fetch')).rowCount).toBe(0)
  expect(await coordinationOf(second.store).lastFetch()).toBe(1)
  await working
  expect(await loading).toMatchObject({ outcome: 'done' })
  expect(emulator.requests).toHaveLength(1)
})

test('a plan for all geos queues them, also where another job has queued some of them', async () => {
  const { first, second, runs, workAll } = await machines()
  const whole = readJob(YAML.replace('name: shared', 'name: whole').replace('geoIds: [3], ', ''), 'whole.yaml')
  const some = handOut(first, JOB)
  await runs(1)
  await until(async () => (await first.queue.left(JOB.name)) === 5)
  const all = handOut(second, whole)
  await until(async () => (await second.queue.left(whole.name)) === 5)
  await workAll()
  expect(await Promise.all([some, all])).toMatchObject([
    { outcome: 'done', stop: null },
    { outcome: 'done', stop: null },
  ])
  const covered = await second.store.kysely.selectFrom('_coverage').select('geo_id').distinct().execute()
  expect(covered).toContainEqual({ geo_id: 0 })
})

test('what another job queued and somebody deletes is missing of each plan that wants it', async () => {
  const { first, second, runs, sql } = await machines()
  const planning = handOut(first, JOB)
  await until(async () => (await first.queue.left(JOB.name)) === 5)
  const others = [handOut(second, JOB), handOut(second, OTHER)]
  await runs(3)
  await sql('delete from pgboss.job')
  expect(await planning).toMatchObject({
    stop: { code: 'requests-lost', message: expect.stringContaining('5 planned') },
  })
  const [again, other] = await Promise.all(others)
  expect(again).toMatchObject({ outcome: 'stopped', stop: { message: expect.stringContaining('5 planned') } })
  expect(other).toMatchObject({ outcome: 'stopped', stop: { message: expect.stringContaining('2 planned') } })
})

test('what fails of the requests of another job fails for a plan that wants the same', async () => {
  const { first, second, workAll } = await machines({ faults: [{ route: 'indicator', status: 400 }] })
  const planning = handOut(first, JOB)
  await until(async () => (await first.queue.left(JOB.name)) === 5)
  const events: SyncEvent[] = []
  const other = handOut(second, OTHER, (event) => events.push(event))
  await until(() => isWaiting(events))
  await workAll()
  expect((await planning).failures).toHaveLength(5)
  const { outcome, failures, stop } = await other
  expect({ outcome, stop }).toEqual({ outcome: 'partial', stop: null })
  expect(failures).toHaveLength(4)
  expect(failures[0]).toMatchObject({ error: { code: 'bad-request' } })
})

test('a dead request is forgotten once its window is answered, by whichever plan, or once it is queued again', async () => {
  const { first, second, sql, workAll } = await machines()
  const dead = async () => (await readMachines(first.store))!.queues.map((queue) => queue.dead)
  const planning = handOut(first, JOB)
  await until(async () => (await first.queue.left(JOB.name)) === 5)
  // As after the last attempt of each.
  await sql(`update pgboss.job set retry_count = retry_limit`)
  for (const claim of await first.queue.claim(5)) await first.queue.fail(claim, {})
  expect(await planning).toMatchObject({ stop: { message: expect.stringContaining('5 planned') } })
  expect(await dead()).toEqual([5])
  const last = handOut(first, LAST_DAY)
  await until(async () => (await dead())[0] === 4)
  await workAll()
  await last
  // Its windows are others: it queues none of the same.
  const other = handOut(second, OTHER)
  await until(async () => (await second.queue.left(OTHER.name)) > 0)
  await workAll()
  expect(await other).toMatchObject({ outcome: 'done' })
  expect(await dead()).toEqual([1])
})

test('what is not understood in the queue is told and left alone, and the rest is planned', async () => {
  const { first, second, sql, workAll } = await machines()
  const planning = handOut(first, JOB)
  await until(async () => (await first.queue.left(JOB.name)) === 5)
  // The first day is of no interest to the other job.
  await sql(`update pgboss.job set data = '{}', start_after = now() + interval '1 day', group_id = 'elsewhere'
    where id = (select id from pgboss.job order by priority limit 1)`)
  const events: SyncEvent[] = []
  const other = handOut(second, OTHER, (event) => events.push(event))
  await until(() => isWaiting(events))
  await workAll()
  expect(await other).toMatchObject({ outcome: 'done', stop: null })
  const warnings = events.filter(({ event }) => event === 'queue.unreadable')
  expect(warnings).toMatchObject([{ job: 'other', total: 1, hint: expect.stringContaining('pgboss.job') }])
  expect(warnings[0]!.reason).toMatch(
    /^1 request in the queue .* [0-9a-f-]{36} .*: it is no request of this version\.$/,
  )
  // It keeps its place in the queue: who wants that day does not get it before somebody deletes it.
  expect(await planning).toMatchObject({ stop: { message: expect.stringContaining('1 planned') } })
  await sql(`delete from pgboss.job where group_id = 'elsewhere'`)
  const again = handOut(first, JOB)
  await until(async () => (await first.queue.left(JOB.name)) === 1)
  await workAll()
  expect(await again).toMatchObject({ outcome: 'done', stop: null, counts: { requests: 1 } })
})

test('a worker cuts a window for absent values to one call, and the plan does not miss the rest of it', async () => {
  const { first, sql, workAll } = await machines({ faults: [{ id: 1739, status: 400 }] })
  // Ten requests that fail stay wanted, and allow one request for absent values, before and after the run.
  const failing = '  - { indicators: [1739], geoIds: [3], window: { from: 2025-10-20, to: 2025-10-30 }, chunk: 1d }\n'
  const held = YAML.replace('chunk: 1d', 'refresh: 30d')
  const filling = handOut(first, readJob(held, 'shared.yaml'))
  await until(async () => (await first.queue.left('shared')) === 1)
  await workAll()
  await filling
  const [from, to] = ['2025-10-30T00:00:00+01:00', '2025-11-02T00:00:00+01:00'].map((text) => Date.parse(text) / 1000)
  await sql(`insert into _absent (series_id, geo_id, from_at, to_at, step_s, missing, since_at, checked_at)
    values (1, 3, ${from}, ${to}, 3600, 72, ${NOW - 20 * 86_400}, ${NOW - 16 * 86_400})`)
  const planning = handOut(first, readJob(held + failing, 'shared.yaml'))
  await until(async () => (await first.queue.left('shared')) === 11)
  // Its window shrinks while the request is in the queue.
  await sql('update series set window_s = 86400')
  await workAll()
  expect(await planning).toMatchObject({ outcome: 'partial', stop: null, counts: { requests: 11, failed: 10 } })
  const { rows } = await sql(`select to_at - from_at as seconds from _fetch where reason = 'absent'`)
  expect(rows.map(({ seconds }) => Number(seconds))).toEqual([86_400])
})
