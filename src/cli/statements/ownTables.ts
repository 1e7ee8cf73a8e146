import { existsSync } from 'node:fs'
import { basename, extname } from 'node:path'
import type { OwnTable } from '../../reports/ownTables/readOwnTable.ts'
import type { AttachedSummary } from '../../reports/statements/runner.ts'
import { InputError } from '../../util/errors.ts'
import { quantity } from '../../util/text.ts'

const NAME = /^[A-Za-z_]\w*$/

/** Parses `--with file.csv` and `--with name=file.csv`. */
function parseOwnTable(text: string, decimal: OwnTable['decimal']): OwnTable {
  const [, given, named] = /^(\w+)=(.+)$/s.exec(text) ?? []
  const path = named ?? text
  const name = given ?? basename(path, extname(path)).replaceAll(/\W+/g, '_').toLowerCase()
  if (!NAME.test(name))
    throw new InputError(`--with ${JSON.stringify(text)} does not give a table name: ${JSON.stringify(name)}.`, {
      hint: 'Write --with NAME=FILE with a name of letters, digits and underscores.',
      code: 'bad-name',
    })
  if (!existsSync(path)) throw new InputError(`--with ${text}: the file ${path} does not exist.`, { code: 'no-file' })
  return { name, path, decimal }
}

/** Parses the values of `--with`; refuses two tables of one name. */
export function parseOwnTables(texts: readonly string[], decimal: OwnTable['decimal']): readonly OwnTable[] {
  const tables = texts.map((text) => parseOwnTable(text, decimal))
  const names = tables.map(({ name }) => name.toLowerCase())
  const repeated = tables.find(({ name }, i) => names.indexOf(name.toLowerCase()) !== i)
  if (repeated)
    throw new InputError(`Two files of --with make the table ${repeated.name}.`, {
      hint: `Write --with NAME=${repeated.path} with another name.`,
      code: 'bad-name',
    })
  return tables
}

/** Says which columns a CSV file has, with their guessed types. */
export const attachedText = ({ name, columns, rows }: AttachedSummary): string =>
  `${name}: ${columns.map((column) => `${column.name} ${column.type}`).join(', ')} (${quantity(rows, 'row')})`
