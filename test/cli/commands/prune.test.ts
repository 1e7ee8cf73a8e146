import { spawnSync } from 'node:child_process'
import { existsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { emulate, runCommand, tempFolder } from '../../support/kit.ts'
import { flawedStore } from '../flawed.ts'

test('prune deletes old bodies except quarantined ones and reports the amount', async () => {
  const { store } = await flawedStore()
  const prune = (...args: string[]) => runCommand(tempFolder(), ['prune', '--database', store.file, ...args])
  const bodies = () => store.get('select count(*) from _reply')
  const young = await prune('90y', '--json')
  expect([young.code, JSON.parse(young.out)]).toMatchObject([0, { bodies: 0, bytes: 0, kept: 0 }])
  const before = bodies() as number
  const dry = await prune('1d', '--dry-run')
  expect(dry.out).toMatch(
    /^Would delete 8 responses last .* \([\d,]+ bytes\)\. Kept 1 older one with quarantined rows\.\nWould delete 0 records of older requests that changed nothing and that later ones repeat\.\n$/,
  )
  expect(bodies()).toBe(before)
  const done = await prune('1d')
  expect(done.code).toBe(0)
  expect(done.out).toMatch(
    /^Deleted 8 responses last received before \d{4}-\S+ \([\d,]+ bytes\)\. Kept 1 older one with quarantined rows\.\nDeleted 0 records of older requests that changed nothing and that later ones repeat\.\nThe database keeps its size and reuses the space\. --vacuum shrinks it and needs twice its size\.\n$/,
  )
  expect(bodies()).toBe(before - 8)
  expect(JSON.parse((await prune('1d', '--dry-run', '--json')).out)).toMatchObject({ bodies: 0, bytes: 0, kept: 1 })
})

test('prune --vacuum shrinks the file and keeps its rows', async () => {
  const { store } = await flawedStore()
  const run = (...args: string[]) => runCommand(tempFolder(), [...args, '--database', store.file])
  const rows = ['query', 'select * from observation order by series_id, geo_id, at', '--format', 'csv']
  const before = await run(...rows)
  store.run(`update _reply set body = zeroblob(4000000) where hash = (select min(hash) from _reply)`, [])
  store.run(`update _reply set body = x'00' where hash = (select min(hash) from _reply)`, [])
  const done = await run('prune', '1d', '--vacuum')
  expect(done.out).toMatch(/Shrunk the database\.\n$/)
  expect(statSync(store.file).size).toBeLessThan(3_000_000)
  expect(await run(...rows)).toEqual(before)
})

test.skipIf(!existsSync('/usr/bin/script'))('prune asks for confirmation on a terminal', async () => {
  const { store } = await flawedStore()
  const bodies = store.get('select count(*) from _reply') as number
  const prune = (input: string, flag = '') => {
    const line = `'${process.execPath}' src/cli/bin.js prune 1d ${flag} --database '${store.file}'`
    return spawnSync('script', ['-qec', line, '/dev/null'], { input, encoding: 'utf8', timeout: 10_000 }).stdout
  }
  expect(prune('n\n')).toMatch(/Delete 8 responses .*\? \[y\/N\] .*Nothing was deleted\./s)
  expect(store.get('select count(*) from _reply')).toBe(bodies)
  expect(prune('y\n')).toMatch(/Deleted 8 responses/)
  expect(store.get('select count(*) from _reply')).toBe(bodies - 8)
  expect(prune('', '--yes')).not.toMatch(/\[y\/N\]/)
})

test('prune --job closes the findings of a deleted job and keeps its values', async () => {
  const dir = tempFolder()
  const service = await emulate()
  const job = (name: string, geo: number): string =>
    `name: ${name}\nschedule: "15 21 * * *"\nseries: [{ indicators: [600], geoIds: [${geo}], window: { from: -6d, to: -3d }, chunk: 1d }]\n`
  writeFileSync(join(dir, 'old.yaml'), job('old', 4321))
  const args = ['--database', 'x.db']
  const service600 = ['--base-url', service.url, '--service', 'esios']
  const env = { INDICATOR_SYNC_API_KEY: service.key }
  await runCommand(dir, ['sync', 'old.yaml', ...args, ...service600], env)
  const findings = async () =>
    (
      JSON.parse((await runCommand(dir, ['check', ...args, '--json'])).out) as {
        readonly kind: string
        readonly message: string
      }[]
    ).filter(({ kind, message }) => /\bold\b|4321/.test(message) && kind !== 'gap')
  expect(await findings()).not.toEqual([])
  expect(await runCommand(dir, ['prune', '--job', 'new', ...args])).toMatchObject({
    code: 2,
    err: expect.stringMatching(/Unknown job "new"/),
  })
  const rows = ['query', 'select count(*) as n from _fetch', '--format', 'csv', ...args]
  const before = await runCommand(dir, rows)
  expect((await runCommand(dir, ['prune', '--job', 'old', ...args])).out).toBe('Forgot job old. Its values are kept.\n')
  expect(await findings()).toEqual([])
  expect(await runCommand(dir, rows)).toEqual(before)
  expect((await runCommand(dir, ['prune', '--job', 'old', ...args])).code).toBe(2)
})

test('prune refuses an age in units below days and creates no database', async () => {
  const dir = tempFolder()
  expect(await runCommand(dir, ['prune', 'yesterday'])).toMatchObject({
    code: 2,
    err: expect.stringMatching(/"yesterday" is not a valid age/),
  })
  // In job files `m` means minutes, which are too short for prune.
  for (const span of ['1m', '6h', '0d'])
    expect(await runCommand(dir, ['prune', span])).toMatchObject({
      code: 2,
      err: expect.stringMatching(/"\d[mhd]" is not a valid age[^\n]*\.\n.*at least one day.*90d, 12w, 6mo or 2y/),
    })
  expect((await runCommand(dir, ['prune', '3m'])).err).toMatch(/m may mean minutes or months; write 3mo for months/)
  expect(await runCommand(dir, ['prune', '1d'])).toMatchObject({ code: 7 })
  expect(existsSync(join(dir, 'data'))).toBe(false)
})
