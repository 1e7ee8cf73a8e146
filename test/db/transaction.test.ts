import { describe, expect, test } from 'vitest'
import { prepared } from '../../src/db/prepared.ts'
import { tempStore } from '../kit.ts'

/** Lets everything run that can run now. */
const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('a transaction', () => {
  test('is for one task: others wait until it is over, and nothing of theirs goes when it is undone', async () => {
    const store = await tempStore()
    const order: string[] = []
    let goOn = (): void => undefined
    const held = new Promise<void>((resolve) => {
      goOn = resolve
    })
    const first = store.write(async (tx) => {
      await tx.insertInto('geo').values({ id: 1 }).execute()
      order.push('first')
      await held
      order.push('first is over')
      throw new Error('undone')
    })
    const undone = expect(first).rejects.toThrow('undone')
    while (order.length === 0) await turn()
    const second = store.write(async (tx) => {
      order.push('second')
      await tx.insertInto('geo').values({ id: 2 }).execute()
    })
    const single = store.kysely.insertInto('geo').values({ id: 3 }).execute()
    const read = store.kysely.selectFrom('geo').select('id').orderBy('id').execute()
    for (let i = 0; i < 100; i++) await turn()
    expect(order).toEqual(['first'])
    goOn()
    await undone
    await second
    await single
    expect(order).toEqual(['first', 'first is over', 'second'])
    expect(await read).toEqual([{ id: 2 }, { id: 3 }])
  })

  test('that is over takes no more queries', async () => {
    const store = await tempStore()
    const tx = await store.write(async (tx) => tx)
    await expect(tx.insertInto('geo').values({ id: 1 }).execute()).rejects.toThrow()
  })
})

test('a prepared query is built once a database, whatever its parameters', async () => {
  const store = await tempStore()
  let built = 0
  const insert = prepared((db, row: { id: number; kind: string }) => {
    built++
    return db
      .insertInto('indicator')
      .values({ kind: row.kind, id: row.id, first_seen_at: 'now' })
      .onConflict((conflict) => conflict.doNothing())
  })
  const find = prepared((db, of: { from: number; step: string | null }) => {
    built++
    return db
      .selectFrom('indicator')
      .select('id')
      .where('id', '>=', of.from)
      .where('step_type', 'is not distinct from', of.step)
      .orderBy('id')
  })
  await store.write(async (tx) => {
    for (const id of [1, 2, 2]) await insert.run(tx, { id, kind: 'indicator' })
  })
  expect(await find.all(store.kysely, { from: 1, step: null })).toEqual([{ id: 1 }, { id: 2 }])
  expect(await find.all(store.kysely, { from: 2, step: null })).toEqual([{ id: 2 }])
  expect(await find.first(store.kysely, { from: 1, step: null })).toEqual({ id: 1 })
  expect(await find.first(store.kysely, { from: 1, step: 'linear' })).toBeUndefined()
  expect(built).toBe(2)
})
