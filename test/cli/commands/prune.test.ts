import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { emulate, runCommand, tempFolder } from '../../kit.ts'
import { flawedStore } from '../flawed.ts'

test('prune deletes old bodies, but not those in quarantine, and says how much', async () => {
  const { store } = await flawedStore()
  const prune = (...args: string[]) => runCommand(tempFolder(), ['prune', '--database', store.file, ...args])
  const bodies = () => store.get('select count(*) from _reply')
  const young = await prune('90y', '--json')
  expect([young.code, JSON.parse(young.out)]).toMatchObject([0, { bodies: 0, bytes: 0, kept: 0 }])
  const before = bodies() as number
  const done = await prune('1d')
  expect(done.code).toBe(0)
  expect(done.out).toMatch(
    /^Deleted 1 response last received before \d{4}-\S+ \([\d,]+ bytes\)\. Kept 1 older one with quarantined rows\.\n$/,
  )
  expect(bodies()).toBe(before - 1)
})

test('prune --job ends the findings of a job that no longer exists, and keeps its values', async () => {
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
        readonly check: string
        readonly what: string
      }[]
    ).filter(({ check, what }) => /\bold\b|4321/.test(what) && check !== 'gap (absent)')
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

test('prune refuses an age that is not in days or longer units, and makes no database', async () => {
  const dir = tempFolder()
  expect(await runCommand(dir, ['prune', 'yesterday'])).toMatchObject({
    code: 2,
    err: expect.stringMatching(/"yesterday" is not a valid age/),
  })
  // In job files `m` is a minute, and a body of a minute ago is no old one.
  for (const span of ['1m', '6h'])
    expect(await runCommand(dir, ['prune', span])).toMatchObject({
      code: 2,
      err: expect.stringMatching(/"\d[mh]" is not a valid age.\n.*90d, 12w, 6mo or 2y/),
    })
  expect(await runCommand(dir, ['prune', '1d'])).toMatchObject({ code: 7 })
  expect(existsSync(join(dir, 'data'))).toBe(false)
})
