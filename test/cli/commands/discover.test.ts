import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { copyDemo, onDemo } from '../../support/demoCopy.ts'
import { emulate, runCommand, tempFolder } from '../../support/kit.ts'

const demo = onDemo()

test('discover prints matches as text and as JSON', async () => {
  expect((await demo.run(['discover', '600'])).out).toMatch(
    /600 {2}indicator {2}Day-ahead spot market price {2}2025-10-04 … 2025-11-04, 2 geos {2}1 Portugal, 2 Francia, 3 España, 8826 Alemania, 8827 Bélgica, 8828 Países Bajos\n/,
  )
  expect(JSON.parse((await demo.run(['discover', 'demanda', '--json'])).out)[0]).toMatchObject({
    id: expect.any(Number),
    kind: 'indicator',
    name: expect.any(String),
    geos: expect.any(Array),
  })
  expect((await demo.run(['discover', 'qqqq'])).out).toMatch(/Nothing matches "qqqq"/)
})

test('discover --refresh fetches the catalogue into an empty database', async () => {
  const emulator = await emulate({})
  const { code, out } = await demo.run(
    ['discover', 'eolica', '--refresh', '--json', '--database', join(tempFolder(), 'new.db')],
    { INDICATOR_SYNC_BASE_URL: emulator.url, INDICATOR_SYNC_API_KEY: emulator.key },
  )
  expect(code).toBe(0)
  expect(JSON.parse(out).length).toBeGreaterThan(3)
})

test('discover fetches a missing catalogue if a key is set, and otherwise asks for the key', async () => {
  const emulator = await emulate({})
  const database = ['--database', join(tempFolder(), 'new.db')]
  const without = await demo.run(['discover', 'eolica', ...database])
  expect(without).toMatchObject({
    code: 2,
    err: expect.stringMatching(
      /^The catalogue is not stored\. To fetch it, --refresh needs an API key\. No (base URL|API key) is set/,
    ),
  })
  const env = { INDICATOR_SYNC_BASE_URL: emulator.url, INDICATOR_SYNC_API_KEY: emulator.key }
  const found = await demo.run(['discover', 'eolica', ...database], env)
  expect(found).toMatchObject({ code: 0, out: expect.stringContaining('Real-time wind generation') })
  await emulator.close()
  expect((await demo.run(['discover', 'eolica', ...database], env)).code).toBe(0)
})

test('discover reports that a database has no catalogue and that fetching it needs a key', async () => {
  const folder = tempFolder()
  const emulator = await emulate({})
  const env = { INDICATOR_SYNC_BASE_URL: emulator.url, INDICATOR_SYNC_API_KEY: emulator.key }
  const job = join(folder, 'job.yaml')
  writeFileSync(job, 'name: one\nseries:\n  - { indicators: [600], geoIds: [spain], window: { last: 1d } }\n')
  const database = ['--database', join(folder, 'one.db')]
  expect((await demo.run(['sync', job, ...database], env)).code).toBe(0)
  expect((await demo.run(['discover', 'eolica', ...database])).out).toMatch(
    /catalogue is not stored.*--refresh` \(needs an API key\)/,
  )
})

test('discover lists geos by name before any value is stored', async () => {
  const nowhere = ['--database', join(tempFolder(), 'none.db')]
  const { code, out } = await demo.run(['discover', '--in', 'geos', 'canar', ...nowhere])
  expect(code).toBe(0)
  expect(out).toMatch(/ 19 {2}Islas Canarias\n8742 {2}Canarias/)
})

test('discover lists the geos of a catalogue entry', async () => {
  const geos = [{ geo_id: 2, geo_name: 'Francia' }, { geo_id: 77 }]
  await demo
    .store()
    .kysely.updateTable('indicator')
    .set({ payload: JSON.stringify({ geos }) })
    .where('id', '=', 1844)
    .execute()
  const [found] = JSON.parse((await demo.run(['discover', '1844', '--json'])).out)
  expect(found).toMatchObject({ id: 1844, stored: null, geos: [{ id: 2, name: 'Francia' }, { id: 77 }] })
})

test.each([
  ['discover', 'Canarias', '--in', 'geos'],
  ['discover', 'PVPC', '--in', 'catalogue'],
])('%s %s says that times of the Canary Islands are those of the mainland', async (...args) => {
  const folder = tempFolder()
  const store = await copyDemo(join(folder, 'demo.db'))
  await store.close()
  const { out, err } = await runCommand(folder, [...args, '--database', 'demo.db'])
  expect(out).toContain(args[1] === 'PVPC' ? '1001' : '8742')
  expect(err).toContain('Times of 8742 (Canarias) are those of the mainland, an hour ahead of Canary clocks.')
  expect((await runCommand(folder, ['discover', 'Portugal', '--in', 'geos', '--database', 'demo.db'])).err).toBe('')
})
