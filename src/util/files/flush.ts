import { closeSync, fsyncSync, openSync } from 'node:fs'

/** Flushes a complete file to the disk. */
export function flushFile(path: string): void {
  // Windows flushes only what is open for writing.
  const handle = openSync(path, 'r+')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/** Flushes the entries of a folder to the disk. */
export function flushFolder(path: string): void {
  try {
    const handle = openSync(path, 'r')
    try {
      fsyncSync(handle)
    } finally {
      closeSync(handle)
    }
  } catch {
    // Windows and some file systems cannot do this for folders.
  }
}
