import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { commandGroups } from '../../build/manText.ts'
import { COMMANDS } from '../../src/cli/commandLine/commands.ts'
import { emulate, runCli, runCommand, tempFolder } from '../support/kit.ts'
import { jobFolder, SERIES, serviceAt } from './jobFolder.ts'

describe('the command line', () => {
  test('--help lists every command, and the help of every command has an example', async () => {
    const { code, out } = await runCommand(tempFolder(), ['--help'])
    expect(code).toBe(0)
    for (const name of Object.keys(COMMANDS)) expect(out).toContain(`\n  ${name} `)
    // Sequential: parallel commands would each need a process.
    const helps = new Map<string, string>()
    for (const name of Object.keys(COMMANDS)) helps.set(name, (await runCommand(tempFolder(), [name, '--help'])).out)
    for (const [name, text] of helps) expect(text, name).toContain('Examples:')
    for (const words of [
      ['help', 'status'],
      ['status', '-h'],
      ['help', 'status', 'extra'],
    ])
      expect((await runCommand(tempFolder(), words)).out, words.join(' ')).toBe(helps.get('status'))
    for (const words of [['-h'], ['help'], ['--log-format', 'json', '--help'], ['--quiet', '-h']])
      expect(await runCommand(tempFolder(), words), words.join(' ')).toMatchObject({ code: 0, out })
  })

  test.each<[string, string[], Record<string, string>, number, RegExp]>([
    ['no command', [], {}, 2, /^Missing command\.\n.*--help/],
    ['an unknown command', ['snyc'], {}, 2, /Unknown command "snyc"\. Did you mean "sync"\?/],
    ['no job', ['sync'], {}, 2, /^Missing argument <jobs>: .*\n.*sync --help/m],
    [
      'no action',
      ['archives'],
      {},
      2,
      /^Missing argument <action>: expected list, download, load\.\n.*archives --help/m,
    ],
    ['one of two arguments', ['lake', 'sync'], {}, 2, /^Missing argument <folder>: Folder/m],
    [
      'an illegal value of a flag',
      ['status', '--format', 'jsn'],
      {},
      2,
      /^--format "jsn" is not valid; expected one of: text, json, prometheus\. Did you mean "json"\?/m,
    ],
    [
      'an unknown action',
      ['archives', 'lst'],
      {},
      2,
      /^<action> "lst" is not valid; expected one of: list, download, load\. Did you mean "list"\?/m,
    ],
    [
      'an unknown flag',
      ['status', '--fromat', 'x'],
      {},
      2,
      /status has no flag --fromat\. Did you mean "--format"\?\n.*status --help/,
    ],
    ['a flag without a command', ['--fromat'], {}, 2, /^Unknown flag --fromat, and no command\.\n.*--help/],
    [
      'a text for a number',
      ['serve', '--port', 'abc'],
      {},
      2,
      /^--port "abc" is not valid; expected a number\.\n.*serve --help/,
    ],
    [
      'a name for a geo',
      ['show', '600', '--geo=Spain'],
      {},
      2,
      /^--geo "Spain" is not valid; expected a number\.\n.*discover --in geos/,
    ],
    [
      'a name for a geo after the flag',
      ['export', '--geo', 'Spain'],
      {},
      2,
      /^--geo "Spain" is not valid; expected a number\./,
    ],
    ['help about an unknown command', ['help', 'snyc'], {}, 2, /^Unknown command "snyc"\. Did you mean "sync"\?/],
    ['an unknown flag before the job', ['plan', '--onl', 'job.yaml'], {}, 2, /plan has no flag --onl\..*"--only"/],
    ['a flag without its value', ['sync', 'job.yaml', '--only'], {}, 2, /^--only needs a value\./m],
    ['a flag of another command', ['worker', '--only', '9'], {}, 2, /worker has no flag --only/],
    [
      'rejects refused by a process that does not load',
      ['schedule', 'job.yaml', '--distributed', '--on-reject', 'fail'],
      serviceAt('http://x'),
      2,
      /--on-reject fail does not work with --distributed.*\n.*workers with --on-reject fail/,
    ],
    ['no base URL', ['sync', 'job.yaml'], {}, 2, /No base URL.*\n.*INDICATOR_SYNC_BASE_URL.*demo/],
    ['no key', ['sync', 'job.yaml', '--service', 'esios'], {}, 2, /No API key.*\n.*INDICATOR_SYNC_API_KEY/],
    [
      'an unknown service',
      ['sync', 'job.yaml', '--service', 'esos'],
      {},
      2,
      /expected one of: generic, esios.*Did you mean "esios"/,
    ],
    [
      'a bad address with a password',
      ['sync', 'job.yaml', '--base-url', 'https://user:p@ss/word@host/path?token=secret#frag'],
      {},
      2,
      /The base URL "https:\/\/…@host\/path\?…" \(from flag/,
    ],
    ['a bad address', ['sync', 'job.yaml', '--base-url', 'ftp://x'], {}, 2, /is not the address of a service/],
    [
      'a key with a line break',
      ['sync', 'job.yaml'],
      serviceAt('http://x', 'a\nb'),
      2,
      /key .*(?:is empty|cannot be sent in a header)/,
    ],
    ['no such job file', ['sync', 'none.yaml'], serviceAt('http://x'), 2, /none\.yaml does not exist/],
    ['no such job file and no key', ['sync', 'none.yaml', '--service', 'esios'], {}, 2, /none\.yaml does not exist/],
    [
      'a bad range',
      ['sync', 'job.yaml', '--from', 'yesterday'],
      serviceAt('http://localhost'),
      2,
      /--from "yesterday" is not a valid date/,
    ],
    [
      'a database in memory',
      ['status', '--database', ':memory:'],
      {},
      2,
      /":memory:" \(from flag --database\) is not a file/,
    ],
    [
      'a folder as database',
      ['sync', 'job.yaml', '--database', 'x/'],
      serviceAt('http://x'),
      2,
      /"x\/" .* is a folder/,
    ],
    ['the lock of a database', ['status', '--database', 'h.db.lock'], {}, 2, /is the lock file/],
    ['the write-ahead log of a database', ['status', '--database', 'h.db-wal'], {}, 2, /is the write-ahead log of/],
    ['no database yet', ['status'], {}, 7, /database data\/indicator-sync\.db does not exist yet/],
    ['a retry without a database', ['retry'], {}, 7, /database data\/indicator-sync\.db does not exist yet/],
  ])('a command line with %s exits with its code and error message', async (_name, args, env, code, message) => {
    const result = await runCommand(jobFolder(), args, env)
    expect(result.err).toMatch(message)
    expect(result.code).toBe(code)
  })

  test('every command with a time flag accepts a value that begins with a minus sign', async () => {
    const emulator = await emulate()
    const dir = jobFolder({
      'job.yaml': SERIES.replace('window: { from: 2025-01-01, to: 2025-02-01 }', 'window: { last: 60d }'),
    })
    const env = serviceAt(emulator.url, emulator.key)
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
      query: ['daily-average', '--indicator', '1739'],
      export: ['--indicator', '1739'],
      publish: ['--page', 'published'],
    }
    const all = [...(await commandGroups()).values()].flat()
    const ranged = all.filter(({ flags }) => 'from' in flags && 'to' in flags).map(({ name }) => name)
    // `gaps accept` takes exact ranges of existing gaps; its own tests have them.
    ranged.splice(ranged.indexOf('gaps'), 1)
    expect(ranged.sort()).toEqual(Object.keys(of).sort())
    for (const name of ranged) {
      const { code, err } = await runCommand(dir, [name, ...of[name]!, ...range], env)
      expect({ name, code, err: err.replace(/^.*(rows|requests).*$/gm, '') }).toMatchObject({ name, code: 0 })
      // The range is empty, which only its parsed values tell.
      const hours = await runCommand(dir, [name, ...of[name]!, '--from', '-6h', '--to', '-12h'], env)
      expect({ name, ...hours }).toMatchObject({ name, code: 2, out: '', err: expect.stringMatching(/^--from .*must/) })
    }
    const days = JSON.parse((await runCommand(dir, ['query', ...of.query!, ...range, '--json'])).out) as object[]
    expect(days).toHaveLength(28)
    const { code, err } = await runCommand(dir, ['plan', 'job.yaml', '--from', '-30d', '--from', '-3d'])
    expect({ code, err }).toEqual({ code: 2, err: expect.stringMatching(/--from is given twice/) })
  })

  test('the source starts with the plain `node` binary, like `bin.js`', () => {
    const out = execFileSync(process.execPath, [resolve('src/cli/main.ts'), '--version'], { encoding: 'utf8' })
    expect(out.trim()).toMatch(/^\d+\.\d+\.\d+/)
  })

  test('`bin.js` runs the build if it is newer than all source files, otherwise the source', async () => {
    const dir = tempFolder()
    for (const name of ['src', 'migrations', 'package.json', 'package-lock.json'])
      cpSync(name, join(dir, name), { recursive: true, preserveTimestamps: true })
    symlinkSync(resolve('node_modules'), join(dir, 'node_modules'))
    const version = () =>
      execFileSync(process.execPath, [join(dir, 'src/cli/bin.js'), '--version'], { encoding: 'utf8' }).trim()
    expect(version()).toMatch(/^\d/)
    mkdirSync(join(dir, 'dist/program'), { recursive: true })
    const build = () =>
      writeFileSync(join(dir, 'dist/program/main.js'), `export const main = () => console.log('built')`)
    for (const edit of [
      () => writeFileSync(join(dir, 'src/cli/main.ts'), readFileSync('src/cli/main.ts')),
      () => rmSync(join(dir, 'src/job/file/rules.ts')),
      () => writeFileSync(join(dir, 'package-lock.json'), '{}'),
    ]) {
      // A file system with a coarse clock counts an edit in the same tick as later.
      await setTimeout(20)
      build()
      expect(version()).toBe('built')
      await setTimeout(20)
      edit()
      expect(version()).toMatch(/^\d/)
    }
  })

  test('plan, sync, status, query and doctor share one database and print only results to stdout', async () => {
    const emulator = await emulate()
    // Some editors save UTF-8 with a byte order mark.
    const env = `\uFEFFINDICATOR_SYNC_BASE_URL=${emulator.url}\nINDICATOR_SYNC_API_KEY="${emulator.key}"\n`
    const dir = jobFolder({ 'job.yaml': SERIES, '.env': env })
    expect((await runCommand(dir, ['plan', 'job.yaml'])).out).toMatch(
      /series\[0\] +indicator 1739 +missing +1 [\s\S]*one: 1 call,/,
    )
    expect(emulator.requests).toHaveLength(0)
    const first = await runCli(dir, ['sync', 'job.yaml', '--json'])
    expect(first.code).toBe(0)
    expect(JSON.parse(first.out)).toMatchObject([{ job: 'one', outcome: 'done', requests: 1, failures: [] }])
    expect((await runCommand(dir, ['sync', 'job.yaml'])).out).toMatch(/nothing to do/)
    expect(emulator.requests).toHaveLength(1)
    expect((await runCommand(dir, ['plan', 'job.yaml'])).out).toMatch(/nothing to request/)
    expect(JSON.parse((await runCommand(dir, ['status', '--json'])).out)).toMatchObject({
      failures: [],
      rows: { observation: 744 },
    })
    expect((await runCommand(dir, ['status'])).out).toMatch(/1739/)
    const sql = 'select count(*) as n, max(value) is not null as some from observation'
    expect(JSON.parse((await runCommand(dir, ['query', sql, '--json'])).out)).toEqual([{ n: 744, some: 1 }])
    expect((await runCommand(dir, ['query', sql, '--format', 'csv'])).out).toBe('n,some\n744,1\n')
    expect((await runCommand(dir, ['query', sql, '--format', 'markdown'])).out).toBe(
      '| n | some |\n| --- | --- |\n| 744 | 1 |\n',
    )
    const two = await runCommand(dir, ['query', 'select * from observation', '--limit', '2', '--format', 'ndjson'])
    expect(two.out.trim().split('\n')).toHaveLength(2)
    expect(two.err).toMatch(/Showing the first 2 rows/)
    const doctor = await runCommand(dir, ['doctor'])
    expect(doctor.out).toMatch(/ok +key +set \(\.env\); never shown/)
    expect(doctor.code).toBe(0)
    const state = JSON.parse((await runCommand(dir, ['migrate', '--list', '--json'])).out)
    expect(state).toMatchObject({ exists: true, version: state.known })
    for (const name of readdirSync(join(dir, 'data')))
      expect(readFileSync(join(dir, 'data', name)).includes(emulator.key), name).toBe(false)
  })
})
