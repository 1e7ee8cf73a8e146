import { lstatSync, openSync, readSync, statSync } from 'node:fs'
import { StoreError } from '../../../util/errors.ts'

/** A write-ahead log has a header, and frames of a header and a page: https://www.sqlite.org/fileformat2.html#walformat */
const LOG_HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
const SALT_IN_LOG = 16
const SALT_IN_FRAME = 8

/**
 * Refuses a database with the log of another file, such as after a copy replaced the file of a killed writer: SQLite would write
 * its pages into the database. Then the file is newer than the log, and has no page of it, as it would after a merge. Call it as
 * the only writer, before the file is opened.
 */
export function refuseForeignLog(file: string): void {
  const log = statSync(`${file}-wal`, { throwIfNoEntry: false })
  const stat = statSync(file, { throwIfNoEntry: false })
  if (!log || !stat || log.size <= LOG_HEADER_BYTES || stat.size === 0 || stat.mtimeMs <= log.mtimeMs) return
  // Never closed, because that would release all locks of this process on the file.
  const logHandle = openSync(`${file}-wal`, 'r')
  const handle = openSync(file, 'r')
  const head = Buffer.alloc(LOG_HEADER_BYTES)
  readSync(logHandle, head, 0, LOG_HEADER_BYTES, 0)
  const size = head.readUInt32BE(8)
  if (![512, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536].includes(size)) return
  const salt = head.subarray(SALT_IN_LOG, SALT_IN_LOG + 8)
  const frame = Buffer.alloc(FRAME_HEADER_BYTES)
  const places = new Map<number, number[]>()
  // A merge may have happened at any time, and goes in the order of pages: its first page was the lowest so far.
  const firsts: number[] = []
  for (let at = LOG_HEADER_BYTES; at + FRAME_HEADER_BYTES + size <= log.size; at += FRAME_HEADER_BYTES + size) {
    readSync(logHandle, frame, 0, FRAME_HEADER_BYTES, at)
    if (!frame.subarray(SALT_IN_FRAME, SALT_IN_FRAME + 8).equals(salt)) break
    const number = frame.readUInt32BE(0)
    const offsets = places.get(number)
    if (offsets) offsets.push(at + FRAME_HEADER_BYTES)
    else places.set(number, [at + FRAME_HEADER_BYTES])
    if (number < (firsts.at(-1) ?? Number.POSITIVE_INFINITY)) firsts.push(number)
  }
  if (firsts.length === 0) return
  const page = Buffer.alloc(size)
  const version = Buffer.alloc(size)
  for (const number of firsts) {
    readSync(handle, page, 0, size, (number - 1) * size)
    for (const at of places.get(number)!) {
      readSync(logHandle, version, 0, size, at)
      if (page.equals(version)) return
    }
  }
  throw new StoreError(`The write-ahead log beside ${file} belongs to another database; nothing was changed.`, {
    hint: `If ${file} was restored from a copy, move ${file}-wal and ${file}-shm away and run the command again. If not, merge the log with: sqlite3 ${file} "pragma wal_checkpoint"`,
    code: 'foreign-log',
  })
}

/** The header of a database: https://www.sqlite.org/fileformat2.html#the_database_header */
const HEADER_BYTES = 100
const VERSION_OFFSET = 18
const USER_VERSION = 60
const IN_LOG_MODE = 2

/**
 * Refuses a database of this program with a rollback journal, which such a database never has: SQLite would write its pages into
 * the database, or remove it. Call it before anything opens the file.
 */
export function refuseForeignJournal(file: string): void {
  const journal = `${file}-journal`
  const stat = lstatSync(journal, { throwIfNoEntry: false })
  if (!stat || (stat.isFile() && stat.size === 0)) return
  // Never closed, as above.
  const head = Buffer.alloc(HEADER_BYTES)
  if (readSync(openSync(file, 'r'), head, 0, HEADER_BYTES, 0) < HEADER_BYTES) return
  if (head[VERSION_OFFSET] !== IN_LOG_MODE || head.readUInt32BE(USER_VERSION) === 0) return
  throw new StoreError(`${journal} belongs to another database; nothing was changed.`, {
    hint: `Move ${journal} away and run the command again. If ${file} was a published copy and its first writer was killed, merge the journal instead: sqlite3 ${file} "select 1 from sqlite_schema"`,
    code: 'foreign-journal',
  })
}
