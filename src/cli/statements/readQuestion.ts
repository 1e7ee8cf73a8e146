import { exactNumber } from '../../reports/cells.ts'
import { listNeeds, type OwnTable } from '../../reports/ownTables/readOwnTable.ts'
import type { Recipe } from '../../reports/recipes/recipe.ts'
import { allRecipesFor } from '../../reports/recipes/recipes.ts'
import { parseParameter } from '../../reports/statements/runner.ts'
import { didYouMean } from '../../util/didYouMean.ts'
import { InputError } from '../../util/errors.ts'
import { toInstant } from '../../util/time/instant.ts'
import type { CommandSettings } from '../settings/config.ts'
import { withReader } from '../settings/databases.ts'
import { findZone, type Parameters, prepareRecipe, refuseRecipe, resolveTimes } from './prepareRecipe.ts'

/** A statement or the name of a recipe, with parameters. */
export interface QuestionArgs {
  readonly statement?: string | undefined
  readonly param?: readonly string[] | undefined
  readonly indicator?: number | undefined
  readonly geo?: number | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/** A statement with its parameters; for a recipe also the message for an empty result, and notes. */
export interface Question {
  readonly sql: string
  readonly parameters: Parameters
  readonly empty?: Recipe['empty']
  readonly notes: readonly string[]
  readonly ownTables: readonly OwnTable[]
}

/** Matches the name of a recipe, because no statement consists of one word. */
const RECIPE_NAME = /^[\w-]+$/

/** Converts a whole number to a bigint: the database would take a double for a real. */
const toInteger = <T>(value: T): T | bigint => (Number.isSafeInteger(value) ? BigInt(value as number) : value)

const mapValues = <T>(parameters: object, convert: (value: Parameters[string]) => T): Record<string, T> =>
  Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, convert(value)]))

/** Parses `name=value`; a value that looks like a number becomes one. */
function parseAssignment(text: string): [string, string | number | bigint] {
  const [, name, value] = /^[:@$]?(\w+)=(.*)$/s.exec(text) ?? []
  if (name !== undefined && value !== undefined) return [name, parseParameter(value)]
  throw new InputError(`--param ${JSON.stringify(text)} has no value.`, {
    hint: 'Write --param name=value.',
    code: 'bad-parameter',
  })
}

function findRecipe(recipes: readonly Recipe[], name: string): Recipe {
  const recipe = recipes.find((candidate) => candidate.name === name)
  if (recipe) return recipe
  const names = recipes.map((candidate) => candidate.name)
  const message = `Unknown recipe ${JSON.stringify(name)}.${didYouMean(name, names)}`
  return refuseRecipe(message, `Recipes: ${names.join(', ')}.`, 'no-recipe')
}

/** Adds to the table that the user must attach what the recipe needs of it; refuses a recipe without it. */
function requireOwnTable({ name, ownTable }: Recipe, ownTables: readonly OwnTable[]): readonly OwnTable[] {
  if (!ownTable) return ownTables
  const isNeeded = (table: OwnTable): boolean => table.name.toLowerCase() === ownTable.name
  if (!ownTables.some(isNeeded))
    refuseRecipe(
      `Recipe ${name} needs a CSV file as the table ${ownTable.name}, with the columns ${listNeeds(ownTable.columns)}.`,
      `Pass --with ${ownTable.name}=FILE.csv.`,
      'no-table',
    )
  return ownTables.map((table) => (isNeeded(table) ? { ...table, needs: ownTable.columns } : table))
}

/**
 * Reads a statement or recipe with its parameters. Checks what it can without the database; returns a function that prepares the
 * rest: times become days or instants, and a recipe's series are found.
 */
export function readQuestion(
  args: QuestionArgs,
  { database, service: { value: service } }: CommandSettings,
  ownTables: readonly OwnTable[],
): () => Promise<Question> {
  const { statement: sql, indicator, geo, from, to } = args
  const flags = Object.entries({ indicator, geo, from, to }).filter(([, value]) => value !== undefined)
  const parameters: Parameters = {
    ...Object.fromEntries((args.param ?? []).map(parseAssignment)),
    ...mapValues(Object.fromEntries(flags), toInteger),
  }
  if (sql === undefined)
    throw new InputError('Pass an SQL statement or the name of a recipe.', {
      hint: 'indicator-sync query "select at_local, indicator_name, value from latest", or query daily-average; query --recipes lists them.',
      code: 'no-question',
    })
  const now = toInstant(Date.now())
  if (RECIPE_NAME.test(sql)) {
    const recipe = findRecipe(allRecipesFor(service), sql)
    const checked = requireOwnTable(recipe, ownTables)
    return () =>
      withReader(database.value, async (reader) => {
        const numbers = mapValues(parameters, exactNumber) as Parameters
        const prepared = await prepareRecipe(reader, recipe, numbers, service, now)
        const { sql, empty } = recipe
        return {
          sql,
          empty,
          notes: prepared.notes,
          parameters: mapValues(prepared.parameters, toInteger),
          ownTables: checked,
        }
      })
  }
  for (const name of Object.keys(parameters))
    if (!new RegExp(`[:@$]${name}\\b`).test(sql))
      throw new InputError(`The statement has no parameter :${name}.`, {
        hint: `Use it in the statement, such as "… where at_utc >= :${name}", or omit it.`,
        code: 'no-parameter',
      })
  if (from === undefined && to === undefined) return async () => ({ sql, parameters, notes: [], ownTables })
  return () =>
    withReader(database.value, async (reader) => {
      const range = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) }
      const { times } = resolveTimes(range, await findZone(reader, [], service), now)
      return { sql, parameters: { ...parameters, ...times }, notes: [], ownTables }
    })
}
