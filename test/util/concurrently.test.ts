import { expect, test } from 'vitest'
import { countOf, forEachConcurrently } from '../../src/util/concurrently.ts'

test('a list is counted as far as that can be done soon, and until a signal comes', async () => {
  const controller = new AbortController()
  expect(await countOf([1, 2, 3], controller.signal)).toBe(3)
  function* endless() {
    for (;;) yield taken++
  }
  let taken = 0
  expect(await countOf(endless(), controller.signal)).toBeNull()
  taken = 0
  setImmediate(() => controller.abort())
  expect(await countOf(endless(), controller.signal)).toBeNull()
  expect(taken).toBeLessThan(100_000)
})

test('an endless list is taken only as fast as it is worked through', async () => {
  let taken = 0
  let done = 0
  const controller = new AbortController()
  function* endless() {
    for (;;) yield taken++
  }
  await forEachConcurrently(endless(), 3, controller.signal, async () => {
    expect(taken - done).toBeLessThanOrEqual(3)
    await new Promise((resolve) => setTimeout(resolve, 1))
    if (++done === 50) controller.abort()
  })
  expect(taken).toBeLessThan(60)
})

test('the first error ends the work on a list, and what other workers throw after it is not told', async () => {
  const taken: number[] = []
  const work = forEachConcurrently([1, 2, 3, 4, 5], 2, new AbortController().signal, async (item) => {
    taken.push(item)
    await new Promise((resolve) => setImmediate(resolve))
    if (item === 1) throw new Error('the key was refused')
    await new Promise((resolve) => setImmediate(resolve))
    throw new Error('nothing more is sent')
  })
  await expect(work).rejects.toThrow('the key was refused')
  expect(taken).toEqual([1, 2])
})

test('an error of a worker is thrown when the others have finished', async () => {
  const work = forEachConcurrently([1, 2, 3], 1, new AbortController().signal, async (item) => {
    if (item === 2) throw new Error('the disk is full')
  })
  await expect(work).rejects.toThrow('the disk is full')
})
