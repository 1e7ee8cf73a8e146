import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import SQLite from 'better-sqlite3'
import { expect, test } from 'vitest'
import { allRows } from '../../src/db/engine.ts'
import { StoreError } from '../../src/util/errors.ts'
import type { SyncEvent } from '../../src/util/events.ts'
import { emulate, ms, runCommand, runJob, serve, tempFolder } from '../support/kit.ts'
import { openStore } from '../support/testStore.ts'

const NOW = ms('2025-11-04T12:00:00Z')
const YAML = 'series: [{ indicators: [600], geoIds: [3], window: { from: 2025-11-02, to: 2025-11-03 } }]'

/** Creates a database that has lost the first page of some tables and their indexes. */
async function damaged(...tables: string[]): Promise<string> {
  const file = join(tempFolder(), 'test.db')
  const store = await openStore(file)
  await runJob(store, await emulate({ now: NOW / 1000 }), YAML, { now: NOW })
  await store.close()
  const raw = new SQLite(file, { readonly: true })
  const size = raw.pragma('page_size', { simple: true }) as number
  const roots = raw
    .prepare(
      `select rootpage from sqlite_schema where rootpage > 0 and tbl_name in (${tables.map((name) => `'${name}'`)})`,
    )
    .pluck()
    .all() as number[]
  raw.close()
  const open = openSync(file, 'r+')
  for (const page of roots) writeSync(open, Buffer.alloc(size, 0xff), 0, size, (page - 1) * size)
  closeSync(open)
  return file
}

test('every database call reports its errors as a StoreError', async () => {
  const store = await openStore(await damaged('_run', 'observation', '_fence'))
  const range = { seriesId: 1, geoId: 3, from: 0, to: NOW / 1000 }
  const ways: Record<string, () => unknown> = {
    'a query': () => store.kysely.selectFrom('_run').selectAll().execute(),
    'a query in a transaction': () => store.write((tx) => tx.selectFrom('_run').selectAll().execute()),
    'a query whose rows are read one by one': () => store.kysely.selectFrom('_run').selectAll().stream().next(),
    'the check at the end of a run': () => {
      store.fence(1)
      store.tidy()
    },
    'the check before something is written': () => store.write(async () => undefined),
    'the check itself': () => store.check(),
    'an operation': () => store.engine.readExtremes(range, [range.from, range.to], null),
    'an operation that answers row by row': () => allRows(store.engine.streamValues(range, null)),
    "a user's statement": () => store.engine.query('select * from _run').then(({ rows }) => allRows(rows)),
  }
  for (const [how, ask] of Object.entries(ways)) {
    const error = await Promise.resolve()
      .then(ask)
      .catch((thrown: unknown) => thrown)
    expect(error, how).toBeInstanceOf(StoreError)
    expect(error, how).toMatchObject({ code: 'sqlite_corrupt', message: expect.stringContaining(store.file) })
  }
  await store.close()
})

test('a run that fails on a damaged database records and notifies the error', async () => {
  // The table of services is read before the first call of a run.
  const file = await damaged('_source')
  const emulator = await emulate({ now: NOW / 1000 })
  const notified: object[] = []
  const { url } = await serve(async (request, response) => {
    notified.push(JSON.parse(Buffer.concat(await request.toArray()).toString()))
    response.end()
  })
  const folder = tempFolder()
  writeFileSync(join(folder, 'job.yaml'), `name: job\n${YAML.replace('to: 2025-11-03', 'to: 2025-11-04')}`)
  const { code, err } = await runCommand(
    folder,
    ['sync', 'job.yaml', '--database', file, '--base-url', emulator.url, '--notify', url, '--log-format', 'json'],
    { INDICATOR_SYNC_API_KEY: emulator.key },
  )
  expect(code).toBe(7)
  const message = `The database ${file} is damaged.`
  const events = err
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as SyncEvent)
  expect(events.find(({ event }) => event === 'run.ended')).toMatchObject({
    outcome: 'failed',
    code: 'sqlite_corrupt',
    reason: message,
    hint: expect.any(String),
  })
  expect(notified).toMatchObject([{ ok: false, text: `job: ${message}`, stop: { code: 'sqlite_corrupt', message } }])
})
