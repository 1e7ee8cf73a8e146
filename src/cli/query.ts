import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { InputError, StoppedError } from '../base/errors.ts'
import { didYouMean } from '../base/suggest.ts'
import { openReader } from '../db/open.ts'
import type { Recipe } from '../recipes/recipe.ts'
import { readSettings } from './config.ts'
import { EXIT } from './fail.ts'
import type { CommonArgs, DatabaseArgs } from './flags.ts'
import { type Format, format, print, type Result, stream, table } from './output.ts'

interface QueryArgs extends CommonArgs, DatabaseArgs {
  readonly sql?: string
  readonly recipe?: string
  readonly recipes: boolean
  readonly param?: string[]
  readonly indicator?: number
  readonly geo?: number
  readonly from?: string
  readonly to?: string
  readonly format: Format
  readonly json: boolean
  readonly limit: number
  readonly timeout: number
}

type Parameters = Readonly<Record<string, string | number | null>>

/** SQLite's own words for what is wrong with a statement, as ours. */
export function asInputError(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  if ('code' in error && String(error.code) === 'SQLITE_READONLY')
    return new InputError('A query only reads; this statement writes.', { code: 'no-writing', cause: error })
  if ('code' in error && String(error.code).startsWith('SQLITE_ERROR'))
    return new InputError(`SQL: ${error.message}.`, {
      hint: 'docs/schema.md lists tables, views and columns; so does `select * from data_dictionary`.',
      code: 'bad-sql',
    })
  if ((error instanceof RangeError || error instanceof TypeError) && /parameter/i.test(error.message))
    return new InputError(`${error.message}.`, {
      hint: 'Give each :name of the statement a value: --param name=value.',
      code: 'missing-parameter',
    })
  if (error instanceof RangeError)
    return new InputError('Give one statement at a time.', { code: 'several-statements', cause: error })
  return error
}

/** The rows of one statement, one by one; the connection itself cannot write. */
function* rowsOf(rows: IterableIterator<unknown[]>, limit: number, tooMany: () => void): Generator<unknown[]> {
  let told = 0
  try {
    for (const row of rows) {
      if (limit > 0 && told === limit) {
        tooMany()
        return
      }
      told++
      yield row
    }
  } catch (error) {
    throw asInputError(error)
  }
}

/** Asks one statement and hands its answer over while the database is open. */
async function answer<T>(
  file: string,
  sql: string,
  parameters: Parameters,
  take: (columns: string[], rows: IterableIterator<unknown[]>) => Promise<T> | T,
): Promise<T> {
  const reader = openReader(file)
  try {
    const statement = reader.raw.prepare(sql)
    if (!statement.reader)
      throw new InputError('The statement answers no rows; only reading is possible.', { code: 'no-rows' })
    const bound = Object.keys(parameters).length > 0 ? [parameters] : []
    const rows = statement.raw().iterate(...bound) as IterableIterator<unknown[]>
    return await take(
      statement.columns().map(({ name }) => name),
      rows,
    )
  } catch (error) {
    throw asInputError(error)
  } finally {
    reader.raw.close()
  }
}

/** The whole answer of one read-only statement. */
export const ask = (file: string, sql: string, parameters: Parameters = {}): Promise<Result> =>
  answer(file, sql, parameters, (columns, rows) => ({ columns, rows: [...rows] }))

/** `--param name=value`: what looks like a number is one. */
function readParameter(text: string): [string, string | number] {
  const [, name, value] = /^[:@$]?(\w+)=(.*)$/s.exec(text) ?? []
  if (name === undefined || value === undefined)
    throw new InputError(`--param ${JSON.stringify(text)} has no value.`, {
      hint: 'Write --param name=value.',
      code: 'bad-parameter',
    })
  return [name, /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value]
}

/** What is asked: the statement of the user, or a recipe with its parameters. */
async function questionOf(args: QueryArgs): Promise<{ sql: string; parameters: Parameters }> {
  const { indicator, geo, from, to } = args
  const flags = Object.entries({ indicator, geo, from, to }).filter(([, value]) => value !== undefined)
  const given = {
    ...Object.fromEntries((args.param ?? []).map(readParameter)),
    ...Object.fromEntries(flags),
  } as Parameters
  if ((args.sql === undefined) === (args.recipe === undefined))
    throw new InputError('Give either a statement or the name of a recipe.', {
      hint: 'indicator-sync query "select * from latest", or query --recipe daily-average; --recipes lists them.',
      code: 'no-question',
    })
  if (args.sql !== undefined) return { sql: args.sql, parameters: given }
  const { RECIPES } = await import('../recipes/recipes.ts')
  const names = RECIPES.map(({ name }) => name)
  const recipe = RECIPES.find(({ name }) => name === args.recipe)
  if (!recipe)
    throw new InputError(`There is no recipe ${JSON.stringify(args.recipe)}.${didYouMean(args.recipe!, names)}`, {
      hint: `There are: ${names.join(', ')}.`,
      code: 'no-recipe',
    })
  const unknown = Object.keys(given).find((name) => !(name in recipe.parameters))
  if (unknown)
    throw new InputError(
      `The recipe ${recipe.name} has no parameter ${unknown}.${didYouMean(unknown, Object.keys(recipe.parameters))}`,
      { hint: `It has: ${Object.keys(recipe.parameters).join(', ') || 'none'}.`, code: 'bad-parameter' },
    )
  return { sql: recipe.sql, parameters: { ...recipe.parameters, ...given } }
}

const told = (parameters: Recipe['parameters']): string =>
  Object.entries(parameters)
    .map(([name, value]) => (value === null ? `[${name}]` : `${name}=${value}`))
    .join(' ')

/** `--recipes`: what there is. */
async function listRecipes(json: boolean): Promise<void> {
  const { RECIPES } = await import('../recipes/recipes.ts')
  if (json) return print(JSON.stringify(RECIPES, null, 2))
  const rows = RECIPES.map(({ name, asks, parameters }) => [name, asks, told(parameters)])
  print(
    `${table({ columns: ['recipe', 'asks', 'parameters'], rows })}\n\nRun one: indicator-sync query --recipe daily-average --indicator 600 --from 2025-10-01`,
  )
}

/** Tells the guarded process that it is. */
const GUARDED = 'INDICATOR_SYNC_GUARDED'

/**
 * Runs the same command in a process that can be ended in the middle of a statement, which nothing inside can do:
 * SQLite answers to nobody while it looks for the first row.
 */
async function guarded(seconds: number): Promise<number> {
  const child = spawn(process.execPath, [...process.execArgv, ...process.argv.slice(1)], {
    stdio: 'inherit',
    env: { ...process.env, [GUARDED]: '1' },
  })
  let late = false
  const timer = setTimeout(() => {
    late = true
    child.kill('SIGKILL')
  }, seconds * 1000)
  // Both get Ctrl-C; the child ends by it, and then so do we. What ends only us is passed on.
  const wait = () => undefined
  const pass = () => child.kill('SIGTERM')
  process.on('SIGINT', wait)
  process.on('SIGTERM', pass)
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
  clearTimeout(timer)
  process.off('SIGINT', wait)
  process.off('SIGTERM', pass)
  if (late)
    throw new StoppedError(`The query took longer than ${seconds} s and was ended.`, {
      hint: 'Ask less (where series_id = …, indicator_id = …), or allow more: --timeout 600, or 0 for no limit.',
      code: 'timeout',
    })
  return code ?? (signal === 'SIGINT' ? EXIT.sigint : EXIT.sigterm)
}

export async function run(args: QueryArgs): Promise<number> {
  if (args.recipes) {
    await listRecipes(args.json)
    return EXIT.done
  }
  if (!(args.timeout >= 0 && args.limit >= 0))
    throw new InputError('--timeout and --limit take numbers from 0 on.', { code: 'bad-limit' })
  const { sql, parameters } = await questionOf(args)
  if (args.timeout > 0 && !process.env[GUARDED]) return guarded(args.timeout)
  let more = false
  await answer(readSettings(args).database.value, sql, parameters, (columns, rows) =>
    stream(
      format(
        args.json ? 'json' : args.format,
        columns,
        rowsOf(rows, args.limit, () => {
          more = true
        }),
      ),
    ),
  )
  if (more && !args.quiet) process.stderr.write(`Only the first ${args.limit} rows; --limit 0 shows all.\n`)
  return EXIT.done
}
