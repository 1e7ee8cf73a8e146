import { allRows } from '../../db/engine.ts'
import type { Reader } from '../../db/store.ts'
import type { Need, Recipe } from '../../reports/recipes/recipe.ts'
import type { Service } from '../../service/service.ts'
import { didYouMean } from '../../util/didYouMean.ts'
import { EARLIEST, formatUtc, LATEST } from '../../util/time/instant.ts'
import type { Interval } from '../../util/time/interval.ts'
import { floorTo, localDate } from '../../util/time/zone.ts'
import { resolveRange, resolveTimestamp } from '../times.ts'
import {
  chooseGeo,
  findNeededSeries,
  type Parameters,
  type RecipeSeries,
  refuseRecipe,
  requireValues,
} from './recipeNeeds.ts'

/** Refuses parameters that the recipe does not have, texts for numbers, and needed parameters without a value. */
function checkParameters(recipe: Recipe, given: Parameters): void {
  const { name, parameters, needs } = recipe
  const refuse = (message: string, hint: string): never => refuseRecipe(message, hint, 'bad-parameter')
  for (const [key, value] of Object.entries(given)) {
    if (!Object.hasOwn(parameters, key))
      refuse(
        `The recipe ${name} has no parameter ${key}.${didYouMean(key, Object.keys(parameters))}`,
        `It has: ${Object.keys(parameters).join(', ') || 'none'}.`,
      )
    const isNumber = typeof parameters[key] === 'number' || key === 'series' || key === 'indicator'
    if (isNumber && typeof value !== 'number')
      refuse(`Parameter ${key} must be a number, not ${JSON.stringify(value)}.`, `Example: --param ${key}=3`)
    const isList = !isNumber && needs.some(({ indicator }) => indicator === key)
    if (isList && !/^\d+(\s*,\s*\d+)*$/.test(String(value)))
      refuse(
        `Parameter ${key} must be a list of indicator ids, not ${JSON.stringify(value)}.`,
        `Write --param ${key}=${parameters[key] ?? '7,8'}.`,
      )
  }
}

/** Finds the zone of days: that of the series, else the most frequent one, else that of the service. */
export async function findZone({ kysely }: Reader, series: readonly RecipeSeries[], service: Service): Promise<string> {
  if (series[0]) return series[0].zone
  const row = await kysely
    .selectFrom('series')
    .select('time_zone')
    .groupBy('time_zone')
    .orderBy(({ fn }) => fn.countAll(), 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.time_zone ?? service.timeZone
}

/** Resolves `from`, `to` and `at` in a zone to the form for SQL: a local day, or an instant. */
export function resolveTimes(
  given: Parameters,
  zone: string,
  now: number,
): { readonly times: Parameters; readonly range: Interval } {
  const text = (name: string) => (given[name] === null || given[name] === undefined ? undefined : String(given[name]))
  const range = resolveRange({ from: text('from'), to: text('to') }, zone, now) ?? { from: EARLIEST, to: LATEST }
  const times: Record<string, string> = {}
  for (const name of ['from', 'to'] as const) {
    const at = range[name]
    if (text(name) !== undefined) times[name] = floorTo(zone, at, 'day') === at ? localDate(zone, at) : formatUtc(at)
  }
  if ('at' in given) times.at = resolveTimestamp('at', text('at') ?? 'today', zone, now * 1000)
  return { times, range }
}

/** Completes the parameters of a recipe and checks that the data it needs are stored. */
export async function prepareRecipe(
  db: Reader,
  recipe: Recipe,
  given: Parameters,
  service: Service,
  now: number,
): Promise<{ readonly parameters: Parameters; readonly notes: readonly string[] }> {
  checkParameters(recipe, given)
  const notes: string[] = []
  let parameters: Parameters = { ...recipe.parameters, ...given }
  const needed: { need: Need; series: RecipeSeries[] }[] = []
  for (const need of recipe.needs) needed.push({ need, series: await findNeededSeries(db, recipe, need, parameters) })
  const allSeries = needed.flatMap(({ series }) => series)
  if (given.series !== undefined) {
    const indicator = allSeries[0]!.indicatorId
    if (given.indicator !== undefined && indicator !== given.indicator)
      refuseRecipe(
        `Series ${given.series} belongs to indicator ${indicator}, not to ${given.indicator}.`,
        'Pass either series or indicator.',
        'bad-parameter',
      )
    parameters = { ...parameters, indicator }
  }
  for (const parameter of new Set(recipe.needs.map((need) => need.geo))) {
    const series = needed.filter(({ need }) => need.geo === parameter).flatMap((group) => group.series)
    const requested = parameters[parameter] as number | null
    const isNamed = given[parameter] !== undefined
    const geo = await chooseGeo(db, series, service, { parameter, geo: requested, isNamed })
    if (requested !== null && geo !== requested)
      notes.push(`No values are stored for geo ${requested}; stored geo: ${geo}.`)
    parameters = { ...parameters, [parameter]: geo }
  }
  const { times, range } = resolveTimes(parameters, await findZone(db, allSeries, service), now)
  parameters = { ...parameters, ...times }
  for (const { need, series } of needed)
    for (const item of series) await requireValues(db, item, parameters[need.geo] as number, range, need, recipe.name)
  for (const { sql, message, hint } of recipe.preconditions ?? []) {
    const [row] = await allRows((await db.engine.query(sql, parameters)).rows)
    const text = message.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(parameters[name]))
    if (Number(row?.[0]) !== 1) refuseRecipe(text, hint, 'not-stored')
  }
  return { parameters, notes }
}
