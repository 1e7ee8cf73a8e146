import { allRows } from '../../db/engine.ts'
import type { Reader } from '../../db/store.ts'
import { isNeeded, type Need, type Recipe } from '../../reports/recipes/recipe.ts'
import type { Service } from '../../service/services.ts'
import { didYouMean } from '../../util/didYouMean.ts'
import { EARLIEST, formatMillis, formatUtc, LATEST } from '../../util/time/instant.ts'
import type { Interval } from '../../util/time/interval.ts'
import { floorTo, localDate } from '../../util/time/zone.ts'
import { instantOfFlag, millisOfFlag, rangeOfFlags } from '../times.ts'
import {
  chooseGeo,
  type Parameters,
  type RecipeSeries,
  refuseRecipe,
  requireValues,
  seriesOfNeed,
} from './recipeNeeds.ts'

/** The recipe of a name. */
export function recipeNamed(recipes: readonly Recipe[], name: string): Recipe {
  const names = recipes.map((recipe) => recipe.name)
  return (
    recipes.find((recipe) => recipe.name === name) ??
    refuseRecipe(
      `Unknown recipe ${JSON.stringify(name)}.${didYouMean(name, names)}`,
      `Recipes: ${names.join(', ')}.`,
      'no-recipe',
    )
  )
}

/** Refuses parameters that the recipe does not have, and texts in place of numbers. */
function checkRecipeParameters({ name, parameters, needs }: Recipe, given: Parameters): void {
  for (const [key, value] of Object.entries(given)) {
    if (!Object.hasOwn(parameters, key))
      refuseRecipe(
        `The recipe ${name} has no parameter ${key}.${didYouMean(key, Object.keys(parameters))}`,
        `It has: ${Object.keys(parameters).join(', ') || 'none'}.`,
        'bad-parameter',
      )
    const number = typeof parameters[key] === 'number' || key === 'series' || key === 'indicator'
    if (number && typeof value !== 'number')
      refuseRecipe(
        `Parameter ${key} must be a number, not ${JSON.stringify(value)}.`,
        `Example: --param ${key}=3`,
        'bad-parameter',
      )
    const list = needs.some(({ of }) => of === key) && !number
    if (list && !/^\d+(\s*,\s*\d+)*$/.test(String(value)))
      refuseRecipe(
        `Parameter ${key} must be a list of indicator ids, not ${JSON.stringify(value)}.`,
        `Write --param ${key}=${parameters[key] ?? '7,8'}.`,
        'bad-parameter',
      )
  }
}

/** The zone whose days are meant: that of the series, else the service's. */
export async function findZone({ kysely }: Reader, series: readonly RecipeSeries[], service: Service): Promise<string> {
  if (series[0]) return series[0].zone
  const most = await kysely
    .selectFrom('series')
    .select('time_zone')
    .groupBy('time_zone')
    .orderBy(({ fn }) => fn.countAll(), 'desc')
    .limit(1)
    .executeTakeFirst()
  return most?.time_zone ?? service.timeZone
}

/** A border as recipes take it: the local day that begins then, or the instant. */
const recipeBorder = (zone: string, at: number): string =>
  floorTo(zone, at, 'day') === at ? localDate(zone, at) : formatUtc(at)

/** `from`, `to`, `at` and `date` in the form for SQL; days are of the zone. */
export function resolveTimes(
  given: Parameters,
  zone: string,
  now: number,
): { readonly times: Parameters; readonly range: Interval } {
  const text = (name: string) => (given[name] === null || given[name] === undefined ? undefined : String(given[name]))
  const range = rangeOfFlags({ from: text('from'), to: text('to') }, zone, now) ?? { from: EARLIEST, to: LATEST }
  const border = (name: 'from' | 'to') => (text(name) === undefined ? {} : { [name]: recipeBorder(zone, range[name]) })
  const at = 'at' in given ? { at: formatMillis(millisOfFlag('at', text('at') ?? 'today', zone, now * 1000)) } : {}
  const date =
    'date' in given ? { date: localDate(zone, instantOfFlag('date', text('date') ?? 'today', zone, now)) } : {}
  return { times: { ...border('from'), ...border('to'), ...at, ...date }, range }
}

/** Completes the parameters of a recipe and checks that the data it needs are stored. */
export async function prepareRecipe(
  db: Reader,
  recipe: Recipe,
  given: Parameters,
  service: Service,
  now: number,
): Promise<{ readonly parameters: Parameters; readonly notes: readonly string[] }> {
  checkRecipeParameters(recipe, given)
  const notes: string[] = []
  let parameters: Parameters = { ...recipe.parameters, ...given }
  for (const name of recipe.required ?? [])
    if (isNeeded(recipe, name) && (given[name] ?? null) === null)
      refuseRecipe(
        `Recipe ${recipe.name} has no default for parameter ${name} with this service.`,
        `Pass --param ${name}=…`,
        'no-parameter',
      )
  const needed: { need: Need; series: RecipeSeries[] }[] = []
  for (const need of recipe.needs) needed.push({ need, series: await seriesOfNeed(db, recipe, need, parameters) })
  const all = needed.flatMap(({ series }) => series)
  if (given.series !== undefined && given.indicator !== undefined && all[0]?.indicatorId !== given.indicator)
    refuseRecipe(
      `Series ${given.series} belongs to indicator ${all[0]?.indicatorId}, not to ${given.indicator}.`,
      'Pass either series or indicator.',
      'bad-parameter',
    )
  if (given.series !== undefined) parameters = { ...parameters, indicator: all[0]!.indicatorId }
  for (const parameter of new Set(recipe.needs.map(({ geo }) => geo))) {
    const series = needed.filter(({ need }) => need.geo === parameter).flatMap((one) => one.series)
    const wanted = parameters[parameter] as number | null
    const geo = await chooseGeo(db, series, service, {
      parameter,
      geo: wanted,
      isNamed: given[parameter] !== undefined,
    })
    if (wanted !== null && geo !== wanted) notes.push(`No values are stored for geo ${wanted}; stored geo: ${geo}.`)
    parameters = { ...parameters, [parameter]: geo }
  }
  const { times, range } = resolveTimes(parameters, await findZone(db, all, service), now)
  parameters = { ...parameters, ...times }
  for (const { need, series } of needed)
    for (const one of series) await requireValues(db, one, parameters[need.geo] as number, range, need, recipe.name)
  for (const { sql, lacks, hint } of recipe.preconditions ?? []) {
    const [row] = await allRows((await db.engine.query(sql, parameters)).rows)
    if (Number(row?.[0]) !== 1)
      refuseRecipe(
        lacks.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(parameters[name])),
        hint,
        'not-stored',
      )
  }
  return { parameters, notes }
}
