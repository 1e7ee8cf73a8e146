import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { tempFolder } from '../kit.ts'
import { CLONE_BIN, PROGRAM_ENV, programBin } from '../program.ts'
import { openStore } from '../store.ts'

const commandOf = (bin: string): string => `'${process.execPath}' '${bin}'`

/**
 * Runs a line of a shell in which `indicator-sync` is the command. Where an environment is given, there is nothing else in it,
 * and the command is that of the clone.
 */
function shell(line: string, cwd: string, only?: Record<string, string>) {
  const [command, env] = only ? [commandOf(CLONE_BIN), only] : [commandOf(programBin()), PROGRAM_ENV]
  const script = `indicator_sync() { ${command} "$@"; }\n${line.replaceAll('indicator-sync', 'indicator_sync')}`
  const done = spawnSync('/bin/bash', ['--norc', '-c', script], { cwd, env, encoding: 'utf8', timeout: 60_000 })
  return { code: done.status, out: done.stdout, err: done.stderr }
}

/** A folder with a database in it. */
async function folder(): Promise<string> {
  const dir = tempFolder()
  await (await openStore(join(dir, 'x.db'))).close()
  return dir
}

const STATUS = 'indicator-sync status --database x.db'
const HELD = /observation 0/

describe.skipIf(process.platform !== 'linux')('odd surroundings', () => {
  test.each<[string, string, Record<string, string>]>([
    ['nothing set at all', STATUS, {}],
    ['no such temporary folder', STATUS, { TMPDIR: '/nowhere/at/all' }],
    ['a temporary folder in which nothing can be made', STATUS, { TMPDIR: '/proc' }],
    ['a zone that is none', STATUS, { TZ: 'Nowhere/Land' }],
    ['a language that is none', STATUS, { LANG: 'xx_YY.none' }],
    ['a terminal of no width', STATUS, { COLUMNS: '-5', NO_COLOR: '1' }],
    ['a home that is a file, and no path', STATUS, { HOME: '/etc/passwd', PATH: '' }],
    ['little memory', STATUS, { NODE_OPTIONS: '--max-old-space-size=60' }],
    ['an input that is closed', `${STATUS} <&-`, {}],
    ['an error output that is closed', `${STATUS} 2>&-`, {}],
  ])('%s: a command answers as ever', async (_name, line, env) => {
    expect(shell(line, await folder(), env)).toEqual({ code: 0, out: expect.stringMatching(HELD), err: '' })
    expect(existsSync('/nowhere')).toBe(false)
  })

  test('outputs that are closed, all of them, change nothing', async () => {
    expect(shell(`${STATUS} <&- >&- 2>&-`, await folder())).toEqual({ code: 0, out: '', err: '' })
  })

  test.each([
    ['--help', 7],
    ['export --sql "select 1" --database x.db', 7],
    ['--version', 7],
    ['sync --help', 7],
    ['completion bash', 7],
    ['status --database x.db', 7],
    ['query "select 1" --database x.db', 7],
    ['nonsense', 2],
  ])('%s into a full device exits %i with a sentence', async (words, code) => {
    const done = shell(`indicator-sync ${words} > /dev/full`, await folder())
    expect(done).toEqual({ code, out: '', err: expect.stringMatching(/^.+\n {2}→ .+\n$/) })
    expect(shell(`indicator-sync ${words} > /dev/full 2> /dev/full`, await folder()).code).toBe(code)
  })

  test.each(['init /proc/none/new', 'publish /proc/none/new/copy.db --database x.db'])(
    '%s, where the disk takes no folders, exits 2 with a sentence',
    async (words) => {
      const done = shell(`indicator-sync ${words}`, await folder())
      expect(done).toEqual({
        code: 2,
        out: '',
        err: expect.stringMatching(/Cannot create the directory \/proc\/none.*: .*\n {2}→ /),
      })
    },
  )

  test.each([
    ['a new database', 'indicator-sync migrate --database new.db', 100],
    ['a database in use', 'indicator-sync migrate --database x.db', 20],
    ['an export', `indicator-sync export --sql "${'select zeroblob(90000)'}" --output out.csv --database x.db`, 100],
    ['a copy', 'indicator-sync publish copy.db --database x.db', 100],
    ['what is printed', 'indicator-sync query "select hex(zeroblob(90000))" --format csv --database x.db > out', 100],
  ])('%s that may not grow any more exits 7 with a sentence that names the limit', async (_name, line, blocks) => {
    // Blocks of 1,024 bytes, as bash counts.
    const done = shell(`ulimit -f ${blocks}; ${line}`, await folder())
    expect(done).toMatchObject({ code: 7, err: expect.stringMatching(/ulimit -f.*\n {2}→ /) })
  })

  test('a FIFO as .env is refused at once', () => {
    const dir = tempFolder()
    spawnSync('mkfifo', [join(dir, '.env')])
    expect(shell('indicator-sync status', dir)).toMatchObject({
      code: 2,
      err: expect.stringMatching(/\.env is a pipe/),
    })
  })

  test.each([
    ['plan /dev/zero', /too large for a job file \(limit 1 MiB\)/],
    ['discover --api-key-file /dev/zero --base-url http://127.0.0.1:1', /too large for a key \(limit/],
    ['status', /too large for a settings file \(limit/],
  ])('%s, where what is read never ends, exits 2 with a sentence', (words, said) => {
    const dir = tempFolder()
    symlinkSync('/dev/zero', join(dir, '.env'))
    expect(shell(`indicator-sync ${words}`, words === 'status' ? dir : tempFolder())).toMatchObject({
      code: 2,
      err: expect.stringMatching(said),
    })
  })

  test.skipIf(process.getuid?.() !== 0)(
    'a folder that cannot be written is named, by whoever would write there',
    () => {
      const dir = tempFolder()
      mkdirSync(join(dir, 'closed'))
      chmodSync(dir, 0o755)
      const closed = join(dir, 'closed')
      chmodSync(closed, 0o555)
      const as = 'setpriv --reuid 65534 --regid 65534 --clear-groups bash --norc -c'
      const script = `indicator_sync() { ${commandOf(CLONE_BIN)} "$@"; }; indicator_sync`
      for (const [words, code] of [
        ['demo --quiet', 7],
        ['init', 2],
      ] as const)
        expect(
          shell(`${as} '${script.replaceAll("'", '"')} ${words}'`, closed, { PATH: process.env.PATH! }),
        ).toMatchObject({
          code,
          err: expect.stringMatching(/EACCES/),
        })
      expect(readdirSync(closed)).toEqual([])
    },
  )
})

describe('beside a database', () => {
  test('a lock that is a link is refused, and nothing is made where it leads', async () => {
    const dir = await folder()
    symlinkSync(join(dir, 'elsewhere'), join(dir, 'x.db.lock'))
    expect(shell('indicator-sync migrate --database x.db', dir)).toMatchObject({
      code: 7,
      err: expect.stringMatching(/x\.db\.lock is a link\.\n {2}→ Remove x\.db\.lock/),
    })
    expect(existsSync(join(dir, 'elsewhere'))).toBe(false)
  })

  test.each([
    ['of another database', () => Buffer.concat([Buffer.from('d9d505f920a163d7', 'hex'), Buffer.alloc(9000, 1)])],
    ['that is none', () => Buffer.from('A diary.')],
  ])('a rollback journal %s is neither applied nor removed', async (_name, make) => {
    const dir = await folder()
    const [file, journal] = [join(dir, 'x.db'), join(dir, 'x.db-journal')]
    writeFileSync(journal, make())
    const before = readFileSync(file)
    expect(shell('indicator-sync migrate --database x.db', dir)).toMatchObject({
      code: 7,
      err: expect.stringMatching(/x\.db-journal belongs to another database; nothing was changed\.\n {2}→ Move/),
    })
    expect(shell(STATUS, dir)).toMatchObject({ code: 7, err: expect.stringMatching(/rollback journal.*\n {2}→ /) })
    expect(readFileSync(file).equals(before)).toBe(true)
    expect(readFileSync(journal).equals(make())).toBe(true)
  })
})
