/**
 * Preloaded into a command (`node --import`) to count its SQLite and file operations and to die by SIGKILL at one of
 * them. `CRASH_AT`: the number of the step, from 1; `CRASH_WHEN`: before, after, or microseconds after its start;
 * `CRASH_COUNT`: a file for the number of all steps.
 */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { isMainThread, Worker } from 'node:worker_threads'
import SQLite from 'better-sqlite3'

const { CRASH_AT, CRASH_WHEN = 'before', CRASH_COUNT } = process.env
const at = Number(CRASH_AT ?? 0)
const micros = Number(CRASH_WHEN)
const die = (): void => {
  process.kill(process.pid, 'SIGKILL')
}
const write = fs.writeFileSync

let steps = 0
const trigger = new Int32Array(new SharedArrayBuffer(4))

/** Runs a step, unless the process dies at it. */
function step<T>(work: () => T): T {
  const now = ++steps === at
  if (now && CRASH_WHEN === 'before') die()
  if (now && micros >= 0) {
    Atomics.store(trigger, 0, 1)
    Atomics.notify(trigger, 0)
  }
  const result = work()
  if (now && CRASH_WHEN === 'after') die()
  // Blocks the process until the kill arrives.
  if (now && micros >= 0) for (;;) Atomics.wait(trigger, 0, 1)
  return result
}

type Method = (this: unknown, ...args: unknown[]) => unknown

/** Turns the calls of a method into steps. */
function watch(object: object, name: string, counts: (self: never) => boolean = () => true): void {
  const methods = object as Record<string, Method>
  const method = methods[name]!
  methods[name] = function (...args) {
    return counts(this as never) ? step(() => method.apply(this, args)) : method.apply(this, args)
  }
}

if (isMainThread) {
  if (at > 0 && micros >= 0)
    // While SQLite blocks this thread, only another thread can end the process.
    new Worker(
      `const { workerData: { trigger, micros } } = require('node:worker_threads')
       Atomics.wait(trigger, 0, 0)
       const end = process.hrtime.bigint() + BigInt(micros) * 1000n
       while (process.hrtime.bigint() < end);
       process.kill(process.pid, 'SIGKILL')`,
      { eval: true, workerData: { trigger, micros } },
    ).unref()
  const plannerState = new SQLite(':memory:')
  const statement = Object.getPrototypeOf(plannerState.prepare('select 1')) as object
  const writes = ({ readonly, source }: { readonly: boolean; source: string }) =>
    !readonly || /^\s*(begin|commit)/i.test(source)
  for (const name of ['run', 'get', 'all']) watch(statement, name, writes)
  watch(SQLite.prototype, 'pragma')
  watch(SQLite.prototype, 'exec')
  watch(SQLite.prototype, 'close')
  plannerState.close()
  for (const name of [
    'renameSync',
    'linkSync',
    'symlinkSync',
    'rmSync',
    'rmdirSync',
    'mkdirSync',
    'writeFileSync',
    'writeSync',
    'openSync',
  ])
    watch(fs, name)
  watch(fs, 'createWriteStream')
  syncBuiltinESMExports()
  if (CRASH_COUNT) process.on('exit', () => write(CRASH_COUNT, String(steps)))
}
