import { expect, test } from 'vitest'
import { placeOf } from '../../src/db/address.ts'

test.each([
  ['data/market.db', { isShared: false, isServed: false, folder: 'data' }],
  ['market.db', { isShared: false, isServed: false, folder: '.' }],
  ['postgres.db', { isShared: false, isServed: false, folder: '.' }],
  ['postgres://user@host/market', { isShared: true, isServed: true, folder: null }],
  ['POSTGRESQL://host/market', { isShared: true, isServed: true, folder: null }],
])('what follows from where %s lies', (name, place) => expect(placeOf(name)).toEqual(place))
