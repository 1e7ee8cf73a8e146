import type { InferResult } from 'kysely'
import type { Reader } from '../../db/store.ts'
import { type Need, parameterType, type Recipe } from '../../reports/recipes/recipe.ts'
import { jobLine, parseIds, selectNativeSeries, selectSeries } from '../../reports/recipes/storedNeeds.ts'
import type { Service } from '../../service/service.ts'
import { didYouMean } from '../../util/didYouMean.ts'
import { InputError } from '../../util/errors.ts'
import { EARLIEST, formatUtc, LATEST } from '../../util/time/instant.ts'
import type { Interval } from '../../util/time/interval.ts'
import { floorTo, localDate } from '../../util/time/zone.ts'
import { resolveRange, resolveTimestamp } from '../times.ts'

/** The values of a statement's parameters. */
export type Parameters = Readonly<Record<string, string | number | bigint | null>>

/** Throws the error for a recipe that cannot be run with its parameters. */
export const refuseRecipe = (message: string, hint: string, code: string): never => {
  throw new InputError(message, { hint, code })
}

/** A series that a recipe reads. */
type NamedCandidate = InferResult<ReturnType<typeof selectSeries>>[number]

/** Refuses parameters that the recipe does not have, texts for numbers, and numbers that are not above 0. */
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
    if (typeof value === 'number' && value <= 0 && parameterType(recipe, key) === 'number')
      refuse(`Parameter ${key} must be above 0, not ${value}.`, `Example: --param ${key}=3`)
    const isList = !isNumber && needs.some(({ indicator }) => indicator === key)
    if (isList && !/^\d+(\s*,\s*\d+)*$/.test(String(value)))
      refuse(
        `Parameter ${key} must be a list of indicator ids, not ${JSON.stringify(value)}.`,
        `Write --param ${key}=${parameters[key] ?? '7,8'}.`,
      )
  }
}

/** Finds the zone of days: that of the series, else the most frequent one, else that of the service. */
export async function findZone(
  { kysely }: Reader,
  series: readonly NamedCandidate[],
  service: Service,
): Promise<string> {
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

/** Finds the series of a need; throws if one is not stored. */
async function findNeeded(db: Reader, { name }: Recipe, need: Need, parameters: Parameters): Promise<NamedCandidate[]> {
  const requested = need.series === undefined ? null : (parameters.series ?? null)
  if (requested !== null) {
    const series = await selectSeries(db).where('s.id', '=', Number(requested)).executeTakeFirst()
    const hint = 'List the stored series: query "select * from freshness".'
    return [series ?? refuseRecipe(`Series ${requested} does not exist.`, hint, 'no-series')]
  }
  if ((parameters[need.indicator] ?? null) === null)
    return refuseRecipe(
      `Recipe ${name} has no default for parameter ${need.indicator} with this service.`,
      `Pass ${need.indicator === 'indicator' ? '--indicator 7' : `--param ${need.indicator}=7`}; \`indicator-sync discover\` finds ids.`,
      'no-indicator',
    )
  const ids = parseIds(parameters[need.indicator]!)
  const stored = await selectNativeSeries(db, ids).execute()
  const lacking = ids.filter((id) => !stored.some(({ indicatorId }) => indicatorId === id))
  if (lacking.length > 0)
    refuseRecipe(
      `Recipe ${name} needs native series that are not stored: indicator ${lacking.join(', ')}.`,
      `Fetch it with a job entry without timeTrunc: ${jobLine(lacking)}.`,
      'not-stored',
    )
  return stored
}

/**
 * Chooses a geo: the named one, else the default, else one that all series have, a main one of the service first. `lacking`: the
 * indicators without values of the requested geo.
 */
async function chooseGeo(
  { kysely }: Reader,
  series: readonly NamedCandidate[],
  { mainGeos }: Service,
  { parameter, geo, isNamed }: { readonly parameter: string; readonly geo: number | null; readonly isNamed: boolean },
): Promise<{ readonly geo: number; readonly lacking: string }> {
  const rows = await kysely
    .selectFrom('series_geo')
    .select(['series_id', 'geo_id'])
    .where(
      'series_id',
      'in',
      series.map(({ id }) => id),
    )
    .orderBy('geo_id')
    .execute()
  const stored = new Map(
    series.map(({ id, indicatorId }) => [
      indicatorId,
      rows.flatMap(({ series_id, geo_id }) => (series_id === id ? [geo_id] : [])),
    ]),
  )
  const [first = [], ...others] = stored.values()
  const common = first.filter((id) => others.every((geos) => geos.includes(id)))
  const lackingIds = [...stored].flatMap(([id, geos]) => (geo === null || geos.includes(geo) ? [] : [id]))
  const lacking = `indicator ${lackingIds.join(', ')}`
  if (geo !== null && common.includes(geo)) return { geo, lacking }
  const main = mainGeos.find((id) => common.includes(id)) ?? (common.length === 1 ? common[0] : undefined)
  if (!isNamed && main !== undefined) return { geo: main, lacking }
  const lists = [...stored].map(([id, geos]) => `of indicator ${id}: ${geos.join(', ')}`)
  const geos = `stored geos ${lists.join('; ')}.`
  return refuseRecipe(
    geo === null ? `Choose a geo; ${geos}` : `Geo ${geo} has no stored values of ${lacking}; ${geos}`,
    common.length === 0
      ? 'They have no geo in common: choose other indicators, or fetch one geo of all.'
      : `Pass ${parameter === 'geo' ? '--geo ' : `--param ${parameter}=`}ID; \`indicator-sync discover --in geos\` lists the names.`,
    'geo-not-stored',
  )
}

/** Refuses a range without stored values, and periods that are too long for the recipe. */
async function requireValues(
  { kysely }: Reader,
  { id, indicatorId }: NamedCandidate,
  geo: number,
  range: Interval,
  need: Need,
  recipe: string,
): Promise<void> {
  const values = kysely
    .selectFrom('observation')
    .select('at')
    .where('series_id', '=', id)
    .where('geo_id', '=', geo)
    .where('at', '>=', range.from)
    .where('at', '<', range.to)
    .limit(1)
  if ((await values.executeTakeFirst()) === undefined)
    refuseRecipe(
      `No values of indicator ${indicatorId}, geo ${geo} are stored in this range.`,
      'Change --from and --to, or fetch the range with `indicator-sync backfill`. Stored ranges: query "select * from freshness".',
      'nothing-stored',
    )
  if (need.hourly && (await values.where('step_s', '>', 3600).executeTakeFirst()) !== undefined)
    refuseRecipe(
      `Recipe ${recipe} compares hours, but indicator ${indicatorId} (series ${id}) has longer periods.`,
      'Choose a series with steps of an hour or less.',
      'too-coarse',
    )
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
  // An indicator that is listed twice counts once.
  for (const { indicator } of recipe.needs)
    if (typeof parameters[indicator] === 'string')
      parameters = { ...parameters, [indicator]: parseIds(parameters[indicator]).join(',') }
  const needed: { need: Need; series: NamedCandidate[] }[] = []
  for (const need of recipe.needs) needed.push({ need, series: await findNeeded(db, recipe, need, parameters) })
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
    const { geo, lacking } = await chooseGeo(db, series, service, { parameter, geo: requested, isNamed })
    if (requested !== null && geo !== requested)
      notes.push(`No values of ${lacking} are stored for geo ${requested}; the result is of geo ${geo}.`)
    parameters = { ...parameters, [parameter]: geo }
  }
  const { times, range } = resolveTimes(parameters, await findZone(db, allSeries, service), now)
  parameters = { ...parameters, ...times }
  for (const { need, series } of needed)
    for (const item of series) await requireValues(db, item, parameters[need.geo] as number, range, need, recipe.name)
  return { parameters, notes }
}
