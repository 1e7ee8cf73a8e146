import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import SQLite from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { COMMANDS } from '../../src/cli/commandLine/commands.ts'
import { type Done, emulate, json, runCli, runCommand, serve, tempFolder, whenSaid } from '../kit.ts'

const SERIES =
  'name: one\npace: { perSecond: 50 }\nseries:\n  - { indicators: [1739], window: { from: 2025-01-01, to: 2025-02-01 } }\n'

function folder(files: Record<string, string> = { 'job.yaml': SERIES }): string {
  const dir = tempFolder()
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text)
  return dir
}
const to = (url: string, key = 'k'.repeat(64)) => ({ INDICATOR_SYNC_BASE_URL: url, INDICATOR_SYNC_API_KEY: key })

describe('the command line', () => {
  test('help names every command, and every command’s help has an example', async () => {
    const { code, out } = await runCommand(tempFolder(), ['--help'])
    expect(code).toBe(0)
    for (const name of Object.keys(COMMANDS)) expect(out).toContain(`indicator-sync ${name}`)
    const helps = await Promise.all(Object.keys(COMMANDS).map((name) => runCommand(tempFolder(), [name, '--help'])))
    for (const { out: text } of helps) expect(text).toContain('Examples:')
    expect((await runCommand(tempFolder(), ['help', 'status'])).out).toBe(
      helps[Object.keys(COMMANDS).indexOf('status')]!.out,
    )
  })

  test.each<[string, string[], Record<string, string>, number, RegExp]>([
    ['no command', [], {}, 2, /Say what to do/],
    ['an unknown command', ['snyc'], {}, 2, /"snyc" is not a command\. Did you mean "sync"\?/],
    ['no job', ['sync'], {}, 2, /^sync needs <jobs>: .*\n.*sync --help/m],
    ['no action', ['archives'], {}, 2, /^archives needs <action>: list, download\.\n.*archives --help/m],
    ['half of what is needed', ['lake', 'sync'], {}, 2, /^lake needs <folder>: The folder of the lake/m],
    [
      'a flag of few values',
      ['status', '--format', 'jsn'],
      {},
      2,
      /^--format "jsn" is not legal; legal: text, json, prometheus\. Did you mean "json"\?/m,
    ],
    [
      'another action',
      ['archives', 'lst'],
      {},
      2,
      /^<action> "lst" is not legal; legal: list, download\. Did you mean "list"\?/m,
    ],
    [
      'an unknown flag',
      ['status', '--fromat', 'x'],
      {},
      2,
      /status has no flag --fromat\. Did you mean "--format"\?\n.*status --help/,
    ],
    ['an unknown flag that took the job', ['plan', '--url', 'job.yaml'], {}, 2, /plan has no flag --url\..*"--urls"/],
    ['a flag without its value', ['sync', 'job.yaml', '--max-rejects'], {}, 2, /^--max-rejects needs a value\./m],
    [
      'rejects counted by who does not load',
      ['sync', 'job.yaml', '--distributed', '--max-rejects', '9'],
      to('http://x'),
      2,
      /--max-rejects cannot be combined with --distributed.*\n.*workers with --on-reject fail/,
    ],
    [
      'the same of a schedule, before a job is due',
      ['schedule', 'job.yaml', '--distributed', '--on-reject', 'fail'],
      to('http://x'),
      2,
      /--on-reject fail cannot be combined with --distributed/,
    ],
    [
      'a count that a worker has no run for',
      ['worker', '--max-rejects', '9'],
      {},
      2,
      /worker has no flag --max-rejects/,
    ],
    ['no base address', ['sync', 'job.yaml'], {}, 2, /No base address.*\n.*INDICATOR_SYNC_BASE_URL.*demo/],
    ['no key', ['sync', 'job.yaml', '--service', 'esios'], {}, 2, /No API key.*\n.*INDICATOR_SYNC_API_KEY/],
    [
      'an unknown service',
      ['sync', 'job.yaml', '--service', 'esos'],
      {},
      2,
      /legal: generic, esios.*Did you mean "esios"/,
    ],
    ['a bad address', ['sync', 'job.yaml', '--base-url', 'ftp://x'], {}, 2, /is not the address of a service/],
    ['a key no header carries', ['sync', 'job.yaml'], to('http://x', 'a\nb'), 2, /key is empty or holds characters/],
    ['no such job file', ['sync', 'none.yaml'], to('http://x'), 2, /none\.yaml is not there/],
    [
      'a bad range',
      ['sync', 'job.yaml', '--from', 'yesterday'],
      to('http://x'),
      2,
      /--from "yesterday" is not a valid date/,
    ],
    ['no file', ['status', '--database', ':memory:'], {}, 2, /":memory:" \(from flag --database\) is not a file/],
    ['a folder', ['sync', 'job.yaml', '--database', 'x/'], to('http://x'), 2, /"x\/" .* is the name of a folder/],
    ['the lock of a database', ['status', '--database', 'h.db.lock'], {}, 2, /is the name of the lock/],
    ['the log of a database', ['status', '--database', 'h.db-wal'], {}, 2, /is the name of the log/],
    ['no database yet', ['status'], {}, 7, /no database data\/indicator-sync\.db yet/],
  ])('%s', async (_name, args, env, code, message) => {
    const result = await runCommand(folder(), args, env)
    expect(result.err).toMatch(message)
    expect(result.code).toBe(code)
  })

  test('what is legal and hardly meant is a warning with its number, not a mistake', async () => {
    const dir = folder({
      'job.yaml': SERIES.replace('[1739]', `[${Array.from({ length: 400 }, (_, i) => i + 1)}]`).replace(
        'from: 2025-01-01, to: 2025-02-01 }',
        'from: 1989-12-31, to: 2024-01-01 }, chunk: 1d',
      ),
    })
    const { code, err } = await runCommand(dir, ['validate', 'job.yaml'])
    expect(err).toMatch(/series\[0\]\.window\.from lies before 1990/)
    expect(err).toMatch(/needs 4,967,600 requests, 2 days at its pace/)
    expect(code).toBe(0)
  })

  test('a time may begin with a minus sign in every command that takes one, after a space too', async () => {
    const emulator = await emulate()
    const dir = folder({
      'job.yaml': SERIES.replace('window: { from: 2025-01-01, to: 2025-02-01 }', 'window: { last: 60d }'),
    })
    const env = to(emulator.url, emulator.key)
    expect((await runCommand(dir, ['sync', 'job.yaml'], env)).code).toBe(0)
    const range = ['--from', '-30d', '--to', '-2d']
    const of: Record<string, string[]> = {
      plan: ['job.yaml'],
      sync: ['job.yaml'],
      backfill: ['job.yaml'],
      restate: ['job.yaml'],
      archives: ['list'],
      diff: [],
      show: ['1739', '--json'],
      query: ['--recipe', 'daily-average', '--indicator', '1739'],
      export: ['--indicator', '1739'],
    }
    const ranged = (Object.entries(COMMANDS) as [string, { flags: object }][]).filter(
      ([, { flags }]) => 'from' in flags && 'to' in flags,
    )
    expect(ranged.map(([name]) => name).sort()).toEqual(Object.keys(of).sort())
    for (const [name] of ranged) {
      const { code, err } = await runCommand(dir, [name, ...of[name]!, ...range], env)
      expect({ name, code, err: err.replace(/^.*(rows|requests).*$/gm, '') }).toMatchObject({ name, code: 0 })
    }
    const days = JSON.parse((await runCommand(dir, ['query', ...of.query!, ...range, '--json'])).out) as object[]
    expect(days).toHaveLength(28)
    const { code, err } = await runCommand(dir, ['plan', 'job.yaml', '--from', '-30d', '--from', '-3d'])
    expect({ code, err }).toEqual({ code: 2, err: expect.stringMatching(/--from is given twice/) })
  })

  test('the source runs by itself on the right runtime, as `bin.js` does', () => {
    const out = execFileSync(process.execPath, [resolve('src/cli/main.ts'), '--version'], { encoding: 'utf8' })
    expect(out.trim()).toMatch(/^\d+\.\d+\.\d+/)
  })

  test.each([
    ['a command that fetches', ['sync', 'none.yaml'], '', ['--max-semi-space-size=2', '--max-old-space-size=1024'], 2],
    ['one with an option of its user', ['sync', 'none.yaml'], '--max-semi-space-size=16', [], 2],
    ['a server with an option of its user', ['serve', '--database', 'none.db'], '--max-old-space-size=999', [], 7],
    ['one that only reads', ['completion', 'bash'], '', [], 0],
  ])('%s has the heap that suits it', (_, args, options, execArgv, code) => {
    const script = `process.on('exit', () => process.stderr.write('\\n' + JSON.stringify(process.execArgv)))`
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(script)} ${options}`.trim()
    const { status, stderr } = spawnSync(process.execPath, [resolve('src/cli/bin.js'), ...args], {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, NODE_OPTIONS },
    })
    // Told once: the process that began is the one that ended.
    const said = stderr.split('\n').filter((line) => line.startsWith('['))
    expect({ said, status }).toEqual({ said: [JSON.stringify(execArgv)], status: code })
  })

  test('the demo writes nothing into a database of a real service', async () => {
    const { url, key } = await emulate()
    const dir = folder()
    await runCli(dir, ['sync', 'job.yaml'], to(url, key))
    const { code, err } = await runCli(dir, ['demo', '--database', 'data/indicator-sync.db'])
    expect([code, err]).toEqual([2, expect.stringMatching(/holds what the job one brought/)])
    const jobs = await runCli(dir, ['query', 'select count(*) from _run', '--format', 'csv'])
    expect(jobs.out.trim().split('\n')[1]).toBe('1')
  })

  test('diff tells what a run changed, every row where a program reads it', async () => {
    const { url, key } = await emulate()
    const dir = folder()
    await runCommand(dir, ['sync', 'job.yaml'], to(url, key))
    const shown = await runCommand(dir, ['diff', '--run', '1', '--limit', '2', '--what', 'value'])
    expect(shown.out).toMatch(/: 744 values new\.$/m)
    expect(shown.err).toMatch(/The first 2 of 744/)
    const all = await runCommand(dir, ['diff', '--run', '1', '--what', 'value', '--format', 'csv'])
    expect(all.out.trim().split('\n')).toHaveLength(745)
    const none = await runCommand(dir, ['diff', '--from', '+1d', '--to', '+2d', '--json'])
    expect(JSON.parse(none.out)).toEqual([])
    const never = await runCommand(dir, ['diff', '--from', '2025-02-30T00:00:00.000Z'])
    expect(never).toMatchObject({ code: 2, err: expect.stringContaining('is not a valid date') })
    const wrong = await runCommand(dir, ['diff', '--run', '9'])
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringMatching(/There is no run 9/)])
  })

  test('mistakes of job files are all told before anything is sent', async () => {
    const dir = folder({ 'job.yaml': 'name: x\nseris: []\nwidgets: {}\n', 'other.yaml': '' })
    for (const command of ['validate', 'sync', 'plan']) {
      const { code, out, err } = await runCommand(dir, [command, 'job.yaml', 'other.yaml'], to('http://x'))
      expect(code).toBe(2)
      expect(out + err).toMatch(/job\.yaml:2:1 {2}seris.*Did you mean "series"/)
      expect(out + err).toMatch(/other\.yaml:1:1.*is empty/)
    }
  })

  test('plan, sync, sync again, status, query, doctor: one file, and results on stdout only', async () => {
    const emulator = await emulate()
    const env = `INDICATOR_SYNC_BASE_URL=${emulator.url}\nINDICATOR_SYNC_API_KEY="${emulator.key}"\n`
    const dir = folder({ 'job.yaml': SERIES, '.env': env })
    expect((await runCli(dir, ['plan', 'job.yaml'])).out).toMatch(
      /series\[0\] +indicator 1739 +missing +1 [\s\S]*one: 1 call,/,
    )
    expect(emulator.requests).toHaveLength(0)
    const first = await runCli(dir, ['sync', 'job.yaml', '--json'])
    expect(first.code).toBe(0)
    expect(JSON.parse(first.out)).toMatchObject([{ job: 'one', outcome: 'done', requests: 1, failures: [] }])
    expect((await runCli(dir, ['sync', 'job.yaml'])).out).toMatch(/nothing to do/)
    expect(emulator.requests).toHaveLength(1)
    expect((await runCli(dir, ['plan', 'job.yaml'])).out).toMatch(/nothing to request/)
    expect(JSON.parse((await runCli(dir, ['status', '--json'])).out)).toMatchObject({
      failures: [],
      rows: { observation: 744 },
    })
    expect((await runCli(dir, ['status'])).out).toMatch(/1739/)
    const sql = 'select count(*) as n, max(value) is not null as some from observation'
    expect(JSON.parse((await runCli(dir, ['query', sql, '--json'])).out)).toEqual([{ n: 744, some: 1 }])
    expect((await runCli(dir, ['query', sql, '--format', 'csv'])).out).toBe('n,some\n744,1\n')
    expect((await runCli(dir, ['query', sql, '--format', 'markdown'])).out).toBe(
      '| n | some |\n| --- | --- |\n| 744 | 1 |\n',
    )
    const two = await runCli(dir, ['query', 'select * from observation', '--limit', '2', '--format', 'ndjson'])
    expect(two.out.trim().split('\n')).toHaveLength(2)
    expect(two.err).toMatch(/Only the first 2 rows/)
    const doctor = await runCli(dir, ['doctor'])
    expect(doctor.out).toMatch(/ok +key +set \(from \.env\); never shown/)
    expect(doctor.code).toBe(0)
    const state = JSON.parse((await runCli(dir, ['migrate', '--list', '--json'])).out)
    expect(state).toMatchObject({ exists: true, version: state.known })
    for (const name of readdirSync(join(dir, 'data')))
      expect(readFileSync(join(dir, 'data', name)).includes(emulator.key), name).toBe(false)
  })

  test.each([
    ['delete from observation', 2, /only reading/],
    ['create table x (a)', 2, /only reading/],
    ['select elsewhere from observation', 2, /no such column/],
    ['select 1; select 2', 2, /one statement/],
    ['with x as (select 1 as a) select a from x', 0, /a/],
  ])('query %j exits %i', async (sql, code, message) => {
    const dir = folder()
    await runCommand(dir, ['migrate'])
    const result = await runCommand(dir, ['query', sql])
    expect(result.out + result.err).toMatch(message)
    expect(result.code).toBe(code)
  })

  test('export writes a whole file or none, as known now or before anything was', async () => {
    const emulator = await emulate()
    const dir = folder()
    await runCommand(dir, ['sync', 'job.yaml'], to(emulator.url, emulator.key))
    const more = ['export', '--indicator', '1739', '--from', '2025-01-01', '--to', '2025-01-03']
    const { err } = await runCommand(dir, [...more, '--output', 'a.csv'])
    expect(err).toBe('48 rows in a.csv.\n')
    const lines = readFileSync(join(dir, 'a.csv'), 'utf8').trim().split('\n')
    expect(lines).toHaveLength(49)
    expect(lines[1]).toMatch(/^\d+,indicator,1739,.*,3,España,2024-12-31T23:00:00Z,2025-01-01T00:00:00\+01:00,3600,/)
    const ndjson = await runCommand(dir, [...more, '--format', 'ndjson', '--geo', '3'])
    expect(
      ndjson.out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).step_s),
    ).toHaveLength(48)
    expect((await runCommand(dir, [...more, '--as-of', '2020-01-01', '--quiet'])).out.trim().split('\n')).toHaveLength(
      1,
    )
    expect((await runCommand(dir, [...more, '--as-of', '+1d', '--quiet'])).out.trim().split('\n')).toHaveLength(49)
    expect((await runCommand(dir, [...more, '--output', 'none/a.csv'])).code).toBe(2)
    expect(readdirSync(dir).filter((name) => name.includes('part'))).toEqual([])
  })

  test('a wrong key exits 3 and is not shown', async () => {
    const emulator = await emulate()
    const result = await runCommand(folder(), ['sync', 'job.yaml', '--verbose'], to(emulator.url, 'deadbeef'.repeat(8)))
    expect(result.code).toBe(3)
    expect(result.out).toMatch(/refused the API key/)
    expect(result.out + result.err).not.toContain('deadbeef')
    expect(emulator.requests).toHaveLength(1)
  })

  test('one failure among many exits 1 and says what to do', async () => {
    const emulator = await emulate()
    const dir = folder({ 'job.yaml': SERIES.replace('1739', '1739, 424242') })
    const result = await runCommand(dir, ['sync', 'job.yaml'], to(emulator.url, emulator.key))
    expect(result.code).toBe(1)
    expect(result.out).toMatch(/1 request failed; everything else is kept/)
    expect(result.out).toMatch(/\/indicators\/424242\?.*\n.*404/)
    expect((await runCommand(dir, ['status'])).out).toMatch(/424242/)
  })

  test('a spent budget exits 4, and the next process keeps to it', async () => {
    const emulator = await emulate()
    const yaml = SERIES.replace('50 }', '50, callsPerHour: 2 }').replace(
      'to: 2025-02-01 }',
      'to: 2025-06-01 }, chunk: 1mo',
    )
    const dir = folder({ 'job.yaml': yaml })
    for (const expected of [2, 2]) {
      const { code, out } = await runCli(dir, ['sync', 'job.yaml'], to(emulator.url, emulator.key))
      expect(out).toMatch(/budget of 2 calls an hour is spent/)
      expect(code).toBe(4)
      expect(emulator.requests).toHaveLength(expected)
    }
  })

  test('a retry keeps the budget of the job that it is given', async () => {
    let broken = true
    const server = await serve((_request, response) =>
      json(response, { indicator: { id: 1739, geos: [], values: [] } }, broken ? 400 : 200),
    )
    const dir = folder({ 'job.yaml': SERIES.replace('50 }', '50, callsPerHour: 1 }') })
    expect((await runCommand(dir, ['sync', 'job.yaml'], to(server.url))).code).toBe(1)
    broken = false
    const spent = await runCommand(dir, ['retry', 'job.yaml'], to(server.url))
    expect(spent.out).toMatch(/budget of 1 call an hour is spent/)
    expect(spent.code).toBe(4)
    expect((await runCommand(dir, ['retry', 'jobb.yaml'], to(server.url))).code).toBe(2)
    expect((await runCommand(dir, ['retry'], to(server.url))).code).toBe(0)
    expect(server.calls).toHaveLength(2)
  })

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s finishes the reply in hand, records the run and exits %i', async (signal, code) => {
    let child: ChildProcess | undefined
    const server = await serve((_request, response, call) => {
      const value = { value: call, datetime: `2025-01-0${call}T00:00:00.000+01:00`, geo_id: 3 }
      const body = { indicator: { id: 1739, tiempo: [{ id: 4 }], geos: [], values: [value] } }
      if (call === 1) return json(response, body)
      whenSaid(child!, 'after the replies under way', () => json(response, body))
      child!.kill(signal)
    })
    const yaml = SERIES.replace('to: 2025-02-01 }', 'to: 2025-02-01 }, chunk: 1d').replace(
      '50 }',
      '50, concurrency: 1 }',
    )
    const dir = folder({ 'job.yaml': yaml })
    const result = await runCli(dir, ['sync', 'job.yaml'], to(server.url), (started) => {
      child = started
    })
    expect(result.code).toBe(code)
    expect(server.calls).toHaveLength(2)
    const db = new SQLite(join(dir, 'data/indicator-sync.db'))
    expect(db.prepare('select count(*) from observation').pluck().get()).toBe(2)
    expect(db.prepare('select outcome from _run').pluck().get()).toBe('stopped')
    expect(db.prepare('select count(*) from _lock').pluck().get()).toBe(0)
    db.close()
  })

  test('a second signal ends at once, and what was committed stays', async () => {
    let child: ChildProcess | undefined
    const dir = folder({ 'job.yaml': SERIES.replace('to: 2025-02-01 }', 'to: 2025-02-01 }, chunk: 1d') })
    const server = await serve((_request, response, call) => {
      const value = { value: call, datetime: `2025-01-0${call}T00:00:00.000+01:00`, geo_id: 3 }
      if (call === 1) return json(response, { indicator: { id: 1739, tiempo: [{ id: 4 }], geos: [], values: [value] } })
      whenSaid(child!, 'repeat it to stop at once', () => child!.kill('SIGTERM'))
      child!.kill('SIGTERM')
    })
    const result = await runCli(dir, ['sync', 'job.yaml'], to(server.url), (started) => {
      child = started
    })
    // The system ends it, which a shell tells as 143; it may have ended in order just before.
    expect(result.signal ?? result.code).toBeOneOf(['SIGTERM', 143])
    expect(result.err).toMatch(/repeat it to stop at once/)
    expect((await runCommand(dir, ['query', 'select count(*) as n from observation', '--json'])).out).toMatch(
      /"n": ?1\b/,
    )
    const emulator = await emulate()
    expect((await runCommand(dir, ['sync', 'job.yaml'], to(emulator.url, emulator.key))).code).toBe(0)
  })

  test('a signal ends the waiting for a program that holds the database', async () => {
    const dir = folder()
    let child: ChildProcess | undefined
    let other: SQLite.Database | undefined
    const server = await serve((_request, response) => {
      other = new SQLite(join(dir, 'data/indicator-sync.db'))
      other.exec('begin immediate')
      child!.kill('SIGINT')
      json(response, { indicator: { id: 1739, tiempo: [{ id: 4 }], geos: [], values: [] } })
    })
    const result = await runCli(dir, ['sync', 'job.yaml'], to(server.url), (started) => {
      child = started
    })
    // It is held to this moment.
    expect(other!.inTransaction).toBe(true)
    other!.close()
    expect(result.code).toBe(130)
    expect(result.err).toMatch(/Stopping after the replies under way[\s\S]*Stopped by a signal/)
  })

  test('a second writer exits 5 and says who writes', async () => {
    let other: Promise<Done> | undefined
    const dir = folder()
    const server = await serve(async (_request, response) => {
      other = runCli(dir, ['sync', 'job.yaml'], to(server.url))
      await other
      json(response, { indicator: { id: 1739, tiempo: [], geos: [], values: [] } })
    })
    expect((await runCli(dir, ['sync', 'job.yaml'], to(server.url))).code).toBe(0)
    const second = await other!
    expect(second.code).toBe(5)
    expect(second.err).toMatch(/Process \d+ on .* has been writing .*sync one/)
  })

  test('schedule runs a job at its times, survives one that fails, and stops at a signal', async () => {
    const server = await serve((_request, response) => json(response, {}, 400))
    const dir = folder({ 'job.yaml': `${SERIES}schedule: "* * * * * *"\n` })
    const result = await runCli(dir, ['schedule', 'job.yaml'], to(server.url), (child) =>
      whenSaid(child, /1 request failed[\s\S]*1 request failed/, () => child.kill('SIGTERM')),
    )
    expect(result.code).toBe(143)
    expect(result.err).toMatch(/one: next at 20/)
    expect(result.err).toMatch(/1 request failed/)
    expect(server.calls.length).toBeGreaterThanOrEqual(2)
    expect((await runCommand(dir, ['schedule', 'job.yaml'], {})).code).toBe(2)
  })

  test('retry asks exactly what failed', async () => {
    let broken = true
    const server = await serve((request, response) => {
      const id = Number(/indicators\/(\d+)/.exec(request.url!)![1])
      if (broken && id === 805) return json(response, {}, 400)
      json(response, {
        indicator: {
          id,
          tiempo: [{ id: 4 }],
          geos: [],
          values: [{ value: 1, datetime: '2025-01-01T00:00:00.000+01:00', geo_id: 3 }],
        },
      })
    })
    const dir = folder({ 'job.yaml': SERIES.replace('1739', '1739, 805, 460') })
    const env = to(server.url)
    expect((await runCommand(dir, ['sync', 'job.yaml'], env)).code).toBe(1)
    expect((await runCommand(dir, ['gaps', '--fail'])).code).toBe(6)
    expect((await runCommand(dir, ['check'])).code).toBe(6)
    broken = false
    const before = server.calls.length
    expect((await runCommand(dir, ['retry'], env)).out).toMatch(/retry: done .* 1 request,/)
    expect(server.calls.slice(before).map(({ url }) => url!.split('?')[0])).toEqual(['/indicators/805'])
    expect((await runCommand(dir, ['retry'], env)).out).toMatch(/nothing to do/)
    expect(
      (await runCommand(dir, ['restate', 'job.yaml', '--from', '2025-01-05', '--to', '2025-01-06'], env)).out,
    ).toMatch(/3 requests/)
    expect(
      (await runCommand(dir, ['backfill', 'job.yaml', '--from', '2024-12-31', '--to', '2025-01-05'], env)).out,
    ).toMatch(/3 requests/)
    expect((await runCommand(dir, ['status', '--format', 'prometheus'])).out).toMatch(
      /^# HELP indicator_sync_requests_total/m,
    )
  })

  test('init writes what is needed to begin, and never overwrites', async () => {
    const dir = folder({})
    expect((await runCommand(dir, ['init', 'mine'])).out).toMatch(/written .*nightly\.yaml/)
    // A copy of it will hold a key: nobody else may read it.
    expect(statSync(join(dir, 'mine/.env.example')).mode & 0o077).toBe(0)
    const again = await runCommand(dir, ['init', "it's mine"])
    expect(again.out).toContain(`\n  cd 'it'\\''s mine'\n`)
    expect((await runCommand(dir, ['init'])).out).not.toContain('cd ')
    expect((await runCommand(dir, ['validate', 'mine/jobs/nightly.yaml'])).code).toBe(0)
    writeFileSync(join(dir, 'mine/.env.example'), 'mine')
    expect((await runCommand(dir, ['init', 'mine'])).out).toMatch(/kept .*\.env\.example/)
    expect(readFileSync(join(dir, 'mine/.env.example'), 'utf8')).toBe('mine')
  })

  test('what init prints can be followed line by line, and everything lies in its folder', async () => {
    const emulator = await emulate({ now: Date.now() / 1000 })
    const dir = folder({})
    const { out } = await runCommand(dir, ['init', 'my-market'])
    const lines = out.slice(out.indexOf('Next:')).split('\n').slice(1)
    expect(lines[0]).toBe('  cd my-market')
    // As a shell runs them; the long history is left out, and the address is the embedded service's.
    const job = join(dir, 'my-market/jobs/nightly.yaml')
    writeFileSync(
      job,
      readFileSync(job, 'utf8')
        .replaceAll('2021-06-01', '-3d')
        .replaceAll('last: 1y', 'last: 3d')
        .replace(/^pace:.*/m, 'pace: { perSecond: 50 }'),
    )
    writeFileSync(
      join(dir, 'indicator-sync'),
      `#!/bin/sh\nexec '${process.execPath}' '${resolve('src/cli/bin.js')}' "$@"\n`,
      { mode: 0o755 },
    )
    const shell = spawn('sh', ['-e', '-c', lines.join('\n')], {
      cwd: dir,
      env: { PATH: `${dir}:${process.env.PATH}`, HOME: dir, ...to(emulator.url, emulator.key) },
    })
    const [stdout, stderr, [status]] = await Promise.all([text(shell.stdout), text(shell.stderr), once(shell, 'close')])
    expect({ code: status, err: stderr.slice(-500) }).toMatchObject({ code: 0 })
    expect(stdout).toMatch(/nightly: done/)
    expect(readdirSync(dir).sort()).toEqual(['indicator-sync', 'my-market'])
    expect(readdirSync(join(dir, 'my-market')).sort()).toEqual(['.env', '.env.example', 'data', 'jobs'])
  })

  test('status fits 60 columns and cuts no next step', async () => {
    const emulator = await emulate()
    const dir = folder({ 'job.yaml': SERIES.replace('1739', '1739, 1293, 424242').replace('2025-02-01', '2025-01-03') })
    expect((await runCommand(dir, ['sync', 'job.yaml'], to(emulator.url, emulator.key))).code).toBe(1)
    const told = (await runCommand(dir, ['status'])).out
    expect(told.split('\n').filter((line) => [...line].length > 60)).toEqual([])
    const [failure] = JSON.parse((await runCommand(dir, ['status', '--json'])).out).failures
    const plain = told.replaceAll(/\s/g, '')
    for (const said of [failure.target, failure.message, failure.hint])
      expect(plain).toContain(String(said).replaceAll(/\s/g, ''))
    expect(told).toMatch(/1293 all geos/)
    const ahead = folder({
      'job.yaml': SERIES.replace('2025-01-01', 'today').replace('2025-02-01', '+2d').replace('1739', '544'),
    })
    const tomorrow = await emulate({ now: Date.now() / 1000 })
    expect((await runCommand(ahead, ['sync', 'job.yaml'], to(tomorrow.url, tomorrow.key))).code).toBe(0)
    for (const { lag_hours } of JSON.parse((await runCommand(ahead, ['status', '--json'])).out).series)
      expect(lag_hours).toBeGreaterThanOrEqual(0)
  })

  test('the embedded service serves until it is stopped', async () => {
    const result = await runCli(tempFolder(), ['emulator', '--now', '2025-11-04T12:00:00Z'], {}, (child) =>
      child.stdout!.once('data', () => child.kill('SIGINT')),
    )
    // Stopped by a signal is what every command says with 130.
    expect(result).toMatchObject({
      code: 130,
      out: expect.stringContaining('INDICATOR_SYNC_BASE_URL=http://127.0.0.1:'),
    })
    const [, job] = /indicator-sync sync (.+)/.exec(result.out)!
    expect(existsSync(job!), 'the job that is named exists, wherever the command is called').toBe(true)
  })

  test('the demo shows rows, and its own next steps', async () => {
    const result = await runCommand(tempFolder(), ['demo'])
    expect(result.code).toBe(0)
    expect(result.out).toMatch(/data\/demo\.db holds \d{2},\d{3} values of \d+ series/)
    expect(result.out.match(/──/g)!.length).toBeGreaterThanOrEqual(3)
  })
})
