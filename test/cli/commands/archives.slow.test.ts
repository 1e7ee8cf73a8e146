import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { emulate, json, runCli, runCommand, runJob, serve, tempFolder, tempStore } from '../../support/kit.ts'
import { openReader } from '../../support/testStore.ts'
import { serviceAt } from '../jobFolder.ts'

const NOW = Date.parse('2025-11-04T12:00:00Z')
const KEY = '0123456789abcdef'.repeat(4)

const cli = (args: readonly string[], env: Record<string, string>) => runCommand(tempFolder(), args, env)

/** Creates a database with the archives of one day. */
async function listedStore() {
  const store = await tempStore()
  const job = 'archives: [{ window: { from: 2025-11-03, to: 2025-11-04 } }]'
  await runJob(store, await emulate({ now: NOW / 1000 }), job, { now: NOW })
  return store
}

test('archives download fetches each file once, reports failures, and a replay keeps the records', async () => {
  const store = await listedStore()
  const editions = store.get('select count(distinct url) from archive_edition') as number
  const storage = await serve((request, response) => {
    response.setHeader('Content-Type', 'text/plain')
    response.end(`contents of ${request.url}`)
  })
  const server = await serve((request, response, call) => {
    if (call === 2) return response.writeHead(404).end()
    return response.writeHead(307, { Location: `${storage.url}${request.url}` }).end()
  })
  const env = { ...serviceAt(server.url, KEY), INDICATOR_SYNC_DATABASE: store.file }
  const first = await cli(['archives', 'download', '--limit', '4', '--json'], env)
  expect(first.code).toBe(1)
  expect(JSON.parse(first.out)).toMatchObject({
    files: 3,
    failed: [{ reason: expect.stringContaining('404') }],
    stored: 0,
  })
  expect(storage.calls.every(({ headers }) => headers['x-api-key'] === undefined)).toBe(true)
  expect(server.calls.every(({ headers }) => headers['x-api-key'] === KEY)).toBe(true)
  const second = await cli(['archives', 'download', '--limit', '2', '--json'], env)
  expect(JSON.parse(second.out)).toMatchObject({ files: 2, failed: [], stored: 3 })
  const rows = store.all('select * from archive_publications where path is not null') as { path: string; url: string }[]
  expect(new Set(rows.map(({ url }) => url)).size).toBe(5)
  const folder = join(store.file, '..', 'archives')
  for (const { path, url } of rows) expect(readFileSync(join(folder, path), 'utf8')).toBe(`contents of ${url}`)
  expect(readdirSync(folder).every((name) => /^[0-9a-f]{2}$/.test(name))).toBe(true)
  const listed = await cli(['archives', 'list', '--json', '--limit', '0'], env)
  expect(new Set((JSON.parse(listed.out) as { url: string }[]).map(({ url }) => url)).size).toBe(editions)
  const into = join(tempFolder(), 'again.db')
  expect((await cli(['replay', '--output', into], env)).code).toBe(0)
  const again = openReader(into)
  expect(again.get('select count(*) from archive_file')).toBe(5)
  await again.close()
  for (const args of [['words'], ['--from', 'yesterday']])
    expect((await cli(['archives', 'download', ...args], env)).code).toBe(2)
  if (existsSync('/proc/self')) {
    const nowhere = await cli(['archives', 'download', '--output', '/proc/none/new', '--limit', '1'], env)
    expect(nowhere).toMatchObject({ code: 7, err: expect.stringMatching(/^Cannot write .*new: E[A-Z]+\.\n {2}→ /) })
  }
})

test('`archives list` and `archives load` do not create a mistyped database', async () => {
  const file = join(tempFolder(), 'typo.db')
  for (const action of ['list', 'load']) expect((await cli(['archives', action, '--database', file], {})).code).toBe(7)
  expect(existsSync(file)).toBe(false)
})

test('a refused API key ends the download after one call that checks it', async () => {
  const store = await listedStore()
  const server = await serve((_, response) => response.writeHead(403).end())
  const env = { ...serviceAt(server.url, KEY), INDICATOR_SYNC_DATABASE: store.file }
  const done = await cli(['archives', 'download'], env)
  expect(done.code).toBe(3)
  expect(server.calls.map(({ url }) => url!.includes('/download'))).toEqual([true, false])
  expect(done.err + done.out).not.toContain(KEY)
})

test('files that the service refuses do not stop the others, and the key is checked once', async () => {
  const store = await listedStore()
  const server = await serve((request, response, call): unknown => {
    if (!request.url!.includes('/download')) return json(response, { indicators: [] })
    if (call < 4) return response.writeHead(403).end('{"message":"Forbidden"}')
    return response.end(`contents of ${request.url}`)
  })
  const env = { ...serviceAt(server.url, KEY), INDICATOR_SYNC_DATABASE: store.file }
  const done = await cli(['archives', 'download', '--limit', '4', '--json'], env)
  expect(done.code).toBe(1)
  expect(JSON.parse(done.out)).toMatchObject({
    files: 2,
    failed: [{ reason: 'the response has status 403' }, { reason: 'the response has status 403' }],
    stop: null,
  })
  expect(server.calls).toHaveLength(5)
})

test.each(['download', 'load', 'list'])(
  'archives %s refuses the id of an archive that is not stored',
  async (action) => {
    const store = await listedStore()
    const env = { ...serviceAt('http://127.0.0.1:9', KEY), INDICATOR_SYNC_DATABASE: store.file }
    const id = String(store.get('select min(id) from archive'))
    expect(await cli(['archives', action, id, '99999'], env)).toMatchObject({
      code: 2,
      err: expect.stringMatching(/^No stored archive has the id 99999\.\n {2}→ List the stored ones: .*archives list/),
    })
  },
)

test("a download deletes the unfinished file of a killed one, and obeys the job's budget", async () => {
  const store = await listedStore()
  // Two files a second are downloaded.
  store.run('delete from archive_edition where rowid not in (select rowid from archive_edition order by 1 limit 8)', [])
  const { port } = new URL((await serve((_, response) => response.end('x'))).url)
  const server = await serve((_, response, call): unknown => {
    if (call > 1) return response.end('whole')
    response.setHeader('Content-Length', 100_000)
    return response.write('part of it')
  })
  const env = { ...serviceAt(server.url, KEY), INDICATOR_SYNC_DATABASE: store.file }
  const archives = join(store.file, '..', 'archives')
  const unfinished = () => (existsSync(archives) ? readdirSync(archives).filter((name) => name.endsWith('.part')) : [])
  const killed = await runCli(tempFolder(), ['archives', 'download'], env, (child) => {
    const timer = setInterval(() => {
      if (unfinished().length === 0) return
      clearInterval(timer)
      child.kill('SIGKILL')
    }, 10)
  })
  expect(killed.code).toBeNull()
  expect(unfinished()).toHaveLength(1)
  const folder = tempFolder()
  writeFileSync(join(folder, 'job.yaml'), 'name: x\npace: { callsPerDay: 60 }\ncatalogue: true\n')
  store.run('update archive_edition set url = ? where rowid = (select min(rowid) from archive_edition)', [
    `http://127.0.0.1:${port}/elsewhere`,
  ])
  const run = await runCommand(folder, ['archives', 'download', '--limit', '3', '--json'], env)
  expect(JSON.parse(run.out)).toMatchObject({
    files: 2,
    failed: [{ reason: expect.stringMatching(/--allow-host 127\.0\.0\.1:/) }],
  })
  expect(unfinished()).toEqual([])
  const host = new URL(server.url).host
  const spent = store.get('select count(*) from _budget where host = ?', [host]) as number
  expect(spent).toBeGreaterThanOrEqual(3)
  for (let i = spent; i < 59; i++) store.run('insert into _budget (host, called_at) values (?, ?)', [host, Date.now()])
  const over = await runCommand(folder, ['archives', 'download', '--job', 'job.yaml', '--json'], env)
  expect(over.code).toBe(4)
  expect(JSON.parse(over.out)).toMatchObject({ files: 1, stop: expect.stringMatching(/budget of 60 calls/) })
  const all = await runCommand(folder, ['archives', 'download', '--limit', '0', '--json'], env)
  expect(all.code).toBe(1)
  expect(JSON.parse(all.out).failed).toMatchObject([{ reason: expect.stringMatching(/--allow-host 127\.0\.0\.1:/) }])
})
