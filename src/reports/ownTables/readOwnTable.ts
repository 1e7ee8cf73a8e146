import { readFileSync, statSync } from 'node:fs'
import type { AttachedTable } from '../../db/engine.ts'
import { InputError } from '../../util/errors.ts'
import { guessTypes, type ReadingRules } from './guessTypes.ts'
import { type CsvFile, parseCsv, refuseCsv } from './parseCsv.ts'

/** A column that a recipe reads of a CSV file. Each of its rows must have a number. */
export interface NeededColumn {
  readonly name: string
  /** The bounds of whole numbers; default: any number. */
  readonly whole?: readonly [from: number, to: number]
  /** How to correct wrong values. */
  readonly hint?: string
}

/** A CSV file of the user that a statement reads as a table. */
export interface OwnTable extends ReadingRules {
  readonly name: string
  readonly path: string
  readonly needs?: readonly NeededColumn[] | undefined
}

/** The file is in memory with its values. */
const MAX_MIB = 32

const describeNeed = ({ name, whole }: NeededColumn): string => (whole ? `${name} (${whole.join(' to ')})` : name)
/** Lists the columns that a recipe reads. */
export const listNeeds = (needs: readonly NeededColumn[]): string => needs.map(describeNeed).join(' and ')

/** Refuses a table without a column that the recipe reads, or with a value that is not a number of its kind. */
function checkNeeds(
  file: string,
  csv: CsvFile,
  { columns, rows }: AttachedTable,
  needs: readonly NeededColumn[],
): void {
  const names = columns.map(({ name }) => name.toLowerCase())
  for (const { name } of needs)
    if (!names.includes(name))
      throw new InputError(
        `${file} has no column ${name}; it has: ${columns.map((column) => column.name).join(', ')}.`,
        {
          hint: `The recipe needs the columns ${listNeeds(needs)}.`,
          code: 'bad-csv',
        },
      )
  for (const { name, whole, hint = 'The recipe needs a number in each row.' } of needs) {
    const index = names.indexOf(name)
    const isText = columns[index]!.type !== 'integer' && columns[index]!.type !== 'real'
    const row = rows.findIndex((values) => {
      const value = Number(values[index])
      return (
        isText ||
        values[index] === null ||
        (whole && !(Number.isInteger(value) && value >= whole[0] && value <= whole[1]))
      )
    })
    if (row < 0) continue
    const { line, cells } = csv.rows[row]!
    const expected = whole ? `whole number from ${whole.join(' to ')}` : 'number'
    refuseCsv(
      file,
      `line ${line}, column ${columns[index]!.name}`,
      `${cells[index] ?? 'an empty cell'} is no ${expected}.`,
      hint,
    )
  }
}

/** Reads a CSV file as a table. Throws InputError with the line and column of what cannot be read. */
export function readOwnTable({ name, path, decimal, dates, needs = [] }: OwnTable): AttachedTable {
  const refuse = (message: string, hint: string, cause?: unknown): never => {
    throw new InputError(`Cannot read ${path}: ${message}.`, { hint, code: 'bad-csv', cause })
  }
  try {
    const stat = statSync(path)
    if (!stat.isFile()) refuse('it is not a file', 'Pass a CSV file.')
    if (stat.size > MAX_MIB * 2 ** 20)
      refuse(
        `it has ${(stat.size / 2 ** 20).toFixed(1)} MiB; at most ${MAX_MIB} MiB fit`,
        'Leave out rows and columns that the statement does not need.',
      )
    const csv = parseCsv(path, readFileSync(path))
    const table = guessTypes(path, name, csv, { decimal, dates })
    checkNeeds(path, csv, table, needs)
    return table
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error
    return refuse(error.message, 'Check the path after --with.', error)
  }
}
