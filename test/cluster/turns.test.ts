import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createSharedTurns } from '../../src/cluster/turns.ts'
import { coordinationOf, shared } from '../../src/db/coordination.ts'
import { MAX_WAIT_MS, type Turns } from '../../src/fetch/turns.ts'
import type { Pace } from '../../src/job/job.ts'
import { migratedDatabase } from '../postgres/database.ts'
import { bareStore } from './bare.ts'

const HOST = 'service.test'
const PACE: Pace = { perSecond: 20, concurrency: 4, callsPerMinute: null, callsPerHour: null, callsPerDay: null }
const GOOD = { what: 'good', waitMs: 0 } as const
const BREAKER = { failures: 3, pauseMs: 400, openings: 1, giveUpMs: 60_000 }

/** So many processes that share a database, each with connections of its own. */
async function open(count: number, pace: Partial<Pace> = {}): Promise<{ turns: Turns[]; url: string }> {
  const url = await migratedDatabase()
  const turns = Array.from({ length: count }, () =>
    createSharedTurns({
      store: bareStore(url),
      pace: { ...PACE, ...pace },
      breaker: BREAKER,
      signal: new AbortController().signal,
    }),
  )
  onTestFinished(async () => {
    for (const one of turns) await one.close()
  })
  return { turns, url }
}

/** A call of a process in its turn. */
const pass = <T>(one: Turns, work: () => Promise<T>): Promise<T> =>
  one.pass(HOST, (onSend) => {
    onSend()
    return work()
  })

/** Expects no more calls in any second than the pace allows. */
function expectPace(begins: readonly number[]): void {
  const sorted = [...begins].sort((a, b) => a - b)
  for (const [i, begin] of sorted.entries())
    if (sorted[i + PACE.perSecond] !== undefined)
      expect(sorted[i + PACE.perSecond]! - begin).toBeGreaterThanOrEqual(1000)
}

describe('all who share a database', () => {
  test('begin no more calls in any second than the pace allows, and have no more under way than the limit', async () => {
    const { turns } = await open(4)
    const begins: number[] = []
    let underWay = 0
    let most = 0
    const call = (one: Turns) =>
      pass(one, async () => {
        begins.push(performance.now())
        most = Math.max(most, ++underWay)
        await sleep(100)
        underWay--
        await one.report(HOST, GOOD)
      })
    await Promise.all(Array.from({ length: 45 }, (_, i) => call(turns[i % 4]!)))
    expectPace(begins)
    expect(begins).toHaveLength(45)
    expect(most).toBeLessThanOrEqual(PACE.concurrency)
    expect(most).toBeGreaterThan(1)
  })

  test('send no call that is too late for its turn: it waits for another one, and what was not sent is not spent', async () => {
    const { turns, url } = await open(1, { callsPerHour: 1000 })
    let late = 0
    await turns[0]!.pass(HOST, async (onSend) => {
      // Whatever comes between a turn and its request: a statement, a new connection, a busy processor.
      if (late++ < 3) await sleep(1_200)
      onSend()
    })
    expect(late).toBeGreaterThan(3)
    const spent = await shared(bareStore(url).kysely).selectFrom('_budget').select('id').execute()
    expect(spent).toHaveLength(1)
  })

  test('spend one budget: not one call more, however many ask at once', async () => {
    const { turns } = await open(4, { perSecond: 1000, concurrency: 50, callsPerHour: 10 })
    let sent = 0
    const results = await Promise.allSettled(
      Array.from({ length: 24 }, (_, i) =>
        pass(turns[i % 4]!, async () => {
          sent++
          await turns[i % 4]!.report(HOST, GOOD)
        }),
      ),
    )
    expect(sent).toBeLessThanOrEqual(10)
    const refused = results.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[]
    expect(refused.length).toBeGreaterThanOrEqual(14)
    for (const { reason } of refused) expect(reason).toMatchObject({ code: 'budget' })
  })

  test('keep the pause that one of them was asked for, and begin again with half as many', async () => {
    const { turns, url } = await open(2)
    const [one, other] = turns as [Turns, Turns]
    const store = bareStore(url)
    const { clock } = coordinationOf(store)
    for (let i = 0; i < 3; i++) await pass(one, () => one.report(HOST, GOOD))
    await pass(one, () => one.report(HOST, { what: 'failed', waitMs: 700 }))
    const { hold_until, limit_now } = await shared(store.kysely)
      .selectFrom('_host')
      .selectAll()
      .executeTakeFirstOrThrow()
    expect(limit_now).toBe(2)
    await pass(other, async () => expect(await clock()).toBeGreaterThanOrEqual(hold_until))
  })

  test('leave a host alone after a run of failures, whoever met them, for longer each time, until one answer is good', async () => {
    const { turns, url } = await open(3)
    const db = shared(bareStore(url).kysely)
    const pauses: number[] = []
    for (let i = 0; i < 4; i++) {
      const one = turns[i % 3]!
      const { pauseMs, giveUp } = await pass(one, () => one.report(HOST, { what: 'failed', waitMs: 0 }))
      expect(giveUp).toBe(false)
      pauses.push(pauseMs)
    }
    expect(pauses).toEqual([0, 0, 400, 800])
    await pass(turns[0]!, () => turns[0]!.report(HOST, GOOD))
    expect(await db.selectFrom('_host').select(['failures', 'openings']).executeTakeFirst()).toEqual({
      failures: 0,
      openings: 0,
    })
  })

  test('never pause a host for longer than a call waits for its turn, however long it has failed', async () => {
    const url = await migratedDatabase()
    const store = bareStore(url)
    const turns = createSharedTurns({ store, pace: PACE, signal: new AbortController().signal })
    onTestFinished(() => turns.close())
    await pass(turns, () => turns.report(HOST, GOOD))
    await shared(store.kysely).updateTable('_host').set({ failures: 2000, openings: 2000 }).execute()
    const { pauseMs } = await pass(turns, () => turns.report(HOST, { what: 'failed', waitMs: 0 }))
    expect(pauseMs).toBe(MAX_WAIT_MS)
  })

  test.each([
    ['two hours', 2 * 3_600_000],
    ['a year', 365 * 86_400_000],
  ])('ignore what was recorded while the clock of the database was %s ahead', async (_by, ms) => {
    const { turns, url } = await open(1, { concurrency: 1, callsPerDay: 2 })
    const store = bareStore(url)
    const db = shared(store.kysely)
    const at = (await coordinationOf(store).clock()) + ms
    const hold_until = at > Date.now() + 2 * 86_400_000 ? at : 0
    const host = { host: HOST, next_at: at, hold_until, limit_now: 1, failures: 0, openings: 0 }
    await db.insertInto('_host').values(host).execute()
    await db.insertInto('_call').values({ host: HOST, until_at: at }).execute()
    for (let i = 0; i < 2; i++) await db.insertInto('_budget').values({ host: HOST, called_at: at }).execute()
    const calls = await Promise.allSettled(Array.from({ length: 3 }, () => pass(turns[0]!, async () => undefined)))
    expect(calls.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected'])
    expect(calls[2]).toMatchObject({ reason: { code: 'budget' } })
    await coordinationOf(store).forgetDeadProcesses(at - ms)
    expect(await db.selectFrom('_call').select('id').execute()).toEqual([])
  })

  test('take the place of a process that died in the middle of a call', async () => {
    const { turns, url } = await open(1, { concurrency: 1 })
    const store = bareStore(url)
    const { clock } = coordinationOf(store)
    await pass(turns[0]!, () => turns[0]!.report(HOST, GOOD))
    const until_at = (await clock()) + 500
    await shared(store.kysely).insertInto('_call').values({ host: HOST, until_at }).execute()
    await pass(turns[0]!, async () => expect(await clock()).toBeGreaterThanOrEqual(until_at))
  })
})
