import { rmSync } from 'node:fs'

/** Files that SQLite keeps beside a database; left behind, they would be taken for those of the next file of that name. */
const BESIDE = ['-wal', '-shm', '-journal'] as const

/** Removes a database of our own making that nobody has open, with all that belongs to it. */
export function removeDatabase(file: string): void {
  for (const end of ['', ...BESIDE]) rmSync(`${file}${end}`, { force: true })
}
