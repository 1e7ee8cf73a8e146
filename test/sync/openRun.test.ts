import { join } from 'node:path'
import SQLite from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { readJob } from '../../src/job/read.ts'
import { SERVICES } from '../../src/service/services.ts'
import type { SyncContext } from '../../src/sync/context.ts'
import { createFixedPlan } from '../../src/sync/planRun.ts'
import { failRun, openRun } from '../../src/sync/record.ts'
import { executeRun } from '../../src/sync/run.ts'
import { RejectLimitError, SchemaError, StoreError } from '../../src/util/errors.ts'
import type { SyncEvent } from '../../src/util/events.ts'
import { emulate, runJob, tempFolder, tempStore } from '../support/kit.ts'
import { openStore } from '../support/testStore.ts'

test('a run whose database is gone emits its end with the reason', async () => {
  const store = await tempStore()
  const events: SyncEvent[] = []
  const context = { store, nowMs: () => 0, onEvent: (event: SyncEvent) => void events.push(event) }
  const run = await openRun(context, { command: 'sync', job: { name: 'nightly' } })
  await store.close()
  await failRun(run, new StoreError('The server is gone.', { code: 'no-server' }))
  const of = { run: run.id, job: 'nightly', command: 'sync' }
  expect(events).toMatchObject([
    { ...of, event: 'run.started' },
    { ...of, event: 'run.ended', outcome: 'failed', code: 'no-server', reason: 'The server is gone.', requests: 0 },
  ])
})

const NOW = Date.parse('2025-11-04T12:00:00Z') / 1000
const CONTENT = 'content: [{ kinds: [news] }]'

test('an unexpected SchemaError is a bug, but too many rejects are an orderly stop', async () => {
  const emulator = await emulate({})
  const ended = async (error: Error) => {
    const onProgress = () => {
      throw error
    }
    const store = await tempStore()
    const summary = await runJob(store, emulator, CONTENT, { onProgress }).catch((thrown: unknown) => thrown)
    return { summary, run: store.get('select outcome from _run') }
  }
  const stray = new SchemaError('It was thrown in the wrong place.', { path: '$' })
  expect(await ended(stray)).toEqual({ summary: stray, run: 'failed' })
  const earlyEnd = new RejectLimitError('Too many.')
  expect(await ended(earlyEnd)).toMatchObject({ summary: { earlyEnd, outcome: 'failed' }, run: 'failed' })
})

test('a run whose end cannot be recorded reports its failure once', async () => {
  const file = join(tempFolder(), 'test.db')
  const store = await openStore(file, { busyTimeoutMs: 0 })
  const other = new SQLite(file)
  onTestFinished(async () => {
    other.close()
    await store.close()
  })
  const events: SyncEvent[] = []
  const context: SyncContext = {
    store,
    service: SERVICES.generic,
    baseUrl: 'http://127.0.0.1:9',
    key: 'k'.repeat(64),
    nowMs: () => 0,
    signal: new AbortController().signal,
    onEvent: (event) => void events.push(event),
  }
  const job = readJob(`name: nightly\n${CONTENT}`, 'nightly.yaml')
  /** No requests; another program locks the database meanwhile. */
  function* nothing(): Generator<never> {
    other.exec('begin immediate')
    yield* []
  }
  await expect(executeRun(context, { job, command: 'sync' }, createFixedPlan(nothing()))).rejects.toMatchObject({
    name: 'BusyError',
  })
  expect(events).toMatchObject([
    { event: 'run.started' },
    { event: 'run.ended', outcome: 'failed', code: 'sqlite_busy' },
  ])
})

test('progress ends with all requests, also those of an unknown indicator that are not sent', async () => {
  const emulator = await emulate({ now: NOW, faults: [{ route: 'indicator', id: 600, status: 404 }] })
  const progress: (readonly [done: number, total: number | null])[] = []
  const store = await tempStore()
  const { counts } = await runJob(
    store,
    emulator,
    'series: [{ indicators: [600, 1293], window: { from: 2025-10-01, to: 2025-10-11 }, chunk: 1d }]',
    { now: NOW * 1000, onProgress: ({ done, total }) => void progress.push([done, total]) },
  )
  expect(counts).toMatchObject({ requests: 11, failed: 1 })
  expect(progress.at(-1)).toEqual([20, 20])
  expect(store.all('select planned, requests from _run')).toEqual([{ planned: 20, requests: 11 }])
})
