import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { CLONE_BIN, PROGRAM_ENV, programBin } from '../support/builtProgram.ts'
import { tempFolder } from '../support/kit.ts'
import { openStore } from '../support/testStore.ts'

const commandOf = (bin: string): string => `'${process.execPath}' '${bin}'`

/**
 * Runs a shell line in which `indicator-sync` is the command. With `only` as the complete environment, it is the
 * command of the clone.
 */
function shell(line: string, cwd: string, only?: Record<string, string>) {
  const [command, env] = only ? [commandOf(CLONE_BIN), only] : [commandOf(programBin()), PROGRAM_ENV]
  const script = `indicator_sync() { ${command} "$@"; }\n${line.replaceAll('indicator-sync', 'indicator_sync')}`
  const done = spawnSync('/bin/bash', ['--norc', '-c', script], { cwd, env, encoding: 'utf8', timeout: 60_000 })
  return { code: done.status, out: done.stdout, err: done.stderr }
}

/** Creates a folder with a database. */
async function folder(): Promise<string> {
  const dir = tempFolder()
  await (await openStore(join(dir, 'x.db'))).close()
  return dir
}

const STATUS = 'indicator-sync status --database x.db'
const HELD = /observation 0/

describe.skipIf(process.platform !== 'linux')('an unusual environment', () => {
  test.each<[string, string, Record<string, string>]>([
    ['an empty environment', STATUS, {}],
    ['a missing temporary folder', STATUS, { TMPDIR: '/nowhere/at/all' }],
    ['a read-only temporary folder', STATUS, { TMPDIR: '/proc' }],
    ['an invalid time zone', STATUS, { TZ: 'Nowhere/Land' }],
    ['an invalid locale', STATUS, { LANG: 'xx_YY.none' }],
    ['a negative terminal width', STATUS, { COLUMNS: '-5', NO_COLOR: '1' }],
    ['a file as home folder and an empty PATH', STATUS, { HOME: '/etc/passwd', PATH: '' }],
    ['little memory', STATUS, { NODE_OPTIONS: '--max-old-space-size=60' }],
    ['a closed stdin', `${STATUS} <&-`, {}],
    ['a closed stderr', `${STATUS} 2>&-`, {}],
  ])('a command works with %s', async (_name, line, env) => {
    expect(shell(line, await folder(), env)).toEqual({ code: 0, out: expect.stringMatching(HELD), err: '' })
    expect(existsSync('/nowhere')).toBe(false)
  })

  test('a command works with all standard streams closed', async () => {
    expect(shell(`${STATUS} <&- >&- 2>&-`, await folder())).toEqual({ code: 0, out: '', err: '' })
  })

  test.each([
    ['--help', 7],
    ['export --sql "select 1" --database x.db', 7],
    ['--version', 7],
    ['sync --help', 7],
    ['status --database x.db', 7],
    ['query "select 1" --database x.db', 7],
    ['nonsense', 2],
  ])('`%s` into a full device exits with %i and an error', async (words, code) => {
    const done = shell(`indicator-sync ${words} > /dev/full`, await folder())
    expect(done).toEqual({ code, out: '', err: expect.stringMatching(/^.+\n {2}→ .+\n$/) })
    expect(shell(`indicator-sync ${words} > /dev/full 2> /dev/full`, await folder()).code).toBe(code)
  })

  test.each(['init /proc/none/new', 'publish /proc/none/new/copy.db --database x.db'])(
    '`%s` in a file system without folders exits with 2 and an error',
    async (words) => {
      const done = shell(`indicator-sync ${words}`, await folder())
      expect(done).toEqual({
        code: 2,
        out: '',
        err: expect.stringMatching(/Cannot create the folder \/proc\/none.*: .*\n {2}→ /),
      })
    },
  )

  test.each([
    ['a new database', 'indicator-sync migrate --database new.db', 100],
    ['a database in use', 'indicator-sync migrate --database x.db', 20],
    ['an export', `indicator-sync export --sql "${'select zeroblob(90000)'}" --output out.csv --database x.db`, 100],
    ['a copy', 'indicator-sync publish copy.db --database x.db', 100],
    [
      'a redirected output',
      'indicator-sync query "select hex(zeroblob(90000))" --format csv --database x.db > out',
      100,
    ],
  ])('%s that exceeds the file size limit exits with 7 and names the limit', async (_name, line, blocks) => {
    // Bash counts blocks of 1,024 bytes.
    const done = shell(`ulimit -f ${blocks}; ${line}`, await folder())
    expect(done).toMatchObject({ code: 7, err: expect.stringMatching(/ulimit -f.*\n {2}→ /) })
  })

  test('a FIFO as .env is refused immediately', () => {
    const dir = tempFolder()
    spawnSync('mkfifo', [join(dir, '.env')])
    expect(shell('indicator-sync status', dir)).toMatchObject({
      code: 2,
      err: expect.stringMatching(/\.env is a pipe/),
    })
  })

  test.each([
    ['plan /dev/zero', /too large for a job file \(limit 1 MiB\)/],
    ['discover --api-key-file /dev/zero --base-url http://127.0.0.1:1', /too large for a key file \(limit/],
    ['status', /too large for a settings file \(limit/],
  ])('`%s` with an endless input file exits with 2 and an error', (words, said) => {
    const dir = tempFolder()
    symlinkSync('/dev/zero', join(dir, '.env'))
    expect(shell(`indicator-sync ${words}`, words === 'status' ? dir : tempFolder())).toMatchObject({
      code: 2,
      err: expect.stringMatching(said),
    })
  })

  test.skipIf(process.getuid?.() !== 0)('every command that writes names a folder without write permission', () => {
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
  })
})

describe('files beside a database', () => {
  test('a lock file that is a symlink is refused, and its target is not created', async () => {
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
    ['with other contents', () => Buffer.from('A diary.')],
  ])('a rollback journal %s is neither applied nor removed', async (_name, make) => {
    const dir = await folder()
    const file = join(dir, 'x.db')
    const journal = join(dir, 'x.db-journal')
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
