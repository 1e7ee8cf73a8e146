import { join } from 'node:path'
import { expect, test } from 'vitest'
import { emulate, tempFolder } from '../../kit.ts'
import { onMarket } from '../../marketCopy.ts'

const market = onMarket()

test('discover answers people and scripts', async () => {
  expect((await market.run(['discover', '600'])).out).toMatch(
    /600 {2}indicator {2}Precio mercado SPOT Diario {2}2025-10-04 … 2025-11-04, 2 geos/,
  )
  expect(JSON.parse((await market.run(['discover', 'demanda', '--json'])).out)[0]).toMatchObject({
    id: expect.any(Number),
    kind: 'indicator',
    name: expect.any(String),
  })
  expect((await market.run(['discover', 'qqqq'])).out).toMatch(/Nothing matches "qqqq"/)
})

test('discover --refresh fetches the catalogue into an empty database', async () => {
  const emulator = await emulate({})
  const { code, out } = await market.run(
    ['discover', 'eolica', '--refresh', '--json', '--database', join(tempFolder(), 'new.db')],
    { INDICATOR_SYNC_BASE_URL: emulator.url, INDICATOR_SYNC_API_KEY: emulator.key },
  )
  expect(code).toBe(0)
  expect(JSON.parse(out).length).toBeGreaterThan(3)
})
