import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { InputError } from '../../base/errors.ts'
import { duckWords, loadDuckDb, quoted } from '../../lake/duckdb.ts'
import { requireManifest } from '../../lake/manifest.ts'

/** Statements that make the tables of a lake views, all of one snapshot, and let nothing else be read or written. */
function viewsOf(lake: string): string[] {
  if (/^s3:/i.test(lake))
    throw new InputError('--engine duckdb asks lakes in folders.', {
      hint: 'Read a lake in a bucket with DuckDB itself, by its manifest: docs/lake.md has the lines.',
      code: 'usage',
    })
  const { folder, tables } = requireManifest(lake)
  const root = realpathSync(join(lake, folder))
  return [
    `set timezone = 'UTC'`,
    ...Object.entries(tables).map(([name, { files, partitioned_by }]) => {
      const list = files.map(({ path }) => quoted(join(root, path))).join(', ')
      return `create view ${name} as from read_parquet([${list}], hive_partitioning = ${partitioned_by.length > 0})`
    }),
    `create view observations as
       select o.*, s.* exclude (series_id), cast(o.at_utc at time zone s.time_zone as date) as local_date
       from observation o join series s using (series_id)`,
    `set allowed_directories = [${quoted(root)}]`,
    'set enable_external_access = false',
    'set lock_configuration = true',
  ]
}

const NUMBERS = /^(U?(BIG|HUGE)INT|DECIMAL)/

/** A number that came as text, where it is exact as a number. */
function lean(value: unknown): unknown {
  if (typeof value !== 'string') return value
  const number = Number(value)
  return Number.isInteger(number) && !Number.isSafeInteger(number) ? value : number
}

/** The answer of one statement on a lake, by DuckDB; `most` rows at the most, where that is more than 0. */
export async function askLake(
  lake: string,
  sql: string,
  most: number,
): Promise<{ readonly columns: string[]; readonly rows: unknown[][]; readonly more: boolean }> {
  const { DuckDBInstance, StatementType } = await loadDuckDb('--engine duckdb')
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  try {
    for (const statement of viewsOf(lake)) await connection.run(statement)
    const statements = await connection.extractStatements(sql)
    const prepared = statements.count === 1 ? await statements.prepare(0) : null
    if (!prepared || ![StatementType.SELECT, StatementType.EXPLAIN].includes(prepared.statementType))
      throw new InputError('Only one statement is taken, and it only reads.', {
        hint: 'Give a SELECT statement.',
        code: 'no-rows',
      })
    const answer = await prepared.stream()
    const numbers = answer.columnTypes().map((type) => NUMBERS.test(type.toString()))
    const rows: unknown[][] = []
    for await (const chunk of answer.yieldRowsJson())
      for (const row of chunk) {
        if (most > 0 && rows.length === most) return { columns: answer.deduplicatedColumnNames(), rows, more: true }
        rows.push(row.map((value, i) => (numbers[i] ? lean(value) : value)))
      }
    return { columns: answer.deduplicatedColumnNames(), rows, more: false }
  } catch (error) {
    if (error instanceof InputError || !(error instanceof Error)) throw error
    throw new InputError(`DuckDB: ${duckWords(error)}`, {
      hint: `The tables are those of docs/lake.md: ${Object.keys(requireManifest(lake).tables).join(', ')}, and observations.`,
      code: 'bad-statement',
      cause: error,
    })
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}
