import { expect, test } from 'vitest'
import { countItems } from '../../src/util/count.ts'

test('countItems stops counting after a time limit or on an abort signal', async () => {
  const controller = new AbortController()
  expect(await countItems([1, 2, 3], controller.signal)).toBe(3)
  function* endless() {
    for (;;) yield taken++
  }
  let taken = 0
  expect(await countItems(endless(), controller.signal)).toBeNull()
  taken = 0
  setImmediate(() => controller.abort())
  expect(await countItems(endless(), controller.signal)).toBeNull()
  expect(taken).toBeLessThan(100_000)
})
