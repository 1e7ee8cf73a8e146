import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import SQLite from 'better-sqlite3'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { partFileName } from '../../src/util/files/partFiles.ts'
import { moveIntoPlace, prepareTarget } from '../../src/util/files/target.ts'
import { PROGRAM_ENV, programBin } from '../support/builtProgram.ts'
import { type Done, runCli, runCommand, serve } from '../support/kit.ts'
import { testLinks, testLinux, testShell } from '../support/systems.ts'
import { openStore } from '../support/testStore.ts'
import { addSeries, fillBy } from './filled.ts'
import { serviceAt } from './jobFolder.ts'

let template: string
let dir: string

/** Creates a live database with a few values. */
const fill = (file: string): Promise<void> =>
  fillBy(file, (store) =>
    addSeries(store, 1, {}, 3, [
      ['2023-05-01', 2023],
      ['2024-05-01', 2024],
      ['2025-05-01', 2025],
    ]),
  )

beforeAll(async () => {
  template = mkdtempSync(join(tmpdir(), 'indicator-sync-'))
  await fill(join(template, 'own'))
})
afterAll(() => rmSync(template, { recursive: true }))
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'indicator-sync-')))
  const made = dir
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
  writeFileSync(join(dir, 'own'), readFileSync(join(template, 'own')))
})

const path = (name: string): string => join(dir, name)
const run = (...args: string[]): Promise<Done> => runCommand(dir, args, { INDICATOR_SYNC_DATABASE: 'own' })
const exportTo = (output: string, ...more: string[]): Promise<Done> =>
  run('export', '--indicator', '600', '--output', output, ...more)

/** Returns a name; the other arguments create the file. */
const made = (name: string, ..._done: readonly unknown[]): string => name

/** Returns the checksum of every file below a folder, without the sidecar files of readers. */
function contents(folder: string): Record<string, string> {
  return Object.fromEntries(
    (readdirSync(folder, { recursive: true }) as string[])
      .filter(
        (name) => statSync(join(folder, name), { throwIfNoEntry: false })?.isFile() && !/^own-(wal|shm)$/.test(name),
      )
      .map((name) => [
        name,
        createHash('sha256')
          .update(readFileSync(join(folder, name)))
          .digest('hex'),
      ]),
  )
}

/** Expects a refusal that changes no file. */
async function refused(doing: () => Promise<Done>, message: RegExp): Promise<void> {
  const before = contents(dir)
  const done = await doing()
  expect(done.err).toMatch(message)
  expect(done.code).toBe(2)
  expect(contents(dir)).toEqual(before)
}

describe('the target of an export', () => {
  testLinks.each<[string, () => string, RegExp]>([
    ['the database itself', () => 'own', /source database/],
    ['the database by another path', () => `../${dir.split('/').at(-1)}/./own`, /source database/],
    ['a link to the database', () => made('link.csv', symlinkSync('own', path('link.csv'))), /source database/],
    ['a hard link to the database', () => made('hard.csv', linkSync(path('own'), path('hard.csv'))), /source database/],
    ['the WAL of the database', () => made('own-wal', writeFileSync(path('own-wal'), '')), /belongs to the database/],
    ['a journal that the database does not have yet', () => 'own-journal', /belongs to the database/],
    [
      'another database of the program',
      () => made('b', writeFileSync(path('b'), readFileSync(path('own')))),
      /is a database/,
    ],
    [
      'a new database that exists only in its WAL',
      () => made('n', writeFileSync(path('n'), ''), writeFileSync(path('n-wal'), 'x')),
      /in use/,
    ],
    ['a settings file', () => made('.env', writeFileSync(path('.env'), 'KEY=1')), /settings and keys/],
    ['a settings file that does not exist yet', () => '.env.csv', /settings and keys/],
    ['a folder', () => made('docs', mkdirSync(path('docs')), writeFileSync(path('docs/a'), 'a')), /is a folder/],
    ['an empty folder', () => made('empty/', mkdirSync(path('empty'))), /folder/],
    ['a broken symlink', () => made('l.csv', symlinkSync('nowhere', path('l.csv'))), /is a broken symbolic link/],
  ])('%s is refused even with --overwrite', async (_, target, message) => {
    const output = target()
    await refused(() => exportTo(output, '--overwrite'), message)
  })

  test.each<[string, string]>([
    ['notes', 'my notes\n'],
    ['a CSV file of the user', 'indicator_id,comment\n600,mine\n'],
    ['JSON', '{"indicator_id":600}\n'],
    ['an empty file', ''],
    ['an earlier export', 'indicator_id,indicator_name,kind,time_trunc,time_agg\n'],
  ])('existing %s is replaced only with --overwrite', async (_, text) => {
    writeFileSync(path('a.csv'), text)
    await refused(() => exportTo('a.csv'), /Cannot write a\.csv: it exists[\s\S]*--overwrite/)
    expect((await exportTo('a.csv', '--overwrite')).code).toBe(0)
    expect(readFileSync(path('a.csv'), 'utf8').trim().split('\n')).toHaveLength(4)
  })

  testLinks('--overwrite through a symlink replaces the file and keeps the symlink', async () => {
    expect((await exportTo('a')).code).toBe(0)
    const first = statSync(path('a')).ino
    symlinkSync('a', path('link'))
    await refused(() => exportTo('link'), /--overwrite/)
    expect((await exportTo('link', '--format', 'parquet', '--overwrite')).code).toBe(0)
    expect(realpathSync(path('link'))).toBe(path('a'))
    expect(statSync(path('a')).ino).not.toBe(first)
  })

  testShell('devices and pipes are written to directly', async () => {
    expect((await exportTo('/dev/null')).err).toBe('3 rows in /dev/null.\n')
    expect(statSync('/dev/null').isCharacterDevice()).toBe(true)
    for (const name of ['-', '/dev/stdout']) expect((await exportTo(name)).out.split('\n')).toHaveLength(5)
    execFileSync('mkfifo', [path('pipe')])
    const [done, read] = await Promise.all([
      exportTo('pipe', '--format', 'ndjson'),
      new Promise<string>((answer) => {
        import('node:fs/promises').then(({ readFile }) => readFile(path('pipe'), 'utf8').then(answer))
      }),
    ])
    expect(done.code).toBe(0)
    expect(read.trim().split('\n')).toHaveLength(3)
    expect(statSync(path('pipe')).isFIFO()).toBe(true)
  })
})

describe('the target of publish', () => {
  test('publish refuses another database, in use or not, even with --overwrite', async () => {
    await fill(path('live.db'))
    const plain = new SQLite(path('plain.db'))
    plain.exec('create table mine (a)')
    plain.close()
    for (const name of ['own', 'live.db', 'plain.db'])
      for (const more of [[], ['--overwrite']]) await refused(() => run('publish', name, ...more), /database/)
  })

  test('publish --overwrite replaces an earlier copy, but not one that became a live database', async () => {
    expect((await run('publish', 'public/a.db')).code).toBe(0)
    await refused(() => run('publish', 'public/a.db'), /a\.db: it exists[\s\S]*--overwrite/)
    expect((await run('publish', 'public/a.db', '--overwrite')).code).toBe(0)
    // A published copy is read-only, but may become a live database if it is complete.
    await expect(openStore(path('public/a.db'))).rejects.toThrow(/published copy and therefore read-only/)
    expect((await run('publish', 'public/a.db', '--bookkeeping', '--overwrite')).code).toBe(0)
    await (await openStore(path('public/a.db'))).close()
    await refused(() => run('publish', 'public/a.db', '--overwrite'), /is a database/)
  })

  test('publish and replay refuse a target beside a WAL that would be applied to it', async () => {
    writeFileSync(path('a.db-wal'), 'x')
    await refused(() => run('publish', 'a.db'), /a\.db-wal exists/)
    await refused(() => run('replay', '--output', 'a.db'), /a\.db-wal exists/)
  })

  test('publish replaces an existing manifest only with --overwrite', async () => {
    mkdirSync(path('public'))
    writeFileSync(path('public/a.db.manifest.json'), '{"name":"app"}')
    await refused(() => run('publish', 'public/a.db'), /manifest\.json: it exists/)
    expect((await run('publish', 'public/a.db', '--overwrite')).code).toBe(0)
    expect(JSON.parse(readFileSync(path('public/a.db.manifest.json'), 'utf8'))).toMatchObject({ file: 'a.db' })
  })

  test('a copy contains no request details', async () => {
    const db = new SQLite(path('own'))
    db.exec(`update _fetch set target = '/secret', message = 'secret', hint = 'secret', evidence = 'secret'`)
    db.exec(`update _run set message = 'secret'`)
    db.exec(
      `insert into _quarantine (run_id, fetch_id, path, reason, fragment, created_at) values (1, 1, '$', 'secret', 'secret', '')`,
    )
    db.close()
    expect((await run('publish', 'public/a.db')).code).toBe(0)
    for (const name of readdirSync(path('public')))
      expect(readFileSync(path(`public/${name}`)).includes('secret'), name).toBe(false)
    expect((await run('status', '--database', 'public/a.db')).code).toBe(0)
    expect((await run('publish', 'again.db', '--database', 'public/a.db')).code).toBe(0)
  })

  testShell('publish writes only to a regular file', async () => {
    await refused(() => run('publish', '/dev/null'), /device/)
    mkdirSync(path('folder'))
    await refused(() => run('publish', 'folder'), /is a folder/)
  })
})

describe('partial files of a killed command', () => {
  /** Returns the partial file name of a process that has ended. */
  const left = (name: string, ending?: 'part' | 'copy'): string => {
    const { pid } = spawnSync(process.execPath, ['-e', ''])
    return partFileName(path(name), ending).replace(`.${process.pid}-`, `.${pid}-`)
  }

  test('the next run for the same target removes only its own partial files', async () => {
    // The last file belongs to this process, which is alive.
    const kept = ['a.csv.part', 'a.csv.1.part', 'b.csv.part', partFileName(path('a.csv')).slice(dir.length + 1)]
    for (const name of kept) writeFileSync(path(name), 'x')
    writeFileSync(left('a.csv'), 'x')
    mkdirSync(path('public'))
    const copy = left('public/x.db', 'copy')
    for (const end of ['', '-wal', '-shm', '-journal']) writeFileSync(`${copy}${end}`, 'x')
    writeFileSync(left('public/x.db.manifest.json'), 'x')
    expect((await exportTo('a.csv')).code).toBe(0)
    expect((await run('publish', 'public/x.db')).code).toBe(0)
    const found = readdirSync(dir).filter((name) => !/^own/.test(name))
    expect(found.sort()).toEqual([...kept, 'a.csv', 'public'].sort())
    expect(readdirSync(path('public')).sort()).toEqual(['x.db', 'x.db.manifest.json'])
  })

  test('the next export removes the partial file of a killed export', async () => {
    const endless = 'with recursive n(i) as (select 1 union all select i + 1 from n) select i from n'
    await runCli(
      dir,
      ['export', '--sql', endless, '--output', 'a.csv'],
      { INDICATOR_SYNC_DATABASE: 'own' },
      (child) => {
        const look = setInterval(() => {
          if (!readdirSync(dir).some((name) => name.endsWith('.part'))) return
          clearInterval(look)
          child.kill('SIGKILL')
        }, 10)
      },
    )
    expect(readdirSync(dir).filter((name) => name.endsWith('.part'))).toHaveLength(1)
    expect((await exportTo('a.csv')).code).toBe(0)
    expect(readdirSync(dir).filter((name) => name.endsWith('.part'))).toEqual([])
  })
})

describe.skipIf(process.platform === 'win32')('closed outputs', () => {
  const env = () => ({ PATH: process.env.PATH ?? '', ...PROGRAM_ENV, HOME: dir, INDICATOR_SYNC_DATABASE: 'own' })
  const words = (command: string) => ['-c', command.replaceAll('IT', `"${process.execPath}" "${programBin()}"`)]
  const shell = (command: string) => spawnSync('bash', words(command), { cwd: dir, env: env(), encoding: 'utf8' })
  const MANY = `'with recursive n(i) as (select 1 union all select i + 1 from n where i < 200000) select i from n'`

  testShell.each([`query ${MANY} --format csv`, `export --sql ${MANY}`, 'status'])(
    '`%s` to a reader that closes the pipe ends silently',
    (command) => {
      const done = shell(`IT ${command} | head -1 >&2; exit "\${PIPESTATUS[0]}"`)
      expect(done.stderr.trim().split('\n')).toHaveLength(1)
      expect(done.status).toBe(0)
    },
  )

  testShell('a run with a closed output keeps its exit code', async () => {
    const service = await serve((_request, response) => response.writeHead(401).end('Unauthorized'))
    writeFileSync(
      path('refused.yaml'),
      'name: refused\nseries: [{ indicators: [600], window: { from: 2024-01-01, to: 2024-01-02 } }]\n',
    )
    const sync = async (rest: string) => {
      const command = words(`IT sync refused.yaml --database left.db ${rest}; exit "\${PIPESTATUS[0]}"`)
      const child = spawn('bash', command, { cwd: dir, env: { ...env(), ...serviceAt(service.url) } })
      return (await once(child, 'close'))[0] as number
    }
    expect(await sync('| cat >&2')).toBe(3)
    expect(await sync('| true')).toBe(3)
  })

  test('partial files are removed before an existing target is refused', async () => {
    writeFileSync(path('theirs.csv'), 'not ours')
    const gone = spawnSync(process.execPath, ['-e', '']).pid
    const left = partFileName(path('theirs.csv')).replace(`.${process.pid}-`, `.${gone}-`)
    linkSync(path('theirs.csv'), left)
    expect((await run('export', '--indicator', '600', '--output', 'theirs.csv')).code).toBe(2)
    expect(existsSync(left)).toBe(false)
  })

  testLinux('a command with a closed stderr keeps its exit code', () => {
    expect(shell('IT export --indicator 600 --output a.csv 2>&-').status).toBe(0)
    expect(shell('IT export --indicator 600 > /dev/full 2> /dev/full').status).toBe(7)
    expect(shell(`IT export --indicator 4242 2>&1 >/dev/null | true; exit "\${PIPESTATUS[0]}"`).status).toBe(2)
    expect(shell('IT export --indicator 600 --output /dev/full').status).toBe(7)
    expect(shell('IT status >&-').status).toBe(0)
  })
})

test('replay in place changes no other file beside the database', async () => {
  await (await openStore(path('new.db'))).close()
  writeFileSync(path('new.db.rebuilt'), 'mine')
  expect((await run('replay', '--database', 'new.db')).code).toBe(0)
  expect(readFileSync(path('new.db.rebuilt'), 'utf8')).toBe('mine')
  expect(readdirSync(dir).filter((name) => /part|copy/.test(name))).toEqual([])
})

testLinks('replay --output replaces nothing', async () => {
  writeFileSync(path('a.db'), 'x')
  await refused(() => run('replay', '--output', 'a.db'), /a\.db: it exists/)
  await refused(() => run('replay', '--output', 'own'), /source database/)
  symlinkSync('nowhere', path('link.db'))
  await refused(() => run('replay', '--output', 'link.db'), /is a broken symbolic link/)
})

describe('changes between check and replacement', () => {
  const how = { product: 'an export', overwrite: false }
  const part = () => {
    const name = partFileName(path('a'))
    writeFileSync(name, 'new')
    return name
  }

  test('a file that appears is kept without --overwrite', () => {
    const target = prepareTarget(path('a'), how)
    writeFileSync(path('a'), 'mine')
    expect(() => moveIntoPlace(part(), target)).toThrow(/it exists/)
    expect(readFileSync(path('a'), 'utf8')).toBe('mine')
  })

  testLinks.each<[string, () => void, RegExp]>([
    ['a database', () => writeFileSync(path('a'), readFileSync(path('own'))), /is a database/],
    ['a symlink to a folder', () => symlinkSync('b', path('a')), /folder/],
  ])('%s that appears is kept even with --overwrite', (_, appear, message) => {
    mkdirSync(path('b'))
    writeFileSync(path('a'), 'old')
    const target = prepareTarget(path('a'), { ...how, overwrite: true })
    rmSync(path('a'))
    appear()
    const before = contents(dir)
    const name = part()
    expect(() => moveIntoPlace(name, target)).toThrow(message)
    rmSync(name)
    expect(contents(dir)).toEqual(before)
  })

  test('--overwrite replaces a file that another process created', () => {
    const target = prepareTarget(path('a'), { ...how, overwrite: true })
    writeFileSync(path('a'), 'by another process')
    moveIntoPlace(part(), target)
    expect(readFileSync(path('a'), 'utf8')).toBe('new')
    expect(existsSync(partFileName(path('a')))).toBe(false)
  })
})
