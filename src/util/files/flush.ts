import { closeSync, fsyncSync, openSync } from 'node:fs'

/** Flushes a complete file to the disk. Windows flushes only files that are open for writing. */
export function flushFile(path: string, flags = 'r+'): void {
  const handle = openSync(path, flags)
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/** Flushes the entries of a folder to the disk. */
export function flushFolder(path: string): void {
  try {
    flushFile(path, 'r')
  } catch {
    // Windows and some file systems do not support this.
  }
}
