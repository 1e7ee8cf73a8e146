import { isNeeded, type Recipe } from '../../reports/recipes/recipe.ts'
import { runStatement, startStatement } from '../../reports/statements/runner.ts'
import { exampleValues } from '../../service/service.ts'
import type { Service } from '../../service/services.ts'
import { InputError } from '../../util/errors.ts'
import type { Args } from '../command.ts'
import { CSV_FLAGS, DATABASE_FLAG, FORMATS, JSON_FLAG, RANGE_FLAGS } from '../flags.ts'
import { called } from '../program.ts'
import { readSettings } from '../settings/config.ts'
import { prepare, type Question, readQuestion } from '../statements/question.ts'
import { EXIT } from '../terminal/fail.ts'
import { type Format, format, print, stream } from '../terminal/output.ts'
import { EXIT_BY_SIGNAL, STOP_SIGNALS, type StopSignal } from '../terminal/signals.ts'
import { cellsOfLine, wrapped } from '../terminal/wrap.ts'

export const positionals = { sql: { type: 'string', describe: 'One SELECT statement' } } as const
export const flags = {
  ...DATABASE_FLAG,
  recipe: { type: 'string', describe: 'Run this recipe (a stored query) instead of SQL' },
  recipes: { type: 'boolean', default: false, describe: 'List the recipes' },
  param: { type: 'string', array: true, nargs: 1, describe: 'Set a parameter of the statement: name=value' },
  indicator: { type: 'number', describe: 'Set the recipe parameter "indicator"' },
  geo: { type: 'number', describe: 'Set the recipe parameter "geo"' },
  from: { ...RANGE_FLAGS.from, describe: 'Set the parameter :from, a day or instant' },
  to: { ...RANGE_FLAGS.to, describe: 'Set the parameter :to, exclusive' },
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
  'query --recipe daily-average --indicator 600 --from -7d --database data/demo.db',
]
export const endsWithOutput = true

type QueryArgs = Args<typeof flags, typeof positionals>

/** The default limit of rows of a table. */
const TABLE_ROWS = 1000

/** Letters of a table, which is in memory as a whole. */
const TABLE_LETTERS = 100_000_000

/** Prints what it means that a recipe has no rows; returns whether there is nothing more to print. */
function printNoRows(how: Format, nothing: Question['nothing']): boolean {
  if (!nothing) return false
  if (!nothing.answers) throw new InputError(nothing.says, { code: 'nothing-stored' })
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
  const { recipesFor } = await import('../../reports/recipes/recipes.ts')
  const all = recipesFor(service)
  if (json) return print(JSON.stringify(all, null, 2))
  const cells = cellsOfLine()
  const recipes = all.map((recipe) =>
    [
      recipe.name,
      wrapped(recipe.question, cells, '  '),
      ...(Object.keys(recipe.parameters).length > 0 ? [wrapped(parametersText(recipe), cells, '    ')] : []),
    ].join('\n'),
  )
  const { indicator } = exampleValues(service)
  print(
    `${recipes.join('\n')}\n\nRun one: ${called()} query --recipe daily-average --indicator ${indicator} --from 2025-10-01`,
  )
}

const tableTooLarge = (): InputError =>
  new InputError('The table is too large (more than 100 MB).', {
    hint: 'Select less at once: fewer rows with --limit, or fewer columns. --format csv has no such limit.',
    code: 'no-memory',
  })

export async function handler(args: QueryArgs): Promise<number> {
  const settings = readSettings(args)
  const service = settings.service.value
  if (args.recipes) {
    await listRecipes(service, args.json)
    return EXIT.done
  }
  const how = args.json ? 'json' : args.format
  const { safe, excel, timeout, limit = how === 'table' ? TABLE_ROWS : 0 } = args
  for (const [flag, value] of Object.entries({ timeout, limit }))
    if (!(value >= 0))
      throw new InputError(`--${flag} ${value} is not valid; expected 0 or more.`, { code: 'bad-limit' })
  if (how !== 'csv' && (safe || excel))
    throw new InputError(`--${safe ? 'safe' : 'excel'} only works with CSV.`, {
      hint: 'Add --format csv.',
      code: 'usage',
    })
  const { given, recipe } = await readQuestion(args, service)
  // A signal ends the process of the statement, too.
  const exit = (name: StopSignal) => process.exit(EXIT_BY_SIGNAL[name])
  for (const name of STOP_SIGNALS) process.on(name, exit)
  try {
    // It starts while the recipe is prepared.
    const statement = startStatement()
    const { sql, parameters, nothing, notes } = await prepare(args, settings, given, recipe)
    if (!args.quiet) for (const note of notes) process.stderr.write(`${note}\n`)
    const limits = {
      ...(timeout > 0 && { ms: timeout * 1000 }),
      ...(limit > 0 && { rows: limit }),
      ...(how === 'table' && { bytes: TABLE_LETTERS }),
    }
    const answer = await runStatement(statement, { file: settings.database.value, sql, parameters }, limits)
    const rows = answer.rows[Symbol.asyncIterator]()
    const first = await rows.next()
    if (first.done && printNoRows(how, nothing)) return EXIT.done
    const all = (async function* () {
      if (!first.done) yield first.value
      yield* { [Symbol.asyncIterator]: () => rows }
      if (answer.cut() === 'bytes') throw tableTooLarge()
    })()
    const names = answer.columns.map(({ name }) => name)
    await stream(format(how, names, all, { safe, excel }))
    if (answer.cut() === 'rows' && !args.quiet)
      process.stderr.write(`Showing the first ${limit === 1 ? 'row' : `${limit} rows`}. Use --limit 0 to show all.\n`)
  } finally {
    for (const name of STOP_SIGNALS) process.off(name, exit)
  }
  return EXIT.done
}
