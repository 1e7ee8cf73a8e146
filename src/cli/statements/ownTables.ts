import { existsSync } from 'node:fs'
import { basename, extname } from 'node:path'
import type { ReadingRules } from '../../reports/ownTables/guessTypes.ts'
import type { OwnTable } from '../../reports/ownTables/readOwnTable.ts'
import type { AttachedSummary } from '../../reports/statements/runner.ts'
import { InputError } from '../../util/errors.ts'
import { quantity, withoutAccents } from '../../util/text.ts'

const NAME = /^[A-Za-z_]\w*$/

/** Parses `--with file.csv` and `--with name=file.csv`. */
function parseOwnTable(text: string, rules: ReadingRules): OwnTable {
  const [, given, named] = /^(\w+)=(.+)$/s.exec(text) ?? []
  const path = named ?? text
  const name = given ?? withoutAccents(basename(path, extname(path))).replaceAll(/\W+/g, '_')
  if (!NAME.test(name))
    throw new InputError(`--with ${JSON.stringify(text)} does not give a table name: ${JSON.stringify(name)}.`, {
      hint: 'Write --with NAME=FILE with a name of letters, digits and underscores.',
      code: 'bad-name',
    })
  if (/^sqlite_/i.test(name))
    throw new InputError(`--with ${text}: names that begin with sqlite_ belong to the database.`, {
      hint: `Write --with NAME=${path} with another name.`,
      code: 'bad-name',
    })
  if (!existsSync(path)) throw new InputError(`--with ${text}: the file ${path} does not exist.`, { code: 'no-file' })
  return { name, path, ...rules }
}

/** Parses the values of `--with`; refuses two tables of one name. */
export function parseOwnTables(texts: readonly string[], rules: ReadingRules): readonly OwnTable[] {
  const tables = texts.map((text) => parseOwnTable(text, rules))
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
