import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads'
import type { BoundValues, Store } from '../../support/testStore.ts'
import { portable } from './portable.ts'

/*
 * Executes queries of tests synchronously, as with a file: another thread queries the server while this one waits.
 * Queries are written for SQLite.
 */

/** A query for the thread. */
export interface Question {
  readonly address: string
  readonly sql: string
}

/** Its result. */
export type Answer =
  | { readonly rows: Record<string, unknown>[]; readonly columns: string[]; readonly count: number }
  | { readonly error: string }

/** Restores bytes, which lose their type between threads, and milliseconds of timestamps. */
const asRead = (row: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name, readValue(name, value)]))

function readValue(name: string, value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value)
  return name === 'at_utc' ? String(value).replace('.000Z', 'Z') : value
}

let asking: { ask(question: Question): Exclude<Answer, { error: string }> } | undefined

function begin() {
  const { port1, port2 } = new MessageChannel()
  const signal = new Int32Array(new SharedArrayBuffer(4))
  const worker = new Worker(new URL('atOnceWorker.ts', import.meta.url), {
    workerData: { port: port2, signal },
    transferList: [port2],
  })
  worker.unref()
  port1.unref()
  return {
    ask(question: Question) {
      Atomics.store(signal, 0, 0)
      port1.postMessage(question)
      // The notification of the previous result may arrive late.
      while (Atomics.load(signal, 0) === 0) Atomics.wait(signal, 0, 0)
      const answer = receiveMessageOnPort(port1)!.message as Answer
      if ('error' in answer) throw new Error(`${answer.error}: ${question.sql}`)
      return { ...answer, rows: answer.rows.map(asRead) }
    },
  }
}

function literal(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (typeof value === 'number' || typeof value === 'bigint')
    return Number.isInteger(Number(value)) ? `(${value})::bigint` : `('${value}')::float8`
  if (value instanceof Uint8Array) return `'\\x${Buffer.from(value).toString('hex')}'::bytea`
  return `(e'${String(value).replaceAll('\0', '\uFFFD').replaceAll('\\', '\\\\').replaceAll("'", "\\'")}')::text`
}

/** Inserts the values of parameters into a statement. */
function written(sql: string, parameters: BoundValues): string {
  let nth = 0
  const list = Array.isArray(parameters) ? (parameters as readonly unknown[]) : []
  const named = parameters as Readonly<Record<string, unknown>>
  const text = sql.replace(/'(?:[^']|'')*'|\?/g, (part) => (part === '?' ? literal(list[nth++]) : part))
  return portable(text, (name) => (Object.hasOwn(named, name) ? literal(named[name]) : `:${name}`))
}

const values = ({ rows, columns }: { rows: Record<string, unknown>[]; columns: string[] }): unknown[][] =>
  rows.map((row) => columns.map((column) => row[column]))

/** Returns the synchronous part of a database. */
export function askAtOnce(address: string): Pick<Store, 'get' | 'all' | 'rows' | 'each' | 'run'> {
  const query = (sql: string, parameters: BoundValues = []) => {
    asking ??= begin()
    return asking.ask({ address, sql: written(sql, parameters) })
  }
  return {
    get: (sql, parameters) => values(query(sql, parameters))[0]?.[0],
    all: (sql, parameters) => query(sql, parameters).rows,
    rows: (sql, parameters) => values(query(sql, parameters))[Symbol.iterator](),
    each: (sql, parameters) => query(sql, parameters).rows[Symbol.iterator](),
    run: (sql, parameters) => query(sql, parameters).count,
  }
}
