import { writeFileSync } from 'node:fs'
import { createServer, connect as dial, type Socket } from 'node:net'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished } from 'vitest'
import { openStore } from '../../src/db/open.ts'
import { migratedDatabase, withClient } from '../postgres/database.ts'
import { emulate, ms, tempFolder } from '../support/kit.ts'
import { testSignals } from '../support/systems.ts'
import { KEY, type Machine, machine } from './machines.ts'

const NOW = ms('2025-11-04T12:00:00Z') / 1000

/** Starts a process that ends with the test, even if it is suspended. */
function started(...[database, service, args, env]: Parameters<typeof machine>): Machine {
  const one = machine(database, service, args, env)
  onTestFinished(async () => {
    one.child.kill('SIGKILL')
    await one.ended
  })
  return one
}

/** Suspends a worker after one of its statements, while others wait for its requests. */
async function frozenAfter(statement: string) {
  const emulator = await emulate({ key: KEY, now: NOW })
  const url = await migratedDatabase()
  const job = join(tempFolder(), 'job.yaml')
  writeFileSync(
    job,
    `name: frozen
pace: { perSecond: 20, concurrency: 4 }
series:
  - { indicators: [600], geoIds: [3], window: { from: 2025-11-01, to: 2025-11-04 }, chunk: 1d }
`,
  )
  // The row exists, as for every call but the first.
  const row = `insert into _host (host, next_at) values ('${new URL(emulator.url).host}', 0)`
  await withClient(url, (client) => client.query(row))
  const plan = started(url, emulator.url, ['sync', job, '--distributed', '--quiet'])
  const frozen = started(url, emulator.url, ['worker', '--concurrency', '1'], {
    NODE_OPTIONS: `--import ${resolve('test/cluster/deaths.ts')}`,
    DIES_AT: statement,
    DIES_BY: 'SIGSTOP',
  })
  let hasEnded = false
  void plan.ended.then(() => {
    hasEnded = true
  })
  while (!frozen.said().includes('SIGSTOP here')) {
    if (hasEnded) throw new Error(`The plan ended early: ${plan.said()}`)
    await sleep(50)
  }
  return { emulator, url, plan }
}

testSignals('a worker that is suspended after it takes a slot holds no lock', async () => {
  const { emulator, url, plan } = await frozenAfter('_host[^;]*for update')
  await withClient(url, (client) => client.query('select from _host for update nowait'))
  const other = started(url, emulator.url, ['worker', '--concurrency', '2'])
  expect(await plan.ended, plan.said()).toBe(0)
  other.child.kill('SIGTERM')
  expect(await other.ended).toBe(143)
})

testSignals('the locks of a worker suspended in a transaction time out, and others continue', async () => {
  const store = await openStore(await migratedDatabase())
  onTestFinished(() => store.close())
  const limit = await store.write((tx) =>
    tx
      .selectNoFrom(({ fn, val }) =>
        fn<string>('current_setting', [val('idle_in_transaction_session_timeout')]).as('limit'),
      )
      .executeTakeFirstOrThrow(),
  )
  expect(limit).toEqual({ limit: '15s' })
  const { emulator, url, plan } = await frozenAfter('"series".*for no key update')
  const other = started(url, emulator.url, ['worker', '--concurrency', '2'])
  expect(await plan.ended, plan.said()).toBe(0)
  other.child.kill('SIGTERM')
  expect(await other.ended).toBe(143)
})

testSignals('a stopped worker ends even if its database no longer responds', async () => {
  const emulator = await emulate({ key: KEY, now: NOW })
  const url = new URL(await migratedDatabase())
  const sockets = new Set<Socket>()
  const proxy = createServer((client) => {
    const server = dial(Number(url.port), url.hostname)
    client.pipe(server)
    server.pipe(client)
    for (const one of [client, server]) sockets.add(one.on('error', () => undefined))
    client.once('close', () => server.destroy())
  })
  await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done))
  onTestFinished(() => {
    for (const one of sockets) one.destroy()
    proxy.close()
  })
  const through = new URL(url)
  through.port = String((proxy.address() as { port: number }).port)
  const worker = started(through.href, emulator.url, ['worker'])
  const hasQueue = () => withClient(url.href, (client) => client.query(`select to_regclass('pgboss.queue') as queue`))
  let hasEnded = false
  void worker.ended.then(() => {
    hasEnded = true
  })
  while ((await hasQueue()).rows[0].queue === null) {
    if (hasEnded) throw new Error(`The worker ended early: ${worker.said()}`)
    await sleep(50)
  }
  // The worker starts after that.
  await sleep(2_000)
  // From now on the worker receives nothing, but its connections remain open.
  for (const one of sockets) one.unpipe().pause()
  proxy
    .removeAllListeners('connection')
    .on('connection', (client) => void sockets.add(client.on('error', () => undefined)))
  worker.child.kill('SIGTERM')
  const code = await Promise.race([worker.ended, sleep(90_000, 'running', { ref: false })])
  expect(code, worker.said()).toBe(143)
})
