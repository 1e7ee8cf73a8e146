import { writeSync } from 'node:fs'
import { StoreError } from '../../util/errors.ts'
import { asWriteError } from '../../util/files/target.ts'
import { describe, EXIT, exitCodeFor } from './fail.ts'

/**
 * Node writes into a file with one call, and does not notice when there was room for the beginning only, on the disk or within
 * the largest size that is allowed. So the rest is written again, until the system says why it cannot be.
 */
function writeAll(output: NodeJS.WriteStream, handle: number): void {
  if (output.constructor.name !== 'SyncWriteStream') return
  output._write = (chunk: Buffer, _encoding, done) => {
    try {
      for (let at = 0; at < chunk.length; ) at += writeSync(handle, chunk, at)
      done()
    } catch (error) {
      done(error as Error)
    }
  }
}

/** Whether nobody reads any more: the reader of a pipe has left, or the terminal was closed. */
const isUnread = ({ code }: NodeJS.ErrnoException): boolean =>
  code === 'EPIPE' || (code === 'EIO' && process.stdout.isTTY)

let endsWithOutput = false

/** Exits when the output is closed: for commands that only write, or never end. */
export function endWithOutput(): void {
  endsWithOutput = true
}

/**
 * Handles output that cannot be written. A reader of stdout that leaves early, as `head` does, is not a failure: the command
 * continues without output, or exits with 0 (`endWithOutput`). A full disk is an error with a message. An error of stderr is ignored.
 */
export function watchOutput(): void {
  endsWithOutput = false
  writeAll(process.stdout, 1)
  process.stderr.on('error', () => undefined)
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (isUnread(error)) {
      if (endsWithOutput) process.exit(EXIT.done)
      return
    }
    const known = asOutputError(error)
    process.stderr.write(`${describe(known)}\n`)
    process.exit(exitCodeFor(known))
  })
}

/** Why the output could not be written. */
export function asOutputError(error: unknown): unknown {
  const known = asWriteError(error, 'The output')
  return known instanceof StoreError
    ? new StoreError(known.message, {
        hint: 'Free disk space and run the command again.',
        code: known.code,
        cause: error,
      })
    : known
}
