import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { hostOf } from '../../src/calls/hosts.ts'
import { shared } from '../../src/db/coordination.ts'
import { openStore } from '../../src/db/open.ts'
import type { Store } from '../../src/db/store.ts'
import type { Fault } from '../../src/emulator/faults.ts'
import { emulate, tempFolder } from '../kit.ts'
import { migratedDatabase } from '../postgres/database.ts'
import { KEY, type Machine, machine } from './machines.ts'

/** A service that says when it answered (milliseconds), and machines that share a database. */
async function open(faults: readonly Fault[] = []) {
  const answeredAt: number[] = []
  const emulator = await emulate({ key: KEY, faults, log: () => answeredAt.push(performance.now()) })
  const file = await migratedDatabase()
  const store = await openStore(file)
  onTestFinished(() => store.close())
  const folder = tempFolder()
  return {
    store,
    emulator,
    answeredAt,
    host: hostOf(emulator.url),
    start(...args: readonly string[]): Machine {
      const started = machine(file, emulator.url, [...args, '--service', 'generic', '--log-format', 'json'])
      onTestFinished(async () => {
        started.child.kill('SIGKILL')
        await started.ended
      })
      return started
    },
    /** The path of a job that requests each of some days by itself. */
    job(name: string, { perSecond, from, to }: { perSecond: number; from: string; to: string }): string {
      const path = join(folder, `${name}.yaml`)
      writeFileSync(
        path,
        `name: ${name}\npace: { perSecond: ${perSecond}, concurrency: 4 }\nseries:\n  - { indicators: [600], geoIds: [3], window: { from: ${from}, to: ${to} }, chunk: 1d }\n`,
      )
      return path
    },
  }
}

/** What all know of a host before anybody has called it: four calls at once, and none until an instant (epoch milliseconds). */
const insertHost = (store: Store, host: string, hold_until = 0) =>
  shared(store.kysely)
    .insertInto('_host')
    .values({ host, next_at: 0, hold_until, limit_now: 4, failures: 0, openings: 0 })
    .execute()

test('nobody calls in a pause that a host asked for, whatever turns were reserved before', async () => {
  const pauseS = 6
  const { start, job, store, host, answeredAt } = await open([
    { route: 'indicator', calls: [1], status: 429, retryAfter: pauseS, latencyMs: 1_000 },
  ])
  await insertHost(store, host)
  // A turn every two seconds.
  const path = job('slow', { perSecond: 0.5, from: '2025-08-03', to: '2025-08-11' })
  for (let i = 0; i < 2; i++) start('worker', '--concurrency', '2')
  start('sync', path, '--distributed')
  await expect.poll(() => answeredAt.length, { timeout: 60_000 }).toBeGreaterThanOrEqual(2)
  expect(answeredAt[1]! - answeredAt[0]!).toBeGreaterThan(pauseS * 1000 - 100)
})

test('a worker and a sync that were stopped for longer than their leases last do not send it when they go on: others have loaded it', async () => {
  const { start, job, store, host, emulator } = await open()
  const asking = () => shared(store.kysely).selectFrom('_asking').selectAll().execute()
  // Both wait for their turns until this pause is over.
  await insertHost(store, host, Date.now() + 20_000)
  const [first, second] = [
    job('first', { perSecond: 20, from: '2025-08-03', to: '2025-08-04' }),
    job('second', { perSecond: 20, from: '2025-08-04', to: '2025-08-05' }),
  ]
  const plan = start('sync', first, '--distributed')
  const worker = start('worker', '--concurrency', '1')
  const sync = start('sync', second)
  await expect.poll(async () => (await asking()).length, { timeout: 20_000 }).toBe(2)
  for (const { child } of [worker, sync]) child.kill('SIGSTOP')
  const planAgain = start('sync', second, '--distributed')
  start('worker', '--concurrency', '2')
  expect(await Promise.all([plan.ended, planAgain.ended])).toEqual([0, 0])
  expect(emulator.requests).toHaveLength(2)
  for (const { child } of [worker, sync]) child.kill('SIGCONT')
  expect(await sync.ended).toBe(0)
  await expect.poll(worker.said, { timeout: 60_000 }).toContain('claim.lost')
  expect(emulator.requests).toHaveLength(2)
})
