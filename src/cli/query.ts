import { InputError } from '../base/errors.ts'
import { openReader } from '../db/open.ts'
import { readSettings } from './config.ts'
import { EXIT } from './fail.ts'
import type { CommonArgs, DatabaseArgs } from './flags.ts'
import { type Format, format, print, type Result } from './output.ts'

interface QueryArgs extends CommonArgs, DatabaseArgs {
  readonly sql: string
  readonly format: Format
  readonly json: boolean
  readonly limit: number
}

/** The answer of one read-only statement; the connection itself cannot write. */
export function ask(file: string, sql: string, limit = 0): Result & { readonly more: boolean } {
  const reader = openReader(file)
  try {
    const statement = reader.raw.prepare(sql)
    if (!statement.reader)
      throw new InputError('The statement answers no rows; only reading is possible.', { code: 'no-rows' })
    const rows: unknown[][] = []
    let more = false
    for (const row of statement.raw().iterate() as IterableIterator<unknown[]>) {
      if (limit > 0 && rows.length === limit) {
        more = true
        break
      }
      rows.push(row)
    }
    return { columns: statement.columns().map(({ name }) => name), rows, more }
  } catch (error) {
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_ERROR'))
      throw new InputError(`SQL: ${error.message}.`, {
        hint: 'docs/schema.md lists tables, views and columns.',
        code: 'bad-sql',
      })
    if (error instanceof RangeError)
      throw new InputError('Give one statement at a time.', { code: 'several-statements', cause: error })
    throw error
  } finally {
    reader.raw.close()
  }
}

export async function run(args: QueryArgs): Promise<number> {
  const result = ask(readSettings(args).database.value, args.sql, args.limit)
  print(format(result, args.json ? 'json' : args.format))
  if (result.more && !args.quiet) process.stderr.write(`Only the first ${args.limit} rows; --limit 0 shows all.\n`)
  return EXIT.done
}
