import { expect, onTestFinished, test } from 'vitest'
import { runWorker } from '../../src/cluster/runWorker.ts'
import { openStore } from '../../src/db/open.ts'
import { parseHost } from '../../src/fetch/hosts.ts'
import {
  InputError,
  openDatabase,
  openSharedRun,
  readJob,
  SERVICES,
  type SyncEvent,
  type SyncOptions,
  sync,
} from '../../src/index.ts'
import { sync as syncJob } from '../../src/sync/sync.ts'
import { migratedDatabase, withClient } from '../postgres/database.ts'
import { emulate, json, serve, tempStore } from '../support/kit.ts'

const JOB = readJob(
  'name: program\npace: { perSecond: 50 }\nseries:\n  - { indicators: [600], geoIds: [3], window: { from: 2025-10-01, to: 2025-10-04 }, chunk: 1d }\n',
  'program.yaml',
)
/** Context that only callers within this project set. */
const INTERNAL = { nowMs: Date.now, signal: new AbortController().signal }
const context = { service: SERVICES.generic }

test('a library caller shares the pace of a database, and workers execute its plan', async () => {
  const emulator = await emulate()
  const file = await migratedDatabase()
  const open = async () => {
    const store = await openDatabase(file)
    onTestFinished(() => store.close())
    return store
  }
  const store = await open()
  const mine = { ...context, store, baseUrl: emulator.url, key: emulator.key }
  const alone = await openSharedRun(store, mine)
  const range = { from: Date.UTC(2025, 9, 2, 22) / 1000, to: Date.UTC(2025, 9, 3, 22) / 1000 }
  const first = await sync(JOB, { ...mine, sharedRun: alone, range })
  expect(first).toMatchObject({ outcome: 'done', counts: { requests: 1 } })
  await alone.close()
  const worker = await openStore(file)
  onTestFinished(() => worker.close())
  const handing = await openSharedRun(store, mine, true)
  const stopping = new AbortController()
  const working = runWorker(
    { ...mine, ...INTERNAL, store: worker, signal: stopping.signal, onReject: 'quarantine' },
    { concurrency: 2 },
  )
  expect(await sync(JOB, { ...mine, sharedRun: handing })).toMatchObject({ outcome: 'done', counts: { requests: 2 } })
  await handing.close()
  stopping.abort()
  expect(await working).toMatchObject({ done: 2 })
  expect(emulator.requests).toHaveLength(3)
})

test('a library caller and its log report a pause that another process began', async () => {
  const emulator = await emulate()
  const file = await migratedDatabase()
  const store = await openDatabase(file)
  onTestFinished(() => store.close())
  const until = Date.now() + 3_500
  await withClient(file, (client) =>
    client.query(`insert into _host (host, next_at) values ('${parseHost(emulator.url)}', ${until})`),
  )
  const pauses: string[] = []
  const events: SyncEvent[] = []
  const mine: SyncOptions & { baseUrl: string } = {
    ...context,
    store,
    baseUrl: emulator.url,
    key: emulator.key,
    onPause: (_ms, reason) => void pauses.push(reason),
    onEvent: (event) => void events.push(event),
  }
  const sharedRun = await openSharedRun(store, mine)
  onTestFinished(sharedRun.close)
  expect(await sync(JOB, { ...mine, sharedRun })).toMatchObject({ outcome: 'done' })
  expect(pauses[0]).toBe('all calls to the host are paused')
  const { run } = events[0]!
  expect(events.find(({ event }) => event === 'calls.paused')).toMatchObject({ run, reason: pauses[0] })
})

test.each([
  ['returns 500', { giveUpMs: 60_000 }, 500],
  ['drops every connection', { failures: 1000, giveUpMs: 1 }, null],
])('a library caller gives up on a host that %s, as with an SQLite database', async (_name, more, status) => {
  const server = await serve((request, response) =>
    status === null ? request.socket.destroy() : json(response, {}, status),
  )
  const store = await openDatabase(await migratedDatabase())
  onTestFinished(() => store.close())
  const breaker = { failures: 3, pauseMs: 5, openings: 2, ...more }
  const mine = { ...context, ...INTERNAL, store, baseUrl: server.url, key: 'k'.repeat(64), breaker, retryMs: 5 }
  const sharedRun = await openSharedRun(store, mine)
  onTestFinished(sharedRun.close)
  expect(await syncJob({ ...mine, sharedRun }, { job: JOB, command: 'sync' })).toMatchObject({
    outcome: 'failed',
    earlyEnd: { code: 'unavailable' },
  })
  expect(server.calls.length).toBeLessThan(12)
})

test('a library caller sends no key unencrypted to another host without allowHttp', async () => {
  const store = await tempStore()
  const exposed: SyncOptions = { ...context, store, baseUrl: 'http://service.invalid', key: 'k'.repeat(64) }
  await expect(sync(JOB, exposed)).rejects.toThrow(InputError)
  expect(store.all('select * from _run')).toEqual([])
  const stopped = { ...exposed, allowHttp: true, signal: AbortSignal.abort() }
  expect(await sync(JOB, stopped)).toMatchObject({ outcome: 'stopped', earlyEnd: { code: 'signal' } })
})

test('a library caller cannot share an SQLite file between hosts', async () => {
  const mine = { ...context, store: await tempStore(), baseUrl: 'http://127.0.0.1:9', key: 'k'.repeat(64) }
  const refused = await openSharedRun(mine.store, mine).catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(InputError)
  expect(refused).toMatchObject({ code: 'only-servers', message: expect.stringContaining('test.db: it is a file') })
})
