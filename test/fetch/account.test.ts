import { join } from 'node:path'
import SQLite from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { createHostRecords } from '../../src/fetch/hosts.ts'
import { SERVICES } from '../../src/service/services.ts'
import { tempFolder } from '../support/kit.ts'
import { openStore } from '../support/testStore.ts'

test('a call that cannot be recorded fails alone, and the next call to the host is tried', async () => {
  const file = join(tempFolder(), 'test.db')
  const store = await openStore(file, { busyTimeoutMs: 0 })
  const other = new SQLite(file)
  onTestFinished(async () => {
    other.close()
    await store.close()
  })
  const baseUrl = 'http://127.0.0.1:9'
  const { signal } = new AbortController()
  const caller = { store, service: SERVICES.generic, baseUrl, nowMs: Date.now, signal }
  const hosts = createHostRecords(caller)
  other.exec('begin immediate')
  await expect(
    Promise.all([hosts.open('127.0.0.1:9', 'http:'), hosts.open('127.0.0.1:9', 'http:')]),
  ).rejects.toMatchObject({
    name: 'BusyError',
  })
  other.exec('rollback')
  await hosts.open('127.0.0.1:9', 'http:')
  expect(store.get('select host from _source')).toBe('127.0.0.1:9')
})

test('a host that is called over http is recorded with its protocol', async () => {
  const store = await openStore(join(tempFolder(), 'test.db'))
  onTestFinished(() => store.close())
  const { signal } = new AbortController()
  const caller = { store, service: SERVICES.generic, baseUrl: 'http://127.0.0.1:9', nowMs: Date.now, signal }
  await createHostRecords(caller).open('storage.test:8', 'http:')
  expect(store.get('select base_url from _source')).toBe('http://storage.test:8')
})
