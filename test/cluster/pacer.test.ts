import { describe, expect, onTestFinished, test } from 'vitest'
import { createSharedPacer, type PacerOptions } from '../../src/cluster/sharedPacer.ts'
import { connect } from '../../src/db/postgres/connection/connection.ts'
import { createCoordination } from '../../src/db/postgres/coordination.ts'
import type { Pacer } from '../../src/fetch/pacer.ts'
import type { Pace } from '../../src/job/job.ts'
import { migratedDatabase, withClient } from '../postgres/database.ts'

const HOST = "service.test:80'80"
const PACE: Pace = { perSecond: 20, concurrency: 4, callsPerMinute: null, callsPerHour: null, callsPerDay: null }
const { signal } = new AbortController()

/** Opens pacers of several processes with separate connections to one database. */
async function open(count: number, pace: Partial<Pace> = {}, options: PacerOptions = {}) {
  const url = await migratedDatabase()
  const pacers = Array.from({ length: count }, (): Pacer => {
    const { kysely, close } = connect(url, { connections: 3 })
    onTestFinished(close)
    return createSharedPacer({ file: url, coordination: createCoordination(kysely) }, { ...PACE, ...pace }, options)
  })
  const sql = async (text: string) => (await withClient(url, (client) => client.query(text))).rows
  const slots = async () =>
    (await sql('select called_at from _budget order by 1')).map(({ called_at }) => Number(called_at))
  return { pacers, slots, sql }
}

const takeAll = (pacers: readonly Pacer[], count: number) =>
  Promise.allSettled(Array.from({ length: count }, (_, i) => pacers[i % pacers.length]!.take(HOST, signal)))

describe('the pace of processes that share a database', () => {
  test('the slots of all processes are spaced by the pace', async () => {
    const { pacers, slots } = await open(4)
    await takeAll(pacers, 45)
    const begins = await slots()
    expect(begins).toHaveLength(45)
    for (const [i, begin] of begins.slice(1).entries()) expect(begin - begins[i]!).toBeGreaterThanOrEqual(50)
  })

  test('processes never exceed their shared budget, even if all take slots at once', async () => {
    const { pacers, slots } = await open(4, { perSecond: 1000, callsPerMinute: 50, callsPerHour: 10 })
    const results = await takeAll(pacers, 24)
    expect(await slots()).toHaveLength(10)
    const refused = results.filter((result) => result.status === 'rejected')
    expect(refused).toHaveLength(14)
    for (const { reason } of refused)
      expect(reason).toMatchObject({ code: 'budget', message: expect.stringContaining('an hour') })
  })

  test('a pause of one process applies to all, except for the next call of each', async () => {
    const { pacers, slots, sql } = await open(3, { perSecond: 2 })
    const takings = takeAll(pacers, 12)
    await expect.poll(async () => (await slots()).length).toBeGreaterThan(2)
    await pacers[0]!.pause(HOST, 2_000)
    const [{ next_at: end }] = await sql('select next_at from _host')
    const before = (await slots()).filter((at) => at < Number(end)).length
    await takings
    expect((await slots()).filter((at) => at < Number(end))).toHaveLength(before)
  })

  test('a shorter pause does not shorten a longer one', async () => {
    const { pacers, sql } = await open(2)
    await pacers[0]!.pause(HOST, 60_000)
    const before = await sql('select next_at from _host')
    await pacers[1]!.pause(HOST, 10)
    expect(await sql('select next_at from _host')).toEqual(before)
  })

  test('a long pause ends a run, but a patient pacer waits until it is stopped', async () => {
    const stopping = new AbortController()
    const reasons: string[] = []
    const { pacers } = await open(1)
    await pacers[0]!.pause(HOST, 3_600_000)
    await expect(pacers[0]!.take(HOST, signal)).rejects.toMatchObject({ code: 'retry-after' })
    const patient = await open(1, {}, { isPatient: true, onPause: (_ms, reason) => void reasons.push(reason) })
    await patient.pacers[0]!.pause(HOST, 3_600_000)
    const taking = patient.pacers[0]!.take(HOST, stopping.signal)
    taking.catch(() => undefined)
    await expect.poll(() => reasons).toEqual(['all calls to the host are paused'])
    stopping.abort()
    await expect(taking).rejects.toMatchObject({ code: 'signal' })
    expect(await patient.slots()).toEqual([])
  })

  test('a process that was suspended in its slot takes another one', async () => {
    const { pacers, slots } = await open(1)
    await pacers[0]!.pause(HOST, 900)
    const taking = pacers[0]!.take(HOST, signal)
    await expect.poll(async () => (await slots()).length).toBe(1)
    for (const until = performance.now() + 2_500; performance.now() < until; );
    await taking
    expect(await slots()).toHaveLength(2)
  })

  test.each([
    ['two hours', 2 * 3_600_000],
    ['a year', 365 * 86_400_000],
  ])('a pacer ignores slots recorded while the clock of the server was %s ahead', async (_by, ms) => {
    const { pacers, sql } = await open(1, { callsPerDay: 2 })
    const at = Date.now() + ms
    const next = ms > 2 * 86_400_000 ? at : 0
    const host = HOST.replace("'", "''")
    await sql(`insert into _host (host, next_at) values ('${host}', ${next})`)
    await sql(`insert into _budget (host, called_at) values ('${host}', ${at}), ('${host}', ${at})`)
    const results = await takeAll(pacers, 3)
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected'])
    expect(results[2]).toMatchObject({ reason: { code: 'budget' } })
  })
})
