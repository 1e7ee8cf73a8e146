import { closeSync, existsSync, mkdirSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  type Clock,
  type ExportColumn,
  type Exported,
  type ExportQuestion,
  exportLong,
  exportWide,
  yearsOf,
} from '../audit/export.ts'
import { InputError } from '../base/errors.ts'
import { EARLIEST, formatMillis, LATEST } from '../base/instant.ts'
import { startOfDate } from '../base/zone.ts'
import { openReader, type Reader } from '../db/open.ts'
import { readSettings } from './config.ts'
import { EXIT } from './fail.ts'
import type { CommonArgs, DatabaseArgs, RangeArgs } from './flags.ts'
import { instantOf, rangeOf } from './jobs.ts'
import { format, grouped, stream } from './output.ts'
import { asInputError } from './query.ts'
import { version } from './version.ts'

interface ExportArgs extends CommonArgs, DatabaseArgs, RangeArgs {
  readonly indicator?: number[]
  readonly geo?: number[]
  readonly sql?: string
  readonly asOf?: string
  readonly wide: boolean
  readonly time: Clock
  readonly partition?: 'year'
  readonly format: 'csv' | 'ndjson' | 'parquet'
  readonly output?: string
}

const ZONE = 'Europe/Madrid'

const refuse = (message: string, hint: string): never => {
  throw new InputError(message, { hint, code: 'bad-export' })
}

/** Flags that do not go together, with what to do. */
function checkFlags(args: ExportArgs): void {
  if ((args.sql === undefined) === (args.indicator === undefined))
    refuse(
      'Say what to export: either --indicator or --sql.',
      'indicator-sync export --indicator 600 --output spot.csv',
    )
  if (args.sql !== undefined && (args.wide || args.asOf || args.partition || args.geo || args.from || args.to))
    refuse(
      '--sql says everything itself: --wide, --as-of, --partition, --geo, --from and --to go with --indicator.',
      'Put the condition into the statement.',
    )
  if (args.output === undefined && (args.format === 'parquet' || args.partition))
    refuse(`${args.partition ? '--partition' : 'Parquet'} goes into a file.`, 'Name it: --output FILE.')
}

/** The answer of a statement; a column is a number when its first values are. */
function exportSql(db: ReturnType<typeof openReader>, sql: string): Exported {
  const statement = db.raw.prepare(sql)
  if (!statement.reader) refuse('The statement answers no rows; only reading is possible.', 'Give a SELECT statement.')
  const rows = statement.raw().iterate() as IterableIterator<unknown[]>
  const seen: unknown[][] = []
  for (let next = rows.next(); !next.done; next = rows.next()) {
    seen.push(next.value)
    if (seen.length === 1_000) break
  }
  const columns = statement.columns().map(({ name, type }, i): ExportColumn => {
    const values = seen.map((row) => row[i]).filter((value) => value !== null)
    const numbers = values.length > 0 && values.every((value) => typeof value === 'number')
    // A sum may be whole at first: only a column of a table is known to stay so.
    return { name, type: numbers ? (type?.toLowerCase() === 'integer' ? 'integer' : 'real') : 'text' }
  })
  function* all(): Generator<unknown[]> {
    try {
      yield* seen
      yield* rows
    } finally {
      rows.return?.()
    }
  }
  return { columns, rows: all() }
}

/** Counts rows on their way. */
function* counted(rows: Iterable<readonly unknown[]>, count: { rows: number }): Generator<readonly unknown[]> {
  for (const row of rows) {
    count.rows++
    yield row
  }
}

/** Writes one file; answers how many rows. The database is asked when the file is open. */
async function writeFile(file: string, ask: () => Exported, how: ExportArgs['format']): Promise<number> {
  const count = { rows: 0 }
  const handle = openSync(file, 'wx')
  try {
    const exported = ask()
    if (how === 'parquet') {
      const { writeParquet } = await import('./parquet.ts')
      await writeParquet(handle, { ...exported, rows: counted(exported.rows, count) }, `indicator-sync ${version()}`)
      return count.rows
    }
    const names = exported.columns.map(({ name }) => name)
    let text = ''
    for (const piece of format(how, names, counted(exported.rows, count))) {
      text += piece
      if (text.length < 1 << 20) continue
      writeSync(handle, text)
      text = ''
    }
    writeSync(handle, text)
  } finally {
    closeSync(handle)
  }
  return count.rows
}

/** Makes a file or folder beside its place and puts it there when it is whole. */
async function atomically<T>(output: string, make: (beside: string) => Promise<T>): Promise<T> {
  const beside = `${output}.${process.pid}.part`
  const old = `${output}.${process.pid}.old`
  try {
    const done = await make(beside)
    const replaces = statSync(output, { throwIfNoEntry: false })?.isDirectory() ?? false
    if (replaces) renameSync(output, old)
    renameSync(beside, output)
    return done
  } catch (error) {
    if (error instanceof Error && 'code' in error && 'path' in error)
      throw new InputError(`${output} cannot be written: ${error.code}.`, { code: 'cannot-write', cause: error })
    throw error
  } finally {
    if (!existsSync(output) && existsSync(old)) renameSync(old, output)
    for (const path of [beside, old]) rmSync(path, { recursive: true, force: true })
  }
}

/** A folder a year, `year=2025/data.csv`, as DuckDB, pandas and Arrow read it; years are local. */
async function writeYears(db: Reader, folder: string, question: ExportQuestion, args: ExportArgs): Promise<number> {
  mkdirSync(folder)
  const years = yearsOf(db, question)
  let total = 0
  for (let year = years?.first ?? 1; years && year <= years.last; year++) {
    const from = Math.max(question.from, startOfDate(ZONE, `${year}-01-01`)!)
    const to = Math.min(question.to, startOfDate(ZONE, `${year + 1}-01-01`)!)
    if (from >= to) continue
    const file = join(folder, `year=${year}`, `data.${args.format}`)
    mkdirSync(dirname(file))
    const rows = await writeFile(file, () => exportValues(db, { ...question, from, to }, args), args.format)
    if (rows === 0) rmSync(dirname(file), { recursive: true })
    total += rows
  }
  return total
}

const exportValues = (db: Reader, question: ExportQuestion, { wide, time }: ExportArgs): Exported =>
  wide ? exportWide(db, question, time) : exportLong(db, question, time)

/** What `--indicator` and its companions mean. */
function questionOf(args: ExportArgs): ExportQuestion {
  const now = Math.floor(Date.now() / 1000)
  const range = rangeOf(args, ZONE, now)
  return {
    indicators: args.indicator ?? [],
    geos: args.geo ?? [],
    from: Math.max(range?.from ?? EARLIEST, EARLIEST),
    to: Math.min(range?.to ?? LATEST, LATEST),
    asOf: args.asOf === undefined ? null : formatMillis(instantOf('as-of', args.asOf, ZONE, now) * 1000),
  }
}

export async function run(args: ExportArgs): Promise<number> {
  checkFlags(args)
  const question = questionOf(args)
  const reader = openReader(readSettings(args).database.value)
  try {
    const exported = (): Exported =>
      args.sql === undefined ? exportValues(reader, question, args) : exportSql(reader, args.sql)
    const { output } = args
    const count = { rows: 0 }
    if (output === undefined) {
      const { columns, rows } = exported()
      const names = columns.map(({ name }) => name)
      await stream(format(args.format as 'csv' | 'ndjson', names, counted(rows, count)))
    } else
      count.rows = await atomically(output, (beside) =>
        args.partition ? writeYears(reader, beside, question, args) : writeFile(beside, exported, args.format),
      )
    if (!args.quiet) process.stderr.write(`${grouped(count.rows)} rows${output ? ` in ${output}` : ''}.\n`)
    return EXIT.done
  } catch (error) {
    throw asInputError(error)
  } finally {
    reader.raw.close()
  }
}
