import { expect, test } from 'vitest'
import { tableOf } from '../../src/tables/schema.ts'
import { FETCH_OUTCOMES } from '../../src/tables/sql/fetchOutcome.ts'

test('every outcome of a request stands in the description of its column, and once in the list', () => {
  const all = Object.values(FETCH_OUTCOMES).flat()
  expect(new Set(all).size).toBe(all.length)
  const { about } = tableOf('_fetch').columns.outcome!
  const described = about.replace(/\([^)]*\)/g, '').match(/[a-z-]+/g)!
  expect(all.filter((outcome) => !described.includes(outcome))).toEqual([])
})
