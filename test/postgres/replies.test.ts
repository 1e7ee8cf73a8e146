import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { openStore } from '../../src/db/open.ts'
import type { Store } from '../../src/db/store.ts'
import { keepReply } from '../../src/load/replies/keep.ts'
import { prune } from '../../src/load/replies/prune.ts'
import { compressBody } from '../../src/util/storedBody.ts'
import { json, ms, runJob, serve } from '../support/kit.ts'
import { migratedDatabase, withClient } from './database.ts'

const BODY = JSON.stringify({ archives: [] })
const REPLY = await compressBody(Buffer.from(BODY))
const JOB = 'keep: latest\narchives: [{ window: { from: 2025-11-01, to: 2025-11-02 }, dateType: datos }]'
const AT = ms('2025-11-04T12:00:00Z')
const LATER = ms('2025-11-05T12:00:00Z')

async function open(url: string): Promise<Store> {
  const store = await openStore(url)
  onTestFinished(() => store.close())
  return store
}

/** Receives the body for another request, like a load, and waits before its end. */
const receive = (store: Store, received: () => void, mayEnd: Promise<void>) =>
  store.write(async (tx) => {
    await keepReply(tx, store.engine, REPLY, BODY.length, LATER)
    const { id: _, ...first } = await tx.selectFrom('_fetch').selectAll().executeTakeFirstOrThrow()
    const finished_at = new Date(LATER).toISOString()
    await tx
      .insertInto('_fetch')
      .values({ ...first, target: '/another', finished_at })
      .execute()
    received()
    await mayEnd
  })

/** Waits until work is done or waits for a lock. */
async function untilDoneOrLocked(url: string, work: Promise<unknown>): Promise<void> {
  const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  let isDone = false
  work.then(() => {
    isDone = true
  })
  await withClient(url, async (client) => {
    while (!isDone && (await client.query(waiting)).rowCount === 0) await sleep(20)
  })
}

const DAY = { from: ms('2025-11-01T00:00:00+01:00') / 1000, to: ms('2025-11-02T00:00:00+01:00') / 1000 }
const AGAIN = { range: { interval: DAY, how: 'narrow' as const }, restate: true }

const FORGETTING: [string, (store: Store, service: { url: string }) => Promise<unknown>][] = [
  ['keep: latest', (store, service) => runJob(store, service, JOB, { now: LATER, options: AGAIN })],
  ['prune', (store) => prune(store, new Date(AT + 1000).toISOString())],
]

/** Creates a database whose only body may be deleted, and a service that now returns another one. */
async function received() {
  const url = await migratedDatabase()
  const store = await open(url)
  const server = await serve((_request, response, call) => json(response, call > 1 ? { archives: [], meta: 1 } : BODY))
  await runJob(store, server, JOB, { now: AT })
  const hashes = async () => (await store.kysely.selectFrom('_reply').select('hash').execute()).map(({ hash }) => hash)
  expect(await hashes()).toEqual([REPLY.hash])
  return { url, store, server, hashes }
}

test.each(FORGETTING)('%s deletes a body that no other process received', async (_by, forget) => {
  const { store, server, hashes } = await received()
  await forget(store, server)
  expect(await hashes()).not.toContain(REPLY.hash)
})

test.each(FORGETTING)('%s keeps a body that another process is receiving', async (_by, forget) => {
  const { url, store, server, hashes } = await received()
  const begun = Promise.withResolvers<void>()
  const mayEnd = Promise.withResolvers<void>()
  const receiving = receive(await open(url), begun.resolve, mayEnd.promise)
  await begun.promise
  const forgetting = forget(store, server)
  await untilDoneOrLocked(url, forgetting)
  mayEnd.resolve()
  await Promise.all([receiving, forgetting])
  expect(await hashes()).toContain(REPLY.hash)
})
