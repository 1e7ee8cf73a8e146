import { expect, test } from 'vitest'
import { receivedOf, sentOf } from '../../src/threads/sentValues.ts'
import type { Scanned } from '../../src/transform/values/scan.ts'

const scannedOf = (observations: Scanned['values']['observations']): Scanned => ({
  rest: { indicator: { id: 600, values: [] } },
  values: {
    observations,
    rejects: [{ path: '$', reason: 'odd', fragment: 1 }],
    rejected: 1,
    rows: observations.at.length + 1,
    outside: 0,
    geoNames: new Map([[3, 'España']]),
  },
})

test.each([
  ['several geos', { geoIds: [-1, 3, 3, 8741], at: [0, 3600, 7200, 2 ** 33], values: [0.1, null, -0, 5e-324] }],
  ['one geo', { geoIds: [3], at: [3600], values: [null] }],
  ['none', { geoIds: [], at: [], values: [] }],
])('values of %s are the same after they went to another thread', (_, observations) => {
  const { sent, transfer } = sentOf(scannedOf(observations))
  expect(receivedOf(structuredClone(sent, { transfer }))).toEqual(scannedOf(observations))
})
