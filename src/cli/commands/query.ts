import { DATE_ORDERS, DECIMAL_MARKS } from '../../reports/ownTables/guessTypes.ts'
import { isNeeded, type Recipe } from '../../reports/recipes/recipe.ts'
import { allRecipesFor } from '../../reports/recipes/recipes.ts'
import { runStatement, startStatement } from '../../reports/statements/runner.ts'
import type { Service } from '../../service/service.ts'
import { exampleValues } from '../../service/service.ts'
import { InputError } from '../../util/errors.ts'
import { type Args, programName } from '../command.ts'
import { CSV_FLAGS, DATABASE_FLAG, FORMATS, JSON_FLAG, RANGE_FLAGS } from '../flags.ts'
import { readSettings } from '../settings/config.ts'
import { attachedText, parseOwnTables } from '../statements/ownTables.ts'
import { type Question, readQuestion } from '../statements/readQuestion.ts'
import { EXIT } from '../terminal/fail.ts'
import { type Format, format, print, printResult, stream } from '../terminal/output.ts'
import { EXIT_BY_SIGNAL, STOP_SIGNALS, type StopSignal } from '../terminal/signals.ts'
import { lineWidth, wrapText } from '../terminal/width.ts'

export const positionals = {
  statement: { type: 'string', describe: 'One SELECT statement, or the name of a recipe' },
} as const
export const flags = {
  ...DATABASE_FLAG,
  recipes: { type: 'boolean', default: false, describe: 'List the recipes (stored queries)' },
  param: { type: 'string', array: true, nargs: 1, describe: 'Set a parameter of the statement: name=value' },
  indicator: { type: 'number', describe: 'Set the recipe parameter "indicator"' },
  geo: { type: 'number', describe: 'Set the recipe parameter "geo"' },
  from: { ...RANGE_FLAGS.from, describe: 'Set the parameter :from, a day or instant' },
  to: { ...RANGE_FLAGS.to, describe: 'Set the parameter :to, exclusive' },
  with: { type: 'string', array: true, nargs: 1, describe: 'Read a CSV file as a table: costs.csv, name=costs.csv' },
  decimal: {
    choices: DECIMAL_MARKS,
    defaultDescription: 'as the numbers tell',
    describe: 'Set the decimal mark of the CSV files',
  },
  dates: {
    choices: DATE_ORDERS,
    defaultDescription: 'as the days tell',
    describe: 'Set the order of 01/02/2026 in CSV files',
  },
  format: { choices: FORMATS, default: 'table', describe: 'Set the output format' },
  ...JSON_FLAG,
  ...CSV_FLAGS,
  limit: {
    type: 'number',
    describe: 'Set the maximum number of rows (0 = all)',
    defaultDescription: '1000 in a table',
  },
  timeout: { type: 'number', default: 60, describe: 'Set the timeout in seconds (0 = none)' },
} as const
export const examples = [
  'query "select at_local, indicator_name, geo_name, value, unit from latest" --database data/demo.db',
  'query daily-average --indicator 600 --from -7d --database data/demo.db',
  'query "select local_date, avg, eur from observations_daily join costs on day = local_date" --with costs.csv',
]
export const endsWithOutput = true

type QueryArgs = Args<typeof flags, typeof positionals>

/** The default limit of rows of a table, which is in memory as a whole, and its limit of characters. */
const TABLE_ROWS = 1000
const TABLE_CHARACTERS = 100_000_000

/** Prints the message of a recipe for an empty result; returns true if no table follows. */
function printEmpty(name: Format, { message, isResult }: NonNullable<Question['empty']>): boolean {
  if (!isResult) throw new InputError(message, { code: 'nothing-stored' })
  if (name === 'table') print(message)
  else process.stderr.write(`${message}\n`)
  return name === 'table'
}

function parameterText(recipe: Recipe, name: string, value: unknown): string {
  if (value !== null) return `${name}=${value}`
  return isNeeded(recipe, name) ? `${name}=…` : `[${name}]`
}

const parametersText = (recipe: Recipe): string =>
  Object.entries(recipe.parameters)
    .map(([name, value]) => parameterText(recipe, name, value))
    .join(' ')

/** `--recipes`: lists the recipes. */
function printRecipes(service: Service, args: QueryArgs): void {
  const recipes = allRecipesFor(service)
  const cells = lineWidth()
  const lines = recipes.flatMap((recipe) => [
    recipe.name,
    wrapText(recipe.question, cells, '  '),
    ...(Object.keys(recipe.parameters).length > 0 ? [wrapText(parametersText(recipe), cells, '    ')] : []),
  ])
  const { indicator } = exampleValues(service)
  const example = `Run one: ${programName()} query daily-average --indicator ${indicator} --from 2025-10-01`
  printResult(args, recipes, `${lines.join('\n')}\n\n${example}`)
}

export async function handler(args: QueryArgs): Promise<number> {
  const settings = readSettings(args)
  if (args.recipes) {
    printRecipes(settings.service.value, args)
    return EXIT.done
  }
  const name = args.json ? 'json' : args.format
  const { safe, excel, timeout, limit = name === 'table' ? TABLE_ROWS : 0 } = args
  for (const [flag, value] of Object.entries({ timeout, limit }))
    if (!(value >= 0))
      throw new InputError(`--${flag} ${value} is not valid; expected 0 or more.`, { code: 'bad-limit' })
  if (name !== 'csv' && (safe || excel))
    throw new InputError(`--${safe ? 'safe' : 'excel'} only works with CSV.`, {
      hint: 'Add --format csv.',
      code: 'usage',
    })
  const { decimal, dates } = args
  const prepareQuestion = readQuestion(args, settings, parseOwnTables(args.with ?? [], { decimal, dates }))
  // A signal also ends the process of the statement.
  const exit = (signal: StopSignal) => process.exit(EXIT_BY_SIGNAL[signal])
  for (const signal of STOP_SIGNALS) process.on(signal, exit)
  try {
    // The process of the statement starts while the recipe is prepared.
    const statement = startStatement()
    const { sql, parameters, empty, notes, ownTables } = await prepareQuestion()
    if (!args.quiet) for (const note of notes) process.stderr.write(`${note}\n`)
    const limits = {
      ...(timeout > 0 && { ms: timeout * 1000 }),
      ...(limit > 0 && { rows: limit }),
      ...(name === 'table' && { bytes: TABLE_CHARACTERS }),
    }
    const request = { file: settings.database.value, sql, parameters, ownTables }
    const result = await runStatement(statement, request, limits)
    if (!args.quiet) for (const table of result.attached) process.stderr.write(`${attachedText(table)}\n`)
    const blocks = result.rows[Symbol.asyncIterator]()
    const first = await blocks.next()
    if (first.done && empty && printEmpty(name, empty)) return EXIT.done
    const rows = (async function* () {
      if (!first.done) yield first.value
      yield* { [Symbol.asyncIterator]: () => blocks }
      if (result.cut() === 'bytes')
        throw new InputError('The table is too large (more than 100 MB).', {
          hint: 'Select less at once: fewer rows with --limit, or fewer columns. --format csv has no such limit.',
          code: 'no-memory',
        })
    })()
    const columns = result.columns.map((column) => column.name)
    await stream(format(name, columns, rows, { safe, excel }))
    if (result.cut() === 'rows' && !args.quiet)
      process.stderr.write(`Showing the first ${limit === 1 ? 'row' : `${limit} rows`}. Use --limit 0 to show all.\n`)
  } finally {
    for (const signal of STOP_SIGNALS) process.off(signal, exit)
  }
  return EXIT.done
}
