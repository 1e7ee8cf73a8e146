import { expect, test } from 'vitest'
import { findRowChanges } from '../../src/util/rowChanges.ts'

test('rows with another key are removed and inserted, in order', () => {
  const row = (id: number, value: string) => ({ id, value })
  const before = [row(1, 'a'), row(2, 'b'), row(3, 'c')]
  const after = [row(4, 'd'), row(3, 'c'), row(2, 'x')]
  expect(findRowChanges(before, after, ({ id, value }) => `${id} ${value}`)).toEqual({
    removed: [row(1, 'a'), row(2, 'b')],
    inserted: [row(4, 'd'), row(2, 'x')],
  })
  expect(findRowChanges(before, [...before], ({ id }) => `${id}`)).toEqual({ removed: [], inserted: [] })
})
