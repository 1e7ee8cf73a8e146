import { StoreError } from '../../util/errors.ts'
import { readHead } from '../../util/files/target.ts'
import { TABLE_NAMES, tableOf } from '../tables/schema.ts'
import { type Connection, connect } from './connection.ts'
import { APPLICATION_ID } from './schema.ts'

/** The index that marks a published copy. Tools do not show it. */
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
 * Whether a database is a published copy that was never opened for writing. Opening it would set bytes 18 and 19 to 2, for the
 * write-ahead log (https://www.sqlite.org/fileformat.html).
 */
export function isPublishedCopy(file: string): boolean {
  const head = readHead(file, 100)
  const isOurs = head.length === 100 && head.readUInt32BE(68) === APPLICATION_ID
  return isOurs && head[18] === 1 && head[19] === 1 && isMarked(file)
}

/** The tables that a published copy lacks; none for any other database. */
function missingTables({ raw }: Connection): (typeof TABLE_NAMES)[number][] {
  const names = new Set(raw.prepare('select name from sqlite_schema').pluck().all() as string[])
  return names.has(COPY_MARK) ? TABLE_NAMES.filter((name) => !names.has(name)) : []
}

/** Whether a database is a published copy that lacks tables. */
export const isPartial = (connection: Connection): boolean => missingTables(connection).length > 0

/** Adds temporary tables for the missing ones of a published copy, so that queries find no rows instead of failing. */
export function addMissingTables(connection: Connection): void {
  const names = missingTables(connection)
  if (names.length === 0) return
  const { raw } = connection
  const queryOnly = raw.pragma('query_only', { simple: true })
  raw.pragma('query_only = off')
  for (const name of names) raw.exec(`create temp table ${name} (${Object.keys(tableOf(name).columns).join(', ')})`)
  raw.pragma(`query_only = ${queryOnly}`)
}

/** Refuses to write a published copy, which lacks bookkeeping. */
export function requireAllTables(connection: Connection, file: string): void {
  if (!isPartial(connection)) return
  throw new StoreError(`${file} is a published copy and therefore read-only.`, {
    hint: 'Pass the original database with --database. Only copies made with --bookkeeping are writable.',
    code: 'published-copy',
  })
}
