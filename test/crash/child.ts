/**
 * Syncs a job and, if requested, dies by SIGKILL at a step of the write path: `node test/crash/child.ts '<json of
 * Orders>' <library>`. It intercepts the database driver, without support in the program.
 */
import { Worker } from 'node:worker_threads'
import SQLite from 'better-sqlite3'
import { type Orders, STEPS } from './steps.ts'

const { BusyError, openDatabase, readJob, SERVICES, sync } = (await import(
  process.argv[3]!
)) as typeof import('../../src/index.ts')

const die = (): void => {
  process.kill(process.pid, 'SIGKILL')
}

/** Intercepts the statements sent to SQLite. */
function watch({ step, nth, micros }: NonNullable<Orders['death']>): void {
  const { when, sql } = STEPS[step]
  let seen = 0
  const trigger = new Int32Array(new SharedArrayBuffer(4))
  // While SQLite blocks this thread, only another thread can end the process.
  const killer =
    when === 'during' &&
    new Worker(
      `const { workerData: { trigger, micros } } = require('node:worker_threads')
       Atomics.wait(trigger, 0, 0)
       const end = process.hrtime.bigint() + BigInt(micros) * 1000n
       while (process.hrtime.bigint() < end);
       process.kill(process.pid, 'SIGKILL')`,
      { eval: true, workerData: { trigger, micros } },
    )
  if (killer) killer.unref()
  const around = <T>(text: string, work: () => T): T => {
    const matches = sql.test(text) && ++seen === nth
    if (matches && when === 'before') die()
    if (matches && when === 'during') {
      Atomics.store(trigger, 0, 1)
      Atomics.notify(trigger, 0)
    }
    const result = work()
    if (matches && when === 'after') die()
    // Blocks the process until the kill arrives.
    if (matches && when === 'during') for (;;) Atomics.wait(trigger, 0, 1)
    return result
  }
  const plannerState = new SQLite(':memory:')
  const statement = Object.getPrototypeOf(plannerState.prepare('select 1')) as { run: (...args: unknown[]) => unknown }
  const { run } = statement
  statement.run = function (this: { source: string }, ...args: unknown[]) {
    return around(this.source, () => run.apply(this, args))
  }
  const { pragma } = SQLite.prototype
  SQLite.prototype.pragma = function (this: SQLite.Database, source: string, options?: SQLite.PragmaOptions) {
    return around(source, () => pragma.call(this, source, options))
  }
}

const orders = JSON.parse(process.argv[2]!) as Orders
if (orders.death) watch(orders.death)
const store = await openDatabase(orders.file, { name: 'crash', durability: orders.durability ?? 'normal' }).catch(
  (error: unknown) => {
    if (!(error instanceof BusyError)) throw error
    process.stdout.write(`busy ${error.message}\n`)
    process.exit(5)
  },
)
process.stdout.write('ready\n')
const summary = await sync(readJob(orders.job, 'crash.yaml'), {
  store,
  service: SERVICES.generic,
  baseUrl: orders.url,
  key: orders.key,
  now: () => Math.floor(orders.now / 1000),
})
await store.close()
process.stdout.write(`${summary.outcome}\n`)
