import { InputError } from '../../base/errors.ts'
import { type QueryResult, SEEN } from '../engine.ts'
import { inBlocks } from './blocks.ts'
import type { Connection } from './connection.ts'

type Raw = Connection['raw']

/** Runs a user's own statement; the connection itself cannot write. */
export function query(raw: Raw, sql: string, parameters: Readonly<Record<string, unknown>> = {}): QueryResult {
  const statement = raw.prepare(sql)
  if (!statement.reader)
    throw new InputError('The statement answers no rows; only reading is possible.', {
      hint: 'Give a SELECT statement.',
      code: 'no-rows',
    })
  const bound = Object.keys(parameters).length > 0 ? [parameters] : []
  const rows = inBlocks(
    () =>
      statement
        .raw()
        .safeIntegers()
        .iterate(...bound) as IterableIterator<unknown[]>,
  )
  return { columns: statement.columns().map(({ name, table, type }) => ({ name, table, type })), rows }
}

/** Whole numbers beyond this are not exact as doubles. */
const EXACT = Number.MAX_SAFE_INTEGER

/** Asks the database what the columns of a statement hold, from the first row to the last. */
export function seen(raw: Raw, sql: string, count: number): number[] {
  const names = Array.from({ length: count }, (_, i) => `c${i}`)
  const bits = names.map(
    (name) => `max(typeof(${name}) = 'integer') * ${SEEN.integer} + max(typeof(${name}) = 'real') * ${SEEN.real}
      + max(typeof(${name}) in ('text', 'blob')) * ${SEEN.text}
      + max(typeof(${name}) = 'integer' and ${name} not between -${EXACT} and ${EXACT}) * ${SEEN.huge}`,
  )
  const plain = sql.trim().replace(/;+\s*$/, '')
  const statement = raw.prepare(`with q(${names.join(', ')}) as (${plain}\n) select ${bits.join(', ')} from q`)
  return (statement.raw().get() as (number | null)[]).map((held) => held ?? 0)
}
