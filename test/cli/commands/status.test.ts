import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readStatus } from '../../../src/findings/readStatus.ts'
import { emulate, onlyInFile, runCommand, tempFolder } from '../../support/kit.ts'
import { openStore } from '../../support/testStore.ts'
import { jobFolder, SERIES, serviceAt } from '../jobFolder.ts'

test('status fits into 60 columns and does not truncate the next step', async () => {
  const emulator = await emulate()
  const dir = jobFolder({
    'job.yaml': SERIES.replace('1739', '1739, 1293, 424242').replace('2025-02-01', '2025-01-03'),
  })
  expect((await runCommand(dir, ['sync', 'job.yaml'], serviceAt(emulator.url, emulator.key))).code).toBe(1)
  const text = (await runCommand(dir, ['status'])).out
  const isLong = (line: string): boolean => [...line.replace(/ --database \S+/, '')].length > 60
  expect(text.split('\n').filter(isLong)).toEqual([])
  const { findings, failures } = JSON.parse((await runCommand(dir, ['status', '--json'])).out)
  expect(failures).toHaveLength(1)
  expect(findings).toMatchObject([{ kind: 'unknown id', subject: 'indicator 424242' }])
  const timeless = (shown: string) =>
    shown.replaceAll(/\s/g, '').replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)/g, '')
  expect(timeless(text)).toContain(timeless(findings[0].message))
  // JSON has UTC, texts have the local time of the service.
  expect(findings[0].message).toMatch(/\dZ$/)
  expect(text).toMatch(/^Times: Europe\/Madrid$/m)
  for (const shown of [text, (await runCommand(dir, ['check'])).out]) expect(shown).not.toMatch(/\dZ|UTC/)
  const ahead = jobFolder({
    'job.yaml': SERIES.replace('2025-01-01', 'today').replace('2025-02-01', '+2d').replace('1739', '544'),
  })
  const tomorrow = await emulate({ now: Date.now() / 1000 })
  expect((await runCommand(ahead, ['sync', 'job.yaml'], serviceAt(tomorrow.url, tomorrow.key))).code).toBe(0)
  for (const { lag_hours } of JSON.parse((await runCommand(ahead, ['status', '--json'])).out).series)
    expect(lag_hours).toBeGreaterThanOrEqual(0)
})

test('a series that is complete up to the fixed end of its window is not behind', async () => {
  const now = Date.now() / 1000
  const emulator = await emulate({ now })
  const env = serviceAt(emulator.url, emulator.key)
  const entry = (id: number, window: string) => `  - { indicators: [${id}], geoIds: [8741], window: { ${window} } }\n`
  const fixed = 'from: 2025-01-01, to: 2025-01-03'
  const head = 'name: ended\npace: { perSecond: 50 }\nseries:\n'
  const dir = jobFolder({ 'job.yaml': `${head}${entry(1293, fixed)}${entry(551, 'last: 2d')}` })
  expect((await runCommand(dir, ['sync', 'job.yaml'], env)).code).toBe(0)
  const ended = async () =>
    JSON.parse((await runCommand(dir, ['status', '--json'])).out).series.map(
      ({ indicator_id, has_ended }: { indicator_id: number; has_ended: boolean }) => [indicator_id, has_ended],
    )
  expect(await ended()).toEqual([
    [551, false],
    [1293, true],
  ])
  expect((await runCommand(dir, ['status'])).out).toMatch(/^1293 .* 2025-01-02 .* ended$/m)

  // A later end was not fetched yet, so data is missing.
  writeFileSync(join(dir, 'job.yaml'), `${head}${entry(1293, 'from: 2025-01-01, to: 2025-01-10')}`)
  const refusing = await emulate({ now, faults: [{ route: 'indicator', status: 400 }] })
  await runCommand(dir, ['sync', 'job.yaml'], serviceAt(refusing.url, refusing.key))
  expect(await ended()).toEqual([
    [551, false],
    [1293, false],
  ])
})

test('status says why the last run of a job failed', async () => {
  const emulator = await emulate({ key: 'the-right-key' })
  const dir = jobFolder({ 'job.yaml': SERIES })
  expect((await runCommand(dir, ['sync', 'job.yaml'], serviceAt(emulator.url, 'the-wrong-key'))).code).toBe(3)
  expect((await runCommand(dir, ['status'])).out).toMatch(
    /: failed\n.*\n.*\n +The service refused the API key \(status 40[13]\)\./,
  )
})

test.skipIf(onlyInFile('file'))(
  'status works for a new database and estimates row counts of large tables',
  async () => {
    const other = await openStore(join(tempFolder(), 'new.db'))
    expect(await readStatus(other)).toMatchObject({ rows: { observation: 0 }, estimated: [] })
    other.run('analyze', [])
    other.run(`insert into sqlite_stat1 (tbl, idx, stat) values ('observation', 'observation', '100000000 1 1 1')`, [])
    expect(await readStatus(other)).toMatchObject({ rows: { observation: 100_000_000 }, estimated: ['observation'] })
    await other.close()
  },
)
