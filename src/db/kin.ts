import { openSync, readSync, statSync } from 'node:fs'
import { StoreError } from '../base/errors.ts'

/** A write-ahead log begins with a header; each frame has one, too, before its page: https://www.sqlite.org/fileformat2.html#walformat */
const LOG_HEADER = 32
const FRAME_HEADER = 24
const SALT_IN_LOG = 16
const SALT_IN_FRAME = 8

/**
 * Refuses a database beside which the log of another file lies, as when a copy was put in the place of one that was being
 * written when its process was killed: SQLite would write the pages of that log into it. Certain is this: the file was
 * changed after the log, and not by folding the log back, for then it would have a page of it. To be asked by whoever alone
 * writes, before the file is opened.
 */
export function refuseForeignLog(file: string): void {
  const log = statSync(`${file}-wal`, { throwIfNoEntry: false })
  const own = statSync(file, { throwIfNoEntry: false })
  if (!log || !own || log.size <= LOG_HEADER || own.size === 0 || own.mtimeMs <= log.mtimeMs) return
  // Never closed again: that would give back all locks that this process holds on the file.
  const [logHandle, handle] = [openSync(`${file}-wal`, 'r'), openSync(file, 'r')]
  const head = Buffer.alloc(LOG_HEADER)
  readSync(logHandle, head, 0, LOG_HEADER, 0)
  const size = head.readUInt32BE(8)
  if (![512, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536].includes(size)) return
  const salt = head.subarray(SALT_IN_LOG, SALT_IN_LOG + 8)
  const frame = Buffer.alloc(FRAME_HEADER)
  const places = new Map<number, number[]>()
  // Folding back begins with the first page of what may be folded by then: each that was the first so far.
  const firsts: number[] = []
  for (let at = LOG_HEADER; at + FRAME_HEADER + size <= log.size; at += FRAME_HEADER + size) {
    readSync(logHandle, frame, 0, FRAME_HEADER, at)
    if (!frame.subarray(SALT_IN_FRAME, SALT_IN_FRAME + 8).equals(salt)) break
    const number = frame.readUInt32BE(0)
    const known = places.get(number)
    if (known) known.push(at + FRAME_HEADER)
    else places.set(number, [at + FRAME_HEADER])
    if (number < (firsts.at(-1) ?? Number.POSITIVE_INFINITY)) firsts.push(number)
  }
  if (firsts.length === 0) return
  const [page, version] = [Buffer.alloc(size), Buffer.alloc(size)]
  for (const number of firsts) {
    readSync(handle, page, 0, size, (number - 1) * size)
    for (const at of places.get(number)!) {
      readSync(logHandle, version, 0, size, at)
      if (page.equals(version)) return
    }
  }
  throw new StoreError(`Beside the database ${file} lies a write-ahead log that is not its own; nothing was touched.`, {
    hint: `If ${file} was put there from a copy, move ${file}-wal and ${file}-shm away and run the command again. If not, fold the log in with: sqlite3 ${file} "pragma wal_checkpoint"`,
    code: 'foreign-log',
  })
}
