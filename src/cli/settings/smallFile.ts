import { closeSync, openSync, readSync } from 'node:fs'
import { InputError } from '../../base/errors.ts'

/** What people write by hand is shorter. */
const MOST_BYTES = 1024 * 1024

/**
 * The text of a small file, which may be a pipe, without a byte order mark. Refuses one that is too large or endless, such as a
 * device. Throws the error of the system.
 */
export function readSmall(file: string, what: string): string {
  const handle = openSync(file, 'r')
  try {
    const bytes = Buffer.allocUnsafe(MOST_BYTES + 1)
    let length = 0
    for (let more = 1; more > 0 && length <= MOST_BYTES; length += more)
      more = readSync(handle, bytes, length, MOST_BYTES + 1 - length, null)
    if (length > MOST_BYTES) throw new InputError(`${file} is over 1 MiB, which no ${what} is.`, { code: 'huge-file' })
    return bytes.toString('utf8', 0, length).replace(/^\uFEFF/, '')
  } finally {
    closeSync(handle)
  }
}
