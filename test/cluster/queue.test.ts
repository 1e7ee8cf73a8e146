import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { openQueue, type Queue } from '../../src/cluster/queue.ts'
import { openStore } from '../../src/db/open.ts'
import { migratedDatabase, tempDatabase, withClient } from '../postgres/database.ts'
import { bareStore } from './bare.ts'
import { machine } from './machines.ts'

interface Work {
  readonly n: number
}

const queued = (n: number, key = `${n}`, group = 'job') => ({ data: { n }, key, group, priority: n })

async function open(url: string): Promise<Queue<Work>> {
  const queue = await openQueue<Work>(bareStore(url), 'service.test:8080', {
    supervises: true,
    onError: (error) => expect(String(error)).toBe(''),
  })
  onTestFinished(() => queue.close())
  return queue
}

test('the same is queued once, as long as it is queued or in hand, and the highest goes first', async () => {
  const queue = await open(await migratedDatabase())
  expect(await queue.insert([1, 2, 3].map((n) => queued(n)))).toBe(3)
  expect(await queue.insert([2, 3, 4].map((n) => queued(n)))).toBe(1)
  const [four] = await queue.claim(1)
  expect(four!.data).toEqual({ n: 4 })
  expect(await queue.insert([queued(4)])).toBe(0)
  expect((await queue.open()).length).toBe(4)
  expect(await queue.left('job')).toBe(4)
  expect(await queue.complete(four!, {})).toBe(true)
  expect(await queue.insert([queued(4)])).toBe(1)
})

test('two who take at once never take the same', async () => {
  const url = await migratedDatabase()
  const [one, other] = [await open(url), await open(url)]
  await one.insert(Array.from({ length: 60 }, (_, n) => queued(n)))
  const taken: number[] = []
  const takeAll = async (queue: Queue<Work>): Promise<void> => {
    for (let claims = await queue.claim(3); claims.length > 0; claims = await queue.claim(3))
      taken.push(...claims.map(({ data }) => data.n))
  }
  await Promise.all([takeAll(one), takeAll(other)])
  expect(taken.sort((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, n) => n))
})

test('what nobody is heard of is given to others, and who had it can end it no more', async () => {
  const url = await migratedDatabase()
  const [one, other] = [await open(url), await open(url)]
  await one.insert([queued(1), queued(2)])
  const claims = await one.claim(2)
  const [silent, told] = claims.sort((a, b) => a.data.n - b.data.n) as [(typeof claims)[0], (typeof claims)[0]]
  let again: typeof claims = []
  while (again.length === 0) {
    await one.beat([told])
    await sleep(500)
    again = await other.claim(2)
  }
  expect(again.map(({ data }) => data.n)).toEqual([1])
  expect(again[0]!.retryCount).toBe(silent.retryCount + 1)
  const store = bareStore(url)
  expect(await store.write((tx) => one.isValid(silent, tx))).toBe(false)
  expect(await store.write((tx) => one.complete(silent, {}, tx))).toBe(false)
  expect(await one.fail(silent, {})).toBe(false)
  expect(await store.write((tx) => other.isValid(again[0]!, tx))).toBe(true)
  expect(await one.complete(told, {})).toBe(true)
})

test('what is ended in a transaction that is rolled back is not ended', async () => {
  const url = await migratedDatabase()
  const queue = await open(url)
  await queue.insert([queued(1)])
  const [claim] = await queue.claim(1)
  const store = bareStore(url)
  const rolledBack = store.write(async (tx) => {
    expect(await queue.complete(claim!, {}, tx)).toBe(true)
    throw new Error('rolled back')
  })
  await expect(rolledBack).rejects.toThrow('rolled back')
  expect(await queue.left('job')).toBe(1)
  expect(await queue.complete(claim!, {})).toBe(true)
  expect(await queue.left('job')).toBe(0)
})

test('what is put back is as it was, and comes again', async () => {
  const queue = await open(await migratedDatabase())
  await queue.insert([queued(1)])
  const [claim] = await queue.claim(1)
  expect(await queue.putBack(claim!, queued(1), 0)).toBe(true)
  expect(await queue.putBack(claim!, queued(1), 0)).toBe(false)
  const [again] = await queue.claim(1)
  expect(again).toMatchObject({ data: { n: 1 }, retryCount: 0, priority: 1 })
})

test.each([['sync', 'demo.yaml', '--distributed'], ['worker']])(
  'a command that cannot make its queue says so, and ends: %s',
  async (...args) => {
    const url = await tempDatabase()
    await (await openStore(url)).close()
    await (await open(url)).close()
    // The queue has begun by then, and its timers with it.
    await withClient(url, (client) => client.query('drop function pgboss.create_queue(text, jsonb)'))
    const words = args.map((word) => word.replace('demo.yaml', resolve('jobs/demo.yaml')))
    const one = machine(url, 'http://127.0.0.1:9', words)
    // Only one that never ends is killed.
    const killer = setTimeout(() => one.child.kill('SIGKILL'), 60_000)
    expect(await one.ended).toBe(7)
    clearTimeout(killer)
    expect(one.said()).toContain('create_queue')
  },
  90_000,
)
