import { writeSync } from 'node:fs'
import { StoreError } from '../../util/errors.ts'
import { asWriteError } from '../../util/files/target.ts'
import { describeError, EXIT, exitCodeFor } from './fail.ts'

/**
 * Makes stdout write everything if it is a file. Node writes with one call and ignores that a full disk or a size limit took only
 * the beginning. A second call writes the rest, or fails with the reason.
 */
function writeAll(output: NodeJS.WriteStream): void {
  if (output.constructor.name !== 'SyncWriteStream') return
  output._write = (chunk: Buffer, _encoding, done) => {
    try {
      for (let written = 0; written < chunk.length; ) written += writeSync(1, chunk, written)
      done()
    } catch (error) {
      done(error as Error)
    }
  }
}

let endsWithOutput = false

/** Exits when the output is closed: for commands that only write, or never end. */
export function endWithOutput(): void {
  endsWithOutput = true
}

/**
 * Handles output that cannot be written. A reader that leaves early, like `head`, or a closed terminal is not a failure: the command
 * continues without output, or exits with 0 (`endWithOutput`). A full disk is an error. Errors of stderr are ignored.
 */
export function watchOutput(): void {
  endsWithOutput = false
  writeAll(process.stdout)
  process.stderr.on('error', () => undefined)
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE' || (error.code === 'EIO' && process.stdout.isTTY)) {
      if (endsWithOutput) process.exit(EXIT.done)
      return
    }
    const outputError = asOutputError(error)
    process.stderr.write(`${describeError(outputError)}\n`)
    process.exit(exitCodeFor(outputError))
  })
}

/** Turns an error of writing into one that says why the output could not be written. */
export function asOutputError(cause: unknown): unknown {
  const error = asWriteError(cause, 'The output')
  if (!(error instanceof StoreError)) return error
  return new StoreError(error.message, { hint: 'Free disk space and run the command again.', code: error.code, cause })
}
