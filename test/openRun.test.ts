import { expect, test } from 'vitest'
import { StoreError } from '../src/base/errors.ts'
import type { SyncEvent } from '../src/base/events.ts'
import { openRun } from '../src/openRun.ts'
import { tempStore } from './kit.ts'

test('a run whose database is gone emits its end all the same, with the reason', async () => {
  const store = await tempStore()
  const events: SyncEvent[] = []
  const context = { store, version: 'test', now: () => 0, onEvent: (event: SyncEvent) => void events.push(event) }
  const run = await openRun(context, 'sync', { name: 'nightly' })
  await store.close()
  await run.fail(new StoreError('The server is gone.', { code: 'no-server' }))
  const of = { run: run.runId, job: 'nightly', command: 'sync' }
  expect(events).toMatchObject([
    { ...of, event: 'run.started' },
    { ...of, event: 'run.ended', outcome: 'failed', code: 'no-server', reason: 'The server is gone.', requests: 0 },
  ])
})
