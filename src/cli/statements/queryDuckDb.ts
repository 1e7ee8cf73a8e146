import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { InputError } from '../../base/errors.ts'
import { partFileOf, removeStaleParts } from '../../base/files/partFiles.ts'
import { openReader } from '../../db/open.ts'
import { portable } from '../../db/portable.ts'
import { AS_DATABASE, tablesOfLake, withQuotedAt } from '../../lake/duckDbViews.ts'
import { type DuckDb, duckText, duckWords, loadDuckDb } from '../../lake/duckdb.ts'
import { folderPlace } from '../../lake/places/folder.ts'
import { isBucket } from '../../lake/places/place.ts'
import { LAKE_TABLE_NAMES } from '../../lake/schema.ts'
import { syncLake } from '../../lake/sync.ts'
import type { Recipe } from '../../products/recipes/recipe.ts'
import type { Parameters } from './recipeNeeds.ts'

/** Where a lake lies for as long as a statement takes, when none is named. */
const TEMPORARY_LAKE = join(tmpdir(), 'indicator-sync-lake')

/**
 * Works with a lake in a folder, or with one of the database that goes afterwards: DuckDB itself reads the files of SQLite only by an
 * extension, which does not understand our views.
 */
async function withFolder<T>(lake: string | undefined, file: string, work: (folder: string) => Promise<T>): Promise<T> {
  if (lake !== undefined) {
    if (!isBucket(lake)) return work(lake)
    throw new InputError('--engine duckdb reads lakes in folders.', {
      hint: 'Read a lake in a bucket with DuckDB itself, by its manifest: docs/lake.md has the lines.',
      code: 'usage',
    })
  }
  const folder = partFileOf(TEMPORARY_LAKE)
  removeStaleParts(TEMPORARY_LAKE, Date.now())
  const reader = openReader(file)
  try {
    await syncLake(reader, folderPlace(folder), { program: 'query', now: Date.now })
    return await work(folder)
  } finally {
    await reader.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What only the database has. */
const DATABASE_ONLY = /\b(?:from|join) (?:gaps|freshness|search|news|archive_publications)\b/

/** A recipe as DuckDB understands it, with the values of its parameters in it. */
export function inDuckDb({ name, sql }: Recipe, parameters: Parameters): string {
  if (DATABASE_ONLY.test(sql))
    throw new InputError(`The recipe ${name} needs more than values, which only the database itself has.`, {
      hint: 'Leave out --engine duckdb.',
      code: 'usage',
    })
  return portable(withQuotedAt(sql), (parameter) => {
    const value = parameters[parameter] ?? null
    return typeof value === 'string' ? duckText(value) : String(value)
  })
}

const NUMBER_TYPE = /^(U?(BIG|HUGE)INT|DECIMAL)/

/** A number that came as text, where it is exact as a number. */
function exactOrText(value: unknown): unknown {
  if (typeof value !== 'string') return value
  const number = Number(value)
  return Number.isInteger(number) && !Number.isSafeInteger(number) ? value : number
}

/** After them nothing else can be read or written. */
const LOCKED_DOWN = ['set enable_external_access = false', 'set lock_configuration = true']

interface DuckDbResult {
  readonly columns: string[]
  readonly rows: unknown[][]
  /** Whether there are more rows than were wanted. */
  readonly more: boolean
}

/** The answer of one statement on a lake in a folder; `most` rows at the most, where that is more than 0. */
async function queryLake(
  { DuckDBInstance, StatementType }: DuckDb,
  folder: string,
  sql: string,
  most: number,
  asDatabase: boolean,
): Promise<DuckDbResult> {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  try {
    for (const statement of [...tablesOfLake(folder), ...(asDatabase ? AS_DATABASE : []), ...LOCKED_DOWN])
      await connection.run(statement)
    // An empty statement is an error of another kind.
    const statements = sql.trim() === '' ? null : await connection.extractStatements(sql)
    const prepared = statements?.count === 1 ? await statements.prepare(0) : null
    if (!prepared || ![StatementType.SELECT, StatementType.EXPLAIN].includes(prepared.statementType))
      throw new InputError('Only one statement is taken, and it only reads.', {
        hint: 'Give a SELECT statement.',
        code: 'no-rows',
      })
    const answer = await prepared.stream()
    const numbers = answer.columnTypes().map((type) => NUMBER_TYPE.test(type.toString()))
    const rows: unknown[][] = []
    for await (const chunk of answer.yieldRowsJson())
      for (const row of chunk) {
        if (most > 0 && rows.length === most) return { columns: answer.deduplicatedColumnNames(), rows, more: true }
        rows.push(row.map((value, i) => (numbers[i] ? exactOrText(value) : value)))
      }
    return { columns: answer.deduplicatedColumnNames(), rows, more: false }
  } catch (error) {
    if (error instanceof InputError || !(error instanceof Error)) throw error
    throw new InputError(`DuckDB: ${duckWords(error)}`, {
      hint: `The tables are those of docs/lake.md: ${LAKE_TABLE_NAMES.join(', ')}, and observations.`,
      code: 'bad-statement',
      cause: error,
    })
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

/** The answer of one statement by DuckDB, on the tables of a lake or, as recipes expect, on those of the database; `most` rows at the most, where that is more than 0. */
export async function queryDuckDb(
  { lake, file }: { readonly lake?: string; readonly file: string },
  sql: string,
  most: number,
  asDatabase: boolean,
): Promise<DuckDbResult> {
  const duckDb = await loadDuckDb('--engine duckdb')
  return withFolder(lake, file, (folder) => queryLake(duckDb, folder, sql, most, asDatabase))
}
