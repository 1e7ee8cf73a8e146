import { writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runWorker } from '../../src/cluster/runWorker.ts'
import { waitForServer } from '../../src/cluster/waitForServer.ts'
import { openWriter } from '../../src/db/lock.ts'
import { createEmitter, type SyncEvent } from '../../src/util/events.ts'
import { joined } from '../cluster/joined.ts'
import { emulate, ms, runCli, tempFolder } from '../support/kit.ts'
import { createDatabase, withClient } from './create.ts'
import { freePort, startServer } from './server.ts'

test('a sync whose server restarts exits with 7, and the next run requests only missing data', async () => {
  const server = await startServer()
  onTestFinished(() => server.close())
  const { url } = await createDatabase(server.url)
  let restarting: Promise<void> | undefined
  const requested: string[] = []
  const emulator = await emulate({
    now: ms('2025-11-04T12:00:00Z') / 1000,
    latencyMs: 20,
    log({ url: target }) {
      if (requested.push(target) === 20) restarting = server.restart('fast', 1_500)
    },
  })
  const folder = tempFolder()
  writeFileSync(
    join(folder, 'job.yaml'),
    `name: job
pace: { perSecond: 50, concurrency: 4 }
series:
  - { indicators: [600], geoIds: [3], window: { from: 2025-08-27, to: 2025-11-04 }, chunk: 1d }
`,
  )
  const run = () =>
    runCli(folder, ['sync', 'job.yaml', '--database', url, '--base-url', emulator.url], {
      INDICATOR_SYNC_API_KEY: emulator.key,
    })
  expect(await run()).toMatchObject({ code: 7, err: expect.stringContaining('Committed data is kept') })
  await restarting
  expect((await run()).code).toBe(0)
  // Only requests that were pending are repeated.
  expect(new Set(requested).size).toBe(69)
  expect(requested.length).toBeLessThanOrEqual(73)
  const { rows } = await withClient(url, (client) =>
    client.query('select sum(to_at - from_at)::int as covered from _coverage'),
  )
  // One hour more, because clocks were set back in October.
  expect(rows[0].covered).toBe(69 * 86_400 + 3_600)
})

test('a command that starts while its server is down waits for it', async () => {
  const running = await startServer()
  onTestFinished(() => running.close())
  const { url } = await createDatabase(running.url)
  const port = await freePort()
  const address = Object.assign(new URL(url), { hostname: '127.0.0.1', port: String(port) }).href
  const events: SyncEvent[] = []
  const opening = waitForServer(
    () => openWriter(address, 'test'),
    createEmitter((event) => events.push(event)),
    'worker',
  )
  await expect.poll(() => events.map(({ event }) => event), { timeout: 20_000 }).toEqual(['database.lost'])
  const { hostname, port: realPort } = new URL(url)
  const server = createServer((socket) => {
    const upstream = connect(Number(realPort), hostname)
    socket.pipe(upstream).pipe(socket)
    for (const end of [socket, upstream]) end.on('error', () => undefined)
  })
  await new Promise<void>((listening) => server.listen(port, '127.0.0.1', listening))
  const store = await opening
  onTestFinished(async () => {
    await store.close()
    server.close()
  })
  expect(events.map(({ event, command }) => `${event} ${command}`)).toEqual([
    'database.lost worker',
    'database.back worker',
  ])
})

test('a host name that does not exist is an error, not an outage', async () => {
  const events: SyncEvent[] = []
  const opening = waitForServer(
    () => openWriter('postgres://x@no-such-host.invalid/x', 'test'),
    createEmitter((event) => events.push(event)),
    'worker',
  )
  await expect(opening).rejects.toMatchObject({ name: 'StoreError', message: expect.stringContaining('no-such-host') })
  expect(events).toEqual([])
})

test.each(['fast', 'immediate'] as const)('a worker waits for its server during a %s restart', async (how) => {
  const server = await startServer()
  onTestFinished(() => server.close())
  const { url } = await createDatabase(server.url)
  const context = await joined(url, 'http://service.test', 'key')
  const heard = Promise.withResolvers<void>()
  const events: SyncEvent[] = []
  const stopping = new AbortController()
  const onEvent = (event: SyncEvent) => {
    events.push(event)
    if (event.event === 'database.back') stopping.abort()
  }
  const working = runWorker(
    { ...context, signal: stopping.signal, onEvent },
    { concurrency: 1, onHeard: heard.resolve },
  )
  await heard.promise
  // A crash may lose the last half second, such as the queue.
  await withClient(url, (client) => client.query('checkpoint'))
  await server.restart(how, 1_500)
  expect(await working).toEqual({ done: 0, failed: 0, earlyEnd: null })
  expect(events).toMatchObject([
    { event: 'database.lost', command: 'worker', code: expect.any(String) },
    { event: 'database.back', command: 'worker', ms: expect.any(Number) },
  ])
})
