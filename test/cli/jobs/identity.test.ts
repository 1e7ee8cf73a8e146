import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { emulate, runCommand } from '../../support/kit.ts'
import { testLinks } from '../../support/systems.ts'
import { openStore } from '../../support/testStore.ts'
import { jobFolder, serviceAt } from '../jobFolder.ts'

const job = (id: number, more = '') =>
  `name: nightly\nschedule: "15 21 * * *"\npace: { perSecond: 50 }\nseries: [{ indicators: [${id}], window: { from: 2025-01-01, to: 2025-01-03 } }]\n${more}`

test.each(['sync', 'validate', 'schedule', 'plan'])(
  'two files with one name in one %s exit with 2, and both are named',
  async (command) => {
    const dir = jobFolder({
      'a.yaml': job(600),
      'b.yaml': `# The second.\n${job(1001)}`,
      'c.yaml': job(600).replace('nightly', 'c'),
    })
    const { code, out, err } = await runCommand(
      dir,
      [command, 'c.yaml', 'a.yaml', 'b.yaml'],
      serviceAt('http://127.0.0.1:1'),
    )
    expect([code, `${out}${err}`]).toEqual([
      2,
      expect.stringContaining(
        'b.yaml:2:1  name  "nightly" is also the name of a.yaml; give each job a name of its own',
      ),
    ])
  },
)

testLinks('one file given twice, also through a link, is one job', async () => {
  const dir = jobFolder({ 'a.yaml': job(600) })
  symlinkSync('a.yaml', join(dir, 'link.yaml'))
  expect((await runCommand(dir, ['validate', 'a.yaml', './a.yaml', 'link.yaml'])).code).toBe(0)
})

test.each(['retry', 'Discover', 'replay', 'archives'])('the name %s is reserved', async (name) => {
  const dir = jobFolder({ 'a.yaml': job(600).replace('nightly', name) })
  expect(await runCommand(dir, ['validate', 'a.yaml'])).toMatchObject({
    code: 2,
    out: expect.stringMatching(
      /^a\.yaml:1:1 {2}name {2}".*" is reserved for the program's own runs.*choose another name/,
    ),
  })
})

test('the run after a move or an edit of a job file says what changed, once', async () => {
  const emulator = await emulate()
  const env = serviceAt(emulator.url, emulator.key)
  const dir = jobFolder({})
  const write = (release: string, text: string) => {
    mkdirSync(join(dir, release), { recursive: true })
    writeFileSync(join(dir, release, 'job.yaml'), text)
  }
  const run = async (...args: string[]) => {
    const { code, out } = await runCommand(dir, args, env)
    return { code, out }
  }
  write('one', job(600))
  expect(await run('sync', 'one/job.yaml')).toMatchObject({ code: 0 })
  rmSync(join(dir, 'one'), { recursive: true })
  write('two', job(1001))
  const { out } = await run('sync', 'two/job.yaml')
  expect(out).toMatch(/Continues the history of .*one.job\.yaml, which no longer exists\./)
  expect(out).toMatch(/The job changed and no longer selects 1 stored range\. Its values are kept, but not updated\./)
  const again = await run('sync', 'two/job.yaml', '--json')
  expect(JSON.parse(again.out)).toMatchObject([{ taken_over: null, unselected: 0 }])
  expect(await run('check')).toMatchObject({ code: 0 })
})

test('plan counts the calls for data that left its window before it was final', async () => {
  const emulator = await emulate()
  const env = serviceAt(emulator.url, emulator.key)
  const rolling = 'name: rolling\nseries: [{ indicators: [600], geoIds: [3], window: { last: 1d }, chunk: 1d }]\n'
  const dir = jobFolder({ 'job.yaml': rolling })
  expect((await runCommand(dir, ['sync', 'job.yaml'], env)).code).toBe(0)
  expect((await runCommand(dir, ['plan', 'job.yaml'], env)).out).not.toContain('left its window')
  // As if the first run had been three days earlier.
  const store = await openStore(join(dir, 'data', 'indicator-sync.db'))
  store.run('update _duty set from_at = from_at - 3 * 86400', [])
  await store.close()
  expect((await runCommand(dir, ['plan', 'job.yaml'], env)).out).toMatch(
    /\n\n3 of 3 calls fetch data that an earlier run selected and that left its window before it was final\.\n\n/,
  )
})

test('a job that is not reached is stored, and all data that it selects is missing', async () => {
  const emulator = await emulate()
  const env = serviceAt(emulator.url, emulator.key)
  const first = `name: first\npace: { perSecond: 50, callsPerDay: 1 }\nseries: [{ indicators: [600, 612], window: { from: 2025-01-01, to: 2025-01-03 } }]\n`
  const dir = jobFolder({ 'a.yaml': first, 'b.yaml': job(1001) })
  expect((await runCommand(dir, ['sync', 'a.yaml', 'b.yaml'], env)).code).toBe(4)
  const gaps = JSON.parse((await runCommand(dir, ['gaps', '--json'])).out) as { job: string; reason: string }[]
  expect(gaps.filter((gap) => gap.job === 'nightly')).toMatchObject([{ reason: 'never requested' }])
})

test('prune --job with several jobs of that name exits with 2 and lists them', async () => {
  const emulator = await emulate()
  const env = serviceAt(emulator.url, emulator.key)
  const dir = jobFolder({ 'a.yaml': job(600), 'b.yaml': job(1001) })
  for (const file of ['a.yaml', 'b.yaml']) expect((await runCommand(dir, ['sync', file], env)).code).toBe(0)
  expect((await runCommand(dir, ['check'])).code).toBe(6)
  const prune = (...args: string[]) => runCommand(dir, ['prune', ...args])
  expect(await prune('--job', 'nightly')).toMatchObject({
    code: 2,
    err: expect.stringMatching(/2 jobs have the name "nightly"\.[\s\S]*--file .*a\.yaml or --file .*b\.yaml/),
  })
  expect(await prune('--file', 'a.yaml')).toMatchObject({ code: 2, err: expect.stringContaining('--file needs --job') })
  expect(await prune('--job', 'nightly', '--file', 'a.yaml')).toMatchObject({ code: 0 })
  expect((await runCommand(dir, ['check'])).out).toMatch(/^No findings/)
})
