import { endWithParent } from '../../base/endWithParent.ts'
import { InputError } from '../../base/errors.ts'
import { allRows } from '../../db/allRows.ts'
import type { Blocks } from '../../db/engine.ts'
import { openReader } from '../../db/open.ts'
import { exactNumber, uniqueNames } from '../../products/cells.ts'
import { isNeeded, type Recipe } from '../../products/recipes/recipe.ts'
import { asAnswerError } from '../../products/statement.ts'
import { examplesOf } from '../../services/examples.ts'
import type { Service } from '../../services/services.ts'
import type { CommonArgs, DatabaseArgs } from '../flags.ts'
import { readSettings } from '../settings/config.ts'
import { called } from '../shell.ts'
import { guarded, guardian } from '../statements/guard.ts'
import { prepare, type Question, type QuestionArgs, questionOf } from '../statements/question.ts'
import type { Parameters } from '../statements/recipeNeeds.ts'
import { EXIT } from '../terminal/fail.ts'
import { type Format, format, print, stream } from '../terminal/output.ts'
import type { ResultRows } from '../terminal/table.ts'
import { cellsOfLine, wrapped } from '../terminal/wrap.ts'

interface QueryArgs extends CommonArgs, DatabaseArgs, QuestionArgs {
  readonly recipes: boolean
  readonly format: Format
  readonly json: boolean
  readonly safe: boolean
  readonly excel: boolean
  /** A table is for people, who do not read a million rows; every other format gets all rows. */
  readonly limit?: number
  readonly timeout: number
}

/** The default limit of rows of a table. */
const TABLE_ROWS = 1000

/** Bytes of memory of the process that answers a statement. */
const MAX_BYTES = 768 * 1024 * 1024

/** The rows of one statement up to the limit; the connection itself cannot write. */
async function* limitRows(rows: Blocks<unknown[]>, limit: number, tooMany: () => void): Blocks<unknown[]> {
  let count = 0
  try {
    for await (const block of rows) {
      const wanted = limit > 0 ? block.slice(0, limit - count) : block
      count += wanted.length
      yield wanted.map((row) => row.map(exactNumber))
      if (wanted.length === block.length) continue
      tooMany()
      return
    }
  } catch (error) {
    throw asAnswerError(error)
  }
}

/** Asks one statement and hands its answer over while the database is open. */
async function printAnswer<T>(
  file: string,
  sql: string,
  parameters: Parameters,
  take: (columns: string[], rows: Blocks<unknown[]>) => Promise<T>,
): Promise<T> {
  const reader = openReader(file)
  try {
    const { columns, rows } = await reader.engine.query(sql, parameters)
    return await take(uniqueNames(columns.map(({ name }) => name)), rows)
  } catch (error) {
    throw asAnswerError(error)
  } finally {
    await reader.close()
  }
}

/** The whole answer of one read-only statement. */
export const runStatement = (file: string, sql: string, parameters: Parameters = {}): Promise<ResultRows> =>
  printAnswer(file, sql, parameters, async (columns, rows) => ({
    columns,
    rows: (await allRows(rows)).map((row) => row.map(exactNumber)),
  }))

/** Prints what it means that a recipe has no rows; returns whether there is nothing more to print. */
function printNoRows(how: Format, nothing: Question['nothing']): boolean {
  if (!nothing) return false
  if (!nothing.answers) throw new InputError(nothing.says, { code: 'nothing-held' })
  if (how === 'table') print(nothing.says)
  else process.stderr.write(`${nothing.says}\n`)
  return how === 'table'
}

const parametersText = (recipe: Recipe): string =>
  Object.entries(recipe.parameters)
    .map(([name, value]) => (value !== null ? `${name}=${value}` : isNeeded(recipe, name) ? `${name}=…` : `[${name}]`))
    .join(' ')

/** `--recipes`: lists the recipes. */
async function listRecipes(service: Service, json: boolean): Promise<void> {
  const { recipesOf } = await import('../../products/recipes/recipes.ts')
  const all = recipesOf(service)
  if (json) return print(JSON.stringify(all, null, 2))
  const cells = cellsOfLine()
  const recipes = all.map((recipe) =>
    [
      recipe.name,
      wrapped(recipe.question, cells, '  '),
      ...(Object.keys(recipe.parameters).length > 0 ? [wrapped(parametersText(recipe), cells, '    ')] : []),
    ].join('\n'),
  )
  const { indicator } = examplesOf(service)
  print(
    `${recipes.join('\n')}\n\nRun one: ${called()} query --recipe daily-average --indicator ${indicator} --from 2025-10-01`,
  )
}

export async function run(args: QueryArgs): Promise<number> {
  // Here `--timeout` is that of the statement, not that of the network.
  const settings = readSettings({ database: args.database })
  const service = settings.service.value
  if (args.recipes) {
    await listRecipes(service, args.json)
    return EXIT.done
  }
  const how = args.json ? 'json' : args.format
  const { safe, excel, timeout, limit = how === 'table' ? TABLE_ROWS : 0 } = args
  if (!(timeout >= 0 && limit >= 0))
    throw new InputError('--timeout and --limit take numbers from 0 on.', { code: 'bad-limit' })
  if (how !== 'csv' && (safe || excel))
    throw new InputError(`--${safe ? 'safe' : 'excel'} goes with CSV.`, { hint: 'Add --format csv.', code: 'usage' })
  const { given, recipe } = await questionOf(args, service)
  const parent = guardian()
  if (parent === null) return guarded(timeout)
  endWithParent(parent, MAX_BYTES)
  const { sql, parameters, nothing, notes } = await prepare(args, settings, given, recipe)
  if (!args.quiet) for (const note of notes) process.stderr.write(`${note}\n`)
  let more = false
  const tooMany = (): void => {
    more = true
  }
  await printAnswer(settings.database.value, sql, parameters, async (columns, rows) => {
    const iterator = limitRows(rows, limit, tooMany)[Symbol.asyncIterator]()
    try {
      const first = await iterator.next()
      if (first.done && printNoRows(how, nothing)) return
      const all = (async function* () {
        if (!first.done) yield first.value
        yield* { [Symbol.asyncIterator]: () => iterator }
      })()
      await stream(format(how, columns, all, { safe, excel }))
    } finally {
      // The database cannot be closed while an answer is read.
      await iterator.return?.()
    }
  })
  if (more && !args.quiet)
    process.stderr.write(`Only the first ${limit === 1 ? 'row' : `${limit} rows`}; --limit 0 shows all.\n`)
  return EXIT.done
}
