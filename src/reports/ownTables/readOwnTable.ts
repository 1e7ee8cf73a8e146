import { readFileSync, statSync } from 'node:fs'
import type { AttachedTable } from '../../db/engine.ts'
import { InputError } from '../../util/errors.ts'
import { type DecimalMark, guessTypes } from './guessTypes.ts'
import { decodeText, parseCsv } from './parseCsv.ts'

/** A CSV file of the user that a statement reads as a table. */
export interface OwnTable {
  readonly name: string
  readonly path: string
  /** The decimal mark of its numbers. Default: what its numbers tell. */
  readonly decimal?: DecimalMark | undefined
}

/** The file is in memory with its values. */
const MAX_MIB = 32

/** Reads a CSV file as a table. Throws InputError with the line and column of what cannot be read. */
export function readOwnTable({ name, path, decimal }: OwnTable): AttachedTable {
  const refuse = (message: string, hint: string, cause?: unknown): never => {
    throw new InputError(`Cannot read ${path}: ${message}.`, { hint, code: 'bad-csv', cause })
  }
  try {
    const stat = statSync(path)
    if (!stat.isFile()) refuse('it is not a file', 'Pass a CSV file.')
    if (stat.size > MAX_MIB * 1024 * 1024)
      refuse(`it is larger than ${MAX_MIB} MiB`, 'Leave out rows and columns that the statement does not need.')
    return guessTypes(path, name, parseCsv(path, decodeText(readFileSync(path))), decimal)
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error
    return refuse(error.message, 'Check the path after --with.', error)
  }
}
