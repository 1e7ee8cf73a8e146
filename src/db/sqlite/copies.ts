import { StoreError } from '../../util/errors.ts'
import { readHead } from '../../util/files/target.ts'
import { TABLE_NAMES, tableOf } from '../tables/schema.ts'
import { type Connection, connect } from './connection.ts'
import { APPLICATION_ID } from './schema.ts'

/** The index that marks a copy that `publish` made: no tool shows it. */
export const COPY_MARK = '_publication'

/** Whether a database has the mark. */
function isMarked(file: string): boolean {
  const { raw } = connect(file, { readonly: true })
  try {
    return raw.prepare('select 1 from sqlite_schema where name = ?').get(COPY_MARK) !== undefined
  } catch {
    return false
  } finally {
    raw.close()
  }
}

/**
 * Whether a database is a published copy. Bytes 18 and 19 of its head (https://www.sqlite.org/fileformat.html) are 2 in a
 * database with a write-ahead log: a copy that this program has opened for writing is a live database.
 */
export function isPublishedCopy(file: string): boolean {
  const head = readHead(file, 100)
  const isOurs = head.length === 100 && head.readUInt32BE(68) === APPLICATION_ID
  return isOurs && head[18] === 1 && head[19] === 1 && isMarked(file)
}

/** The tables that a published copy does not have; none where the database is not a copy. */
function missing({ raw }: Connection): (typeof TABLE_NAMES)[number][] {
  const there = new Set(raw.prepare('select name from sqlite_schema').pluck().all() as string[])
  return there.has(COPY_MARK) ? TABLE_NAMES.filter((name) => !there.has(name)) : []
}

/** Whether a database is a published copy without tables that this program has. */
export const isPartial = (connection: Connection): boolean => missing(connection).length > 0

/** A published copy lacks bookkeeping that its views do not need: a query for it finds no rows, rather than an error. */
export function addStandIns(connection: Connection): void {
  const names = missing(connection)
  if (names.length === 0) return
  const { raw } = connection
  const only = raw.pragma('query_only', { simple: true })
  raw.pragma('query_only = off')
  // Only of this connection: nothing of it is written to the file.
  for (const name of names) raw.exec(`create temp table ${name} (${Object.keys(tableOf(name).columns).join(', ')})`)
  raw.pragma(`query_only = ${only}`)
}

/** Refuses to write a published copy: what a run must know is not in it. */
export function checkWhole(connection: Connection, file: string): void {
  if (!isPartial(connection)) return
  throw new StoreError(`${file} is a published copy and therefore read-only.`, {
    hint: 'Pass the original database with --database. Only copies made with --bookkeeping are writable.',
    code: 'published-copy',
  })
}
