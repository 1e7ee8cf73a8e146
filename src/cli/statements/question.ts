import { openReader } from '../../db/open.ts'
import { exactNumber } from '../../reports/cells.ts'
import type { Recipe } from '../../reports/recipes/recipe.ts'
import { parseParameter } from '../../reports/statements/runner.ts'
import type { Service } from '../../service/services.ts'
import { InputError } from '../../util/errors.ts'
import type { Settings } from '../settings/config.ts'
import { findZone, prepareRecipe, recipeNamed, resolveTimes } from './recipe.ts'
import type { Parameters } from './recipeNeeds.ts'

/** What a user gives as a question: a statement, or the name of a recipe, with parameters. */
export interface QuestionArgs {
  readonly sql?: string | undefined
  readonly recipe?: string | undefined
  readonly param?: readonly string[] | undefined
  readonly indicator?: number | undefined
  readonly geo?: number | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/** A whole number as the database knows it: given as a double it would be a real there. */
const wholeNumber = <T>(value: T): T | bigint => (Number.isSafeInteger(value) ? BigInt(value as number) : value)

const each = <T>(parameters: Parameters, change: (value: Parameters[string]) => T): Record<string, T> =>
  Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, change(value)]))

/** `--param name=value`: what looks like a number is one, whole or not. */
function readParameter(text: string): [string, string | number | bigint] {
  const [, name, value] = /^[:@$]?(\w+)=(.*)$/s.exec(text) ?? []
  if (name === undefined || value === undefined)
    throw new InputError(`--param ${JSON.stringify(text)} has no value.`, {
      hint: 'Write --param name=value.',
      code: 'bad-parameter',
    })
  return [name, parseParameter(value)]
}

/** A statement with its parameters; for a recipe also the message for an empty result, and notes. */
export interface Question {
  readonly sql: string
  readonly parameters: Parameters
  readonly nothing?: Recipe['nothing']
  readonly notes: readonly string[]
}

/** What the user gives, as far as it is known without the database. */
export async function readQuestion(
  args: QuestionArgs,
  service: Service,
): Promise<{ given: Parameters; recipe: Recipe | undefined }> {
  const { indicator, geo, from, to } = args
  const flags = Object.entries({ indicator, geo, from, to }).filter(([, value]) => value !== undefined)
  const given = {
    ...Object.fromEntries((args.param ?? []).map(readParameter)),
    ...Object.fromEntries(flags.map(([name, value]) => [name, wholeNumber(value)])),
  } as Parameters
  if ((args.sql === undefined) === (args.recipe === undefined))
    throw new InputError('Pass either an SQL statement or --recipe NAME.', {
      hint: 'indicator-sync query "select at_local, indicator_name, value from latest", or query --recipe daily-average; query --recipes lists them.',
      code: 'no-question',
    })
  if (args.recipe === undefined) {
    for (const name of Object.keys(given))
      if (!new RegExp(`[:@$]${name}\\b`).test(args.sql!))
        throw new InputError(`The statement has no parameter :${name}.`, {
          hint: `Use it in the statement, such as "… where at_utc >= :${name}", or omit it.`,
          code: 'no-parameter',
        })
    return { given, recipe: undefined }
  }
  const { recipesFor } = await import('../../reports/recipes/recipes.ts')
  return { given, recipe: recipeNamed(recipesFor(service), args.recipe) }
}

/** The question in full: borders of time as days or instants, a recipe's series found. */
export async function prepare(
  args: QuestionArgs,
  settings: Settings,
  given: Parameters,
  recipe: Recipe | undefined,
): Promise<Question> {
  const now = Math.floor(Date.now() / 1000)
  const { from, to } = args
  if (!recipe && from === undefined && to === undefined) return { sql: args.sql!, parameters: given, notes: [] }
  const service = settings.service.value
  const reader = openReader(settings.database.value)
  try {
    if (recipe) {
      const prepared = await prepareRecipe(reader, recipe, each(given, exactNumber) as Parameters, service, now)
      return {
        sql: recipe.sql,
        nothing: recipe.nothing,
        ...prepared,
        parameters: each(prepared.parameters, wholeNumber),
      }
    }
    const range = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) }
    const { times } = resolveTimes(range, await findZone(reader, [], service), now)
    return { sql: args.sql!, parameters: { ...given, ...times }, notes: [] }
  } finally {
    await reader.close()
  }
}
