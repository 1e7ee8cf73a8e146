import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createSharedTurns } from '../../src/cluster/turns.ts'
import { databaseClock, shared } from '../../src/db/shared.ts'
import { MAX_WAIT_MS, type Turns } from '../../src/fetch/turns.ts'
import type { Pace } from '../../src/job/job.ts'
import { bareDatabase, bareStore } from './bare.ts'

const HOST = 'service.test'
const PACE: Pace = { perSecond: 20, concurrency: 4, callsPerMinute: null, callsPerHour: null, callsPerDay: null }
const GOOD = { what: 'good', waitMs: 0 } as const
const BREAKER = { failures: 3, holdMs: 400, openings: 1 }

/** So many processes that share a database, each with connections of its own. */
async function open(count: number, pace: Partial<Pace> = {}): Promise<{ turns: Turns[]; url: string }> {
  const url = await bareDatabase()
  const turns = Array.from({ length: count }, () =>
    createSharedTurns({
      ...{ store: bareStore(url), pace: { ...PACE, ...pace }, breaker: BREAKER },
      signal: new AbortController().signal,
    }),
  )
  onTestFinished(async () => {
    for (const one of turns) await one.close()
  })
  return { turns, url }
}

describe('all who share a database', () => {
  test('begin no more calls in any second than the pace allows, and have no more under way than the limit', async () => {
    const { turns } = await open(4)
    const begins: number[] = []
    let underWay = 0
    let most = 0
    const call = (one: Turns) =>
      one.pass(HOST, async () => {
        begins.push(performance.now())
        most = Math.max(most, ++underWay)
        await sleep(100)
        underWay--
        await one.report(HOST, GOOD)
      })
    await Promise.all(Array.from({ length: 45 }, (_, i) => call(turns[i % 4]!)))
    begins.sort((a, b) => a - b)
    for (const [i, begin] of begins.entries())
      if (begins[i + PACE.perSecond] !== undefined)
        expect(begins[i + PACE.perSecond]! - begin).toBeGreaterThanOrEqual(1000)
    expect(begins).toHaveLength(45)
    expect(most).toBeLessThanOrEqual(PACE.concurrency)
    expect(most).toBeGreaterThan(1)
  })

  test('spend one budget: not one call more, however many ask at once', async () => {
    const { turns } = await open(4, { perSecond: 1000, concurrency: 50, callsPerHour: 10 })
    let sent = 0
    const results = await Promise.allSettled(
      Array.from({ length: 24 }, (_, i) =>
        turns[i % 4]!.pass(HOST, async () => {
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
    const db = shared(bareStore(url).kysely)
    for (let i = 0; i < 3; i++) await one.pass(HOST, () => one.report(HOST, GOOD))
    await one.pass(HOST, () => one.report(HOST, { what: 'failed', waitMs: 700 }))
    const { hold_until, limit_now } = await db.selectFrom('_host').selectAll().executeTakeFirstOrThrow()
    expect(limit_now).toBe(2)
    await other.pass(HOST, async () => expect(await databaseClock(db)).toBeGreaterThanOrEqual(hold_until))
  })

  test('leave a host alone after a run of failures, whoever met them, for longer each time, until one answer is good', async () => {
    const { turns, url } = await open(3)
    const db = shared(bareStore(url).kysely)
    const holds: number[] = []
    for (let i = 0; i < 4; i++) {
      const one = turns[i % 3]!
      const { holdMs, giveUp } = await one.pass(HOST, () => one.report(HOST, { what: 'failed', waitMs: 0 }))
      expect(giveUp).toBe(false)
      holds.push(holdMs)
    }
    expect(holds).toEqual([0, 0, 400, 800])
    await turns[0]!.pass(HOST, () => turns[0]!.report(HOST, GOOD))
    expect(await db.selectFrom('_host').select(['failures', 'openings']).executeTakeFirst()).toEqual({
      failures: 0,
      openings: 0,
    })
  })

  test('never hold a host for longer than a call waits for its turn, however long it has failed', async () => {
    const url = await bareDatabase()
    const store = bareStore(url)
    const turns = createSharedTurns({ store, pace: PACE, signal: new AbortController().signal })
    onTestFinished(() => turns.close())
    await turns.pass(HOST, () => turns.report(HOST, GOOD))
    await shared(store.kysely).updateTable('_host').set({ failures: 2000, openings: 2000 }).execute()
    const { holdMs } = await turns.pass(HOST, () => turns.report(HOST, { what: 'failed', waitMs: 0 }))
    expect(holdMs).toBe(MAX_WAIT_MS)
  })

  test('take the place of a process that died in the middle of a call', async () => {
    const { turns, url } = await open(1, { concurrency: 1 })
    const db = shared(bareStore(url).kysely)
    await turns[0]!.pass(HOST, () => turns[0]!.report(HOST, GOOD))
    const until_at = Math.ceil((await databaseClock(db)) + 500)
    await db.insertInto('_call').values({ host: HOST, until_at }).execute()
    await turns[0]!.pass(HOST, async () => expect(await databaseClock(db)).toBeGreaterThanOrEqual(until_at))
  })
})
