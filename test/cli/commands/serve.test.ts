import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  closeSync,
  copyFileSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Done, runCli, tempFolder } from '../../support/kit.ts'
import { addSeries, fillBy } from '../filled.ts'

const KEY = 'feedfacecafebeef'.repeat(4)

/** Creates a folder with a small database at the default path. */
async function folderWithDatabase(): Promise<string> {
  const folder = tempFolder()
  mkdirSync(join(folder, 'data'))
  await fillBy(join(folder, 'data/indicator-sync.db'), (store) =>
    addSeries(store, 1, {}, 3, [['2025-10-01T00:00:00Z', 61.1]]),
  )
  return folder
}

/** Runs `serve` during the work with its URL, then stops it. */
async function serving(
  folder: string,
  args: readonly string[],
  work: (url: string, child: ChildProcess) => Promise<unknown>,
  env: Record<string, string> = {},
): Promise<Done> {
  let failed: unknown
  const done = await runCli(folder, ['serve', ...args], env, (child) => {
    let output = ''
    const listen = (data: Buffer): void => {
      output += data
      const [, url] = /on (http:\/\/\S+) until/.exec(output) ?? []
      if (!url) return
      child.stdout!.off('data', listen)
      void work(url, child)
        .catch((error: unknown) => {
          failed = error
        })
        .finally(() => child.kill('SIGINT'))
    }
    child.stdout!.on('data', listen)
  })
  if (failed) throw failed
  return done
}

const ANY = ['--port', '0']
const text = async (address: string, init: RequestInit = {}): Promise<string> => (await fetch(address, init)).text()

// Every test stops the server with a signal.
describe.skipIf(process.platform === 'win32')('serve', () => {
  test('serve prints its local URL, serves pages there, and ends on Ctrl-C with open connections', async () => {
    const folder = await folderWithDatabase()
    const { code, out, err } = await serving(folder, ANY, async (url) => {
      expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/)
      expect(await text(url)).toMatch(/<h1>(Up to date|Needs attention)<.h1>/)
      // An open live connection does not delay the end.
      expect((await fetch(`${url}api/live`)).status).toBe(200)
    })
    expect([code, err]).toEqual([130, ''])
    expect(out).toMatch(/^Serving data\/indicator-sync\.db on http/)
  })

  test('serve takes another port if the default is in use, but refuses an explicit one', async () => {
    const folder = await folderWithDatabase()
    const other = createServer()
    onTestFinished(() => void other.close())
    const taken = await new Promise<boolean>((done) => {
      other.once('error', () => done(false)).listen(8420, '127.0.0.1', () => done(true))
    })
    // The port may already be in use by another program.
    expect(taken).toBeTypeOf('boolean')
    await serving(folder, [], async (url) => {
      expect(new URL(url).port).not.toBe('8420')
      expect(await text(url)).toMatch(/<h1>(Up to date|Needs attention)<.h1>/)
    })
    const refused = await runCli(folder, ['serve', '--port', '8420'])
    expect(refused).toMatchObject({ code: 2, err: expect.stringMatching(/port 8420: another program uses the port/) })
  })

  test.each([
    ['--port', '70000', /whole number from 0 to 65535/],
    ['--host', 'no such host', /Cannot listen on no such host/],
    ['--database', 'none.db', /database none\.db does not exist yet/],
  ])('serve rejects %s %s at its start', async (flag, value, says) => {
    const { code, err } = await runCli(await folderWithDatabase(), ['serve', flag, value])
    expect([2, 7]).toContain(code)
    expect(err).toMatch(says)
  })

  test('serve requires a token if other hosts can connect, and prints it once', async () => {
    const folder = await folderWithDatabase()
    const { out, err } = await serving(folder, [...ANY, '--host', '0.0.0.0'], async (url) => {
      const { origin, searchParams } = new URL(url)
      expect(searchParams.get('token')).toMatch(/^[\w-]{32}$/)
      expect((await fetch(`${origin}/`)).status).toBe(401)
      expect((await fetch(url, { redirect: 'manual', headers: { Accept: 'text/html' } })).status).toBe(303)
    })
    expect(out.match(/token=/g)).toHaveLength(1)
    expect(err).toMatch(/can read the whole database/)
  })

  test('serve uses the token of the settings, so that links survive a restart', async () => {
    const folder = await folderWithDatabase()
    const args = [...ANY, '--host', '0.0.0.0']
    const { out, err } = await serving(folder, args, async () => undefined, {
      INDICATOR_SYNC_PAGE_TOKEN: 'a-token_of-16-xx',
    })
    expect(out).toContain('?token=a-token_of-16-xx ')
    expect(err).not.toContain('INDICATOR_SYNC_PAGE_TOKEN')
    const random = await serving(folder, args, async () => undefined)
    expect(random.err).toContain('Set INDICATOR_SYNC_PAGE_TOKEN to keep copied links valid')
    const refused = await runCli(folder, ['serve', ...args], { INDICATOR_SYNC_PAGE_TOKEN: 'too short' })
    expect(refused.code).toBe(2)
    expect(refused.err).toMatch(/The page token \(from variable INDICATOR_SYNC_PAGE_TOKEN\) is not a token/)
    expect(refused.err).not.toContain('too short')
  })

  test.skipIf(process.platform === 'win32')('serve keeps its token out of the journal of systemd', async () => {
    const folder = await folderWithDatabase()
    const log = join(folder, 'journal')
    const start = (env: Readonly<Record<string, string>>) => {
      const fd = openSync(log, 'w')
      const { dev, ino } = fstatSync(fd)
      const args = [resolve('src/cli/bin.js'), 'serve', ...ANY, '--host', '0.0.0.0']
      const options = { cwd: folder, env: { ...process.env, JOURNAL_STREAM: `${dev}:${ino}`, ...env } }
      const child = spawn(process.execPath, args, { ...options, stdio: ['ignore', fd, fd] })
      onTestFinished(() => void child.kill())
      closeSync(fd)
      return child
    }
    const [code] = await once(start({}), 'exit')
    expect([code, readFileSync(log, 'utf8')]).toEqual([2, expect.stringMatching(/Set INDICATOR_SYNC_PAGE_TOKEN/)])
    const child = start({ INDICATOR_SYNC_PAGE_TOKEN: 'a-token_of-16-xx' })
    await expect.poll(() => readFileSync(log, 'utf8'), { timeout: 20_000 }).toMatch(/on http:\/\/\S+\?token=… until/)
    child.kill('SIGTERM')
    await once(child, 'exit')
    expect(readFileSync(log, 'utf8')).not.toContain('a-token_of-16-xx')
  })

  test('serve never reveals the API key in a page or an error', async () => {
    const folder = await folderWithDatabase()
    writeFileSync(join(folder, '.env'), `INDICATOR_SYNC_API_KEY=${KEY}\nINDICATOR_SYNC_DATABASE=data/other.db\n`)
    copyFileSync(join(folder, 'data/indicator-sync.db'), join(folder, 'data/other.db'))
    const done = await serving(
      folder,
      ANY,
      async (url) => {
        for (const path of ['', 'index.json', 'status.json', 'metrics', `coverage/${KEY}`, 'sql?sql=select+1'])
          expect(await text(`${url}${path}`).then((body) => body.replaceAll(`/coverage/${KEY}`, ''))).not.toContain(KEY)
      },
      { INDICATOR_SYNC_API_KEY: KEY },
    )
    expect(done.out).toMatch(/^Serving data\/other\.db on/)
    expect(`${done.out}${done.err}`).not.toContain(KEY)
  })

  test('serve writes nothing into or beside the database', async () => {
    const folder = await folderWithDatabase()
    const file = join(folder, 'data/indicator-sync.db')
    const before = readFileSync(file)
    const names = readdirSync(join(folder, 'data'))
    await serving(folder, ANY, async (url) => {
      for (const path of ['', 'coverage/600', 'series/600', 'status.json'])
        expect((await fetch(`${url}${path}`)).status).toBe(200)
    })
    expect(readFileSync(file).equals(before)).toBe(true)
    expect(readdirSync(join(folder, 'data')).filter((name) => !/-(wal|shm)$/.test(name))).toEqual(names)
  })

  test('serve shows a published copy in a read-only folder', async () => {
    const folder = await folderWithDatabase()
    const closed = join(folder, 'closed')
    mkdirSync(closed)
    expect((await runCli(folder, ['publish', 'closed/copy.db'])).code).toBe(0)
    chmodSync(closed, 0o555)
    onTestFinished(() => chmodSync(closed, 0o755))
    await serving(folder, [...ANY, '--database', 'closed/copy.db'], async (url) => {
      for (const path of ['', 'coverage', 'coverage/600', 'series/600', 'runs', 'metrics', 'status.json'])
        expect((await fetch(`${url}${path}`)).status, path).toBe(200)
    })
  })

  test('serve keeps running while the database file is gone, and pages report it', async () => {
    const folder = await folderWithDatabase()
    const file = join(folder, 'data/indicator-sync.db')
    const copy = readFileSync(file)
    await serving(folder, ANY, async (url) => {
      rmSync(file)
      const gone = await fetch(url)
      expect([gone.status, await gone.text()]).toEqual([503, expect.stringContaining('does not exist yet')])
      expect(await (await fetch(`${url}index.json`)).json()).toMatchObject({ code: 'no-database' })
      writeFileSync(file, copy)
      expect((await fetch(url)).status).toBe(200)
    })
  })
})
