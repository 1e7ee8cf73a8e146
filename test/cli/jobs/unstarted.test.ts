import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Finding } from '../../../src/findings/finding.ts'
import { emulate, runCli, runCommand, serve } from '../../support/kit.ts'
import { openStore } from '../../support/testStore.ts'
import { jobFolder, serviceAt } from '../jobFolder.ts'

const job = (name: string, more = '') =>
  `name: ${name}\n${more}pace: { perSecond: 50 }\nseries: [{ indicators: [600], geoIds: [3], window: { from: 2025-01-01, to: 2025-01-02 } }]\n`

type RunRow = Readonly<Record<'job' | 'job_file' | 'outcome' | 'code' | 'message', string>>

/** Starts a receiver of notifications. */
async function receiver() {
  const messages: { event: string; job: string; text: string; stop: { code: string; message: string } }[] = []
  const { url } = await serve((request, response) => {
    let body = ''
    request.on('data', (piece) => {
      body += piece
    })
    request.on('end', () => {
      messages.push(JSON.parse(body))
      response.end()
    })
  })
  return { url, messages }
}

/** A folder whose job `nightly` in job.yaml was synced once, with commands that run in it. */
async function nights(files: Record<string, string> = {}) {
  const emulator = await emulate()
  const { url, messages } = await receiver()
  const dir = jobFolder({ 'job.yaml': job('nightly'), ...files })
  const env = { ...serviceAt(emulator.url, emulator.key), INDICATOR_SYNC_NOTIFY: url }
  const run = (args: readonly string[], more: Record<string, string> = {}) => runCommand(dir, args, { ...env, ...more })
  expect((await run(['sync', 'job.yaml'])).code).toBe(0)
  messages.length = 0
  return {
    dir,
    env,
    messages,
    run,
    write: (file: string, text: string) => writeFileSync(join(dir, file), text),
    async check() {
      const { code, out } = await run(['check', '--json'])
      return { code, findings: JSON.parse(out) as Finding[] }
    },
    async runs() {
      const store = await openStore(join(dir, 'data/indicator-sync.db'))
      const rows = store.all('select job, job_file, outcome, code, message from _run order by id') as RunRow[]
      await store.close()
      return rows.slice(1)
    },
  }
}

const BROKEN = [
  ['is not YAML', '{ "name": "nightly", "series": [', 'bad-job', /job\.yaml:1:\d+ {2}is not valid YAML/],
  ['has an unknown field', job('nightly', 'sereis: 1\n'), 'bad-job', /job\.yaml:2:1 {2}sereis/],
  ['is missing', null, 'no-job-file', /job file job\.yaml does not exist/],
] as const

describe('a job file that cannot be run unattended', () => {
  test.each(BROKEN)(
    'a job file that %s is notified and recorded, and check names it until a run succeeds',
    async (...broken) => {
      const [, text, code, says] = broken
      const { dir, run, messages, write, check, runs } = await nights()
      if (text === null) rmSync(join(dir, 'job.yaml'))
      else write('job.yaml', text)
      expect((await run(['sync', 'job.yaml', '--quiet'])).code).toBe(2)
      expect(messages).toMatchObject([{ event: 'failed', ok: false, stop: { code } }])
      expect(messages[0]!.text).toMatch(says)
      const recorded = { job: 'nightly', job_file: 'job.yaml', outcome: 'failed', code }
      expect(await runs()).toMatchObject([{ ...recorded, message: expect.stringMatching(says) }])
      const kind = text === null ? 'job file' : 'last run'
      expect(await check()).toMatchObject({ code: 6, findings: [{ kind, subject: 'job nightly' }] })
      write('job.yaml', job('nightly'))
      if (text !== null) expect((await check()).findings[0]).toMatchObject({ message: expect.stringMatching(says) })
      expect((await check()).code, 'the file alone is not a success').toBe(6)
      expect((await run(['sync', 'job.yaml'])).code).toBe(0)
      expect(await check()).toEqual({ code: 0, findings: [] })
    },
  )

  test.each(BROKEN)('a job file that %s from its first night on is reported, too', async (_, text, code, says) => {
    const { run, write, check } = await nights(
      text === null ? {} : { 'sub-job.yaml': text.replace('nightly', 'other') },
    )
    expect((await run(['sync', 'sub-job.yaml'])).code).toBe(2)
    const [finding] = (await check()).findings
    expect(finding).toMatchObject({ kind: text === null ? 'job file' : 'last run' })
    if (text !== null) expect(finding!.message).toMatch(new RegExp(says.source.replace('job\\.', 'sub-job\\.')))
    if (text !== null) expect(finding!.cause).toBe(code)
    write('sub-job.yaml', job('renamed'))
    expect((await run(['sync', 'sub-job.yaml'])).code).toBe(0)
    expect(await check()).toEqual({ code: 0, findings: [] })
  })

  test('a broken job file is notified at its own addresses if they are readable', async () => {
    const { dir, env, messages, write } = await nights()
    const hook = env.INDICATOR_SYNC_NOTIFY
    write('job.yaml', job('nightly', `notify: [$HOOK, "no address", $UNSET]\nsereis: 1\n`))
    const { INDICATOR_SYNC_NOTIFY: _, ...without } = env
    expect((await runCommand(dir, ['sync', 'job.yaml'], { ...without, HOOK: hook })).code).toBe(2)
    expect(messages).toMatchObject([{ job: 'nightly', stop: { code: 'bad-job' } }])
  })

  test('a broken job file keeps the other jobs of its command from running, which is one finding', async () => {
    const { run, write, check, messages, runs } = await nights({ 'b.yaml': job('b'), 'c.yaml': job('c') })
    write('job.yaml', 'nonsense: 1\n')
    expect((await run(['sync', 'b.yaml', 'job.yaml', 'c.yaml'])).code).toBe(2)
    expect(messages.map(({ job, event, stop }) => [job, event, stop.code])).toEqual([
      ['b', 'stopped', 'not-reached'],
      ['job.yaml', 'failed', 'bad-job'],
      ['c', 'stopped', 'not-reached'],
    ])
    expect((await runs()).map(({ job, outcome }) => [job, outcome])).toEqual([
      ['nightly', 'failed'],
      ['b', 'stopped'],
      ['c', 'stopped'],
    ])
    expect((await check()).findings.map(({ kind, subject }) => [kind, subject])).toEqual([['last run', 'job nightly']])
    write('job.yaml', job('nightly'))
    expect((await run(['sync', 'b.yaml', 'job.yaml', 'c.yaml'])).code).toBe(0)
    expect(await check()).toEqual({ code: 0, findings: [] })
  })
})

describe('a setting that cannot be used unattended', () => {
  const KEY = 'deadbeef'.repeat(8)
  test.each([
    ['a key that cannot be one', { INDICATOR_SYNC_API_KEY: `${KEY} ${KEY}` }, 'bad-key'],
    ['no key', { INDICATOR_SYNC_API_KEY: '' }, 'no-key'],
    ['no service', { INDICATOR_SYNC_BASE_URL: '' }, 'no-base-url'],
    ['an unencrypted address', { INDICATOR_SYNC_BASE_URL: 'http://192.0.2.1' }, 'plain-http'],
    ['an unset address for notifications', { INDICATOR_SYNC_NOTIFY: '$UNSET' }, 'no-notify-url'],
  ])('%s is recorded without the key, and check names it until a run succeeds', async (_, setting, code) => {
    const { run, messages, check, runs } = await nights()
    expect((await run(['sync', 'job.yaml'], setting)).code).toBe(2)
    if (code !== 'no-notify-url') expect(messages).toMatchObject([{ event: 'failed', job: 'nightly', stop: { code } }])
    expect(await runs()).toMatchObject([{ job: 'nightly', outcome: 'failed', code }])
    expect(JSON.stringify([messages, await runs()])).not.toContain('deadbeef')
    expect(await check()).toMatchObject({ code: 6, findings: [{ kind: 'last run', cause: code }] })
    expect((await run(['sync', 'job.yaml'])).code).toBe(0)
    expect(await check()).toEqual({ code: 0, findings: [] })
  })

  test('a setting that fails several jobs is one finding, whose command runs all of them', async () => {
    const { run, check } = await nights({ 'b.yaml': job('b') })
    expect((await run(['sync', 'b.yaml', 'job.yaml'])).code).toBe(0)
    expect((await run(['sync', 'b.yaml', 'job.yaml'], { INDICATOR_SYNC_API_KEY: 'a b' })).code).toBe(2)
    const { findings } = await check()
    expect(findings).toMatchObject([
      {
        kind: 'last run',
        subject: 'jobs b, nightly',
        cause: 'bad-key',
        command: expect.stringMatching(/sync b\.yaml job\.yaml$/),
      },
    ])
    expect(findings[0]!.message).toMatch(/^last run of b \(.*\), last run of nightly \(.*\) failed: The API key/)
    expect((await run(['sync', 'b.yaml'])).code).toBe(0)
    expect((await check()).findings).toMatchObject([{ kind: 'last run', subject: 'job nightly' }])
  })

  test('a database that cannot be one is notified', async () => {
    const { run, messages } = await nights()
    expect((await run(['sync', 'job.yaml', '--database', 'mysql://h/d'])).code).toBe(2)
    expect(messages).toMatchObject([{ event: 'failed', job: 'nightly', stop: { code: 'bad-database' } }])
  })
})

test('a notification leaves out findings of jobs that the command has yet to run', async () => {
  const { run, write, messages } = await nights({ 'b.yaml': job('b') })
  expect((await run(['sync', 'b.yaml'])).code).toBe(0)
  write('job.yaml', 'nonsense: 1\n')
  expect((await run(['sync', 'job.yaml'])).code).toBe(2)
  messages.length = 0
  expect((await run(['sync', 'b.yaml'])).code).toBe(0)
  expect(messages).toMatchObject([
    { job: 'b', event: 'done', findings: [{ kind: 'last run', subject: 'job nightly' }] },
  ])
  write('job.yaml', job('nightly'))
  expect((await run(['sync', 'b.yaml', 'job.yaml'])).code).toBe(0)
  expect(messages.slice(1)).toMatchObject([
    { job: 'b', event: 'done', findings: [] },
    { job: 'nightly', event: 'done', findings: [] },
  ])
})

test('a deleted job file that a command line still names is a finding that says how to end it', async () => {
  const { dir, run, check } = await nights({ 'b.yaml': job('b') })
  expect((await run(['sync', 'b.yaml'])).code).toBe(0)
  const message = async () => (await check()).findings.map(({ kind, message }) => `${kind}: ${message}`).join('\n')
  rmSync(join(dir, 'b.yaml'))
  expect(await message()).toMatch(
    /^job file: .*still required.* If the job is no longer needed, the command forgets it$/,
  )
  expect((await run(['sync', 'b.yaml', 'job.yaml'])).code).toBe(2)
  expect(await message()).toMatch(
    /^job file: .*still required.* If the job is no longer needed, remove the file from the command line that still names it/,
  )
  expect((await run(['prune', '--job', 'b'])).code).toBe(0)
  expect((await run(['sync', 'b.yaml', 'job.yaml'])).code).toBe(2)
  expect(await message()).toMatch(
    /^job file: job file .*b\.yaml does not exist, but the last run of a command still named it\. /,
  )
  expect(await message()).not.toContain('still required')
  expect((await run(['prune', '--job', 'b'])).code).toBe(0)
  expect((await run(['sync', 'job.yaml'])).code).toBe(0)
  expect(await check()).toEqual({ code: 0, findings: [] })
})

test('two new files with one name are recorded, and check names both', async () => {
  const { run, write, check } = await nights({ 'b.yaml': job('nightly') })
  expect((await run(['sync', 'job.yaml', 'b.yaml'])).code).toBe(2)
  const { code, findings } = await check()
  expect([code, findings.map(({ kind, cause }) => [kind, cause])]).toEqual([
    6,
    [
      ['same name', null],
      ['last run', 'same-job-name'],
    ],
  ])
  write('b.yaml', job('second'))
  expect((await run(['sync', 'job.yaml', 'b.yaml'])).code).toBe(0)
  expect(await check()).toEqual({ code: 0, findings: [] })
})

test('a job file with mistakes creates no database', async () => {
  const dir = jobFolder({ 'job.yaml': 'nonsense: 1' })
  expect((await runCommand(dir, ['sync', 'job.yaml'])).code).toBe(2)
  expect((await runCommand(dir, ['status'])).code).not.toBe(0)
})

test('a mistake at a terminal is neither recorded nor notified', async () => {
  const { dir, env, messages, check } = await nights()
  writeFileSync(join(dir, 'terminal.mjs'), 'process.stderr.isTTY = true')
  const options = `--import ${join(dir, 'terminal.mjs')}`
  expect((await runCli(dir, ['sync', 'jbo.yaml'], { ...env, NODE_OPTIONS: options })).code).toBe(2)
  expect(messages).toEqual([])
  expect(await check()).toEqual({ code: 0, findings: [] })
})

test('a selector that matches nothing is recorded, and check names it', async () => {
  const { run, write, check, messages, runs } = await nights({
    'words.yaml': `name: words\npace: { perSecond: 50 }\ncatalogue: true\nseries: [{ indicators: { match: SPOT }, geoIds: [3], window: { from: 2025-01-01, to: 2025-01-02 } }]\n`,
  })
  expect((await run(['sync', 'words.yaml'])).code).toBe(0)
  write('other.yaml', `name: other\nseries: [{ indicators: { match: xyzzy }, window: { last: 1d } }]\n`)
  messages.length = 0
  expect((await run(['sync', 'other.yaml', 'job.yaml'])).code).toBe(2)
  expect(messages.map(({ job, event }) => [job, event])).toEqual([
    ['other', 'failed'],
    ['nightly', 'stopped'],
  ])
  expect((await runs()).slice(-2).map(({ job, outcome }) => [job, outcome])).toEqual([
    ['other', 'failed'],
    ['nightly', 'stopped'],
  ])
  expect((await check()).findings).toMatchObject([{ kind: 'last run', subject: 'job other', cause: 'empty-selection' }])
})

test('the failure of a job ends when it succeeds under a new name', async () => {
  const { run, write, check } = await nights()
  expect((await run(['sync', 'job.yaml'], { INDICATOR_SYNC_API_KEY: 'x' })).code).toBe(2)
  write('job.yaml', job('renamed'))
  expect((await run(['sync', 'job.yaml'])).code).toBe(0)
  expect(await check()).toEqual({ code: 0, findings: [] })
})
