import type { InferResult } from 'kysely'
import type { Reader } from '../../db/store.ts'
import { ENTRY_ROUTES } from '../../job/entryRoutes.ts'
import type { Need, Recipe } from '../../reports/recipes/recipe.ts'
import { groupingName } from '../../reports/seriesName.ts'
import type { Service } from '../../service/service.ts'
import { InputError } from '../../util/errors.ts'
import type { Interval } from '../../util/time/interval.ts'
import { formatLocal } from '../../util/time/zone.ts'

/** The values of a statement's parameters. */
export type Parameters = Readonly<Record<string, string | number | bigint | null>>

/** Throws the error for a recipe that cannot be run with its parameters. */
export const refuseRecipe = (message: string, hint: string, code: string): never => {
  throw new InputError(message, { hint, code })
}

const listText = (words: readonly (string | number)[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`

const selectSeries = ({ kysely }: Reader) =>
  kysely.selectFrom('series as s').select(['s.id', 's.indicator_id as indicatorId', 's.time_zone as zone'])

/** A series that a recipe reads. */
export type RecipeSeries = InferResult<ReturnType<typeof selectSeries>>[number]

/** Selects the series of some indicators that have values. */
const selectStored = (db: Reader, indicators: readonly number[]) =>
  selectSeries(db)
    .where('s.kind', '=', ENTRY_ROUTES.series)
    .where('s.indicator_id', 'in', indicators)
    .where(({ exists, selectFrom }) =>
      exists(selectFrom('series_geo as g').select('g.geo_id').whereRef('g.series_id', '=', 's.id')),
    )

/** Finds the series of a need; throws if one is not stored, and says what is. */
export async function findNeededSeries(
  db: Reader,
  recipe: Recipe,
  need: Need,
  parameters: Parameters,
): Promise<RecipeSeries[]> {
  const requested = need.series === undefined ? null : (parameters.series ?? null)
  if (requested !== null) {
    const series = await selectSeries(db).where('s.id', '=', Number(requested)).executeTakeFirst()
    const hint = 'List the stored series: query "select * from freshness".'
    return [series ?? refuseRecipe(`Series ${requested} does not exist.`, hint, 'no-series')]
  }
  if ((parameters[need.indicator] ?? null) === null)
    return refuseRecipe(
      `Recipe ${recipe.name} has no default for parameter ${need.indicator} with this service.`,
      `Pass ${need.indicator === 'indicator' ? '--indicator 7' : `--param ${need.indicator}=7`}; \`indicator-sync discover\` finds ids.`,
      'no-indicator',
    )
  const ids = [...new Set(String(parameters[need.indicator]).split(',').map(Number))]
  const native = await selectStored(db, ids).where('s.time_trunc', 'is', null).where('s.geo_agg', 'is', null).execute()
  const byId = new Map(native.map((series) => [series.indicatorId, series]))
  const lacking = ids.filter((id) => !byId.has(id))
  return lacking.length === 0 ? ids.map((id) => byId.get(id)!) : refuseLacking(db, recipe, lacking)
}

/** Throws the error for indicators without a native series; says in which aggregation they are stored. */
async function refuseLacking(db: Reader, { name, parameters }: Recipe, lacking: readonly number[]): Promise<never> {
  const aggregated = await selectStored(db, lacking)
    .select(['s.time_trunc', 's.geo_agg'])
    .orderBy('s.indicator_id')
    .orderBy('s.id')
    .execute()
  const isAggregated = (id: number) => aggregated.some(({ indicatorId }) => indicatorId === id)
  const [stored, absent] = [lacking.filter(isAggregated), lacking.filter((id) => !isAggregated(id))]
  const groupings = listText([...new Set(aggregated.map(groupingName))])
  const facts = [
    ...(stored.length > 0
      ? [`${absent.length > 0 ? `${listText(stored)} is stored` : 'stored only'} ${groupings}`]
      : []),
    ...(absent.length > 0 ? [`nothing ${stored.length > 0 ? `of ${listText(absent)} ` : ''}is stored`] : []),
  ]
  const alternative =
    'series' in parameters && aggregated[0] ? ` Or use the stored series: --param series=${aggregated[0].id}.` : ''
  return refuseRecipe(
    `Recipe ${name} needs the native series of indicator ${listText(lacking)}; ${listText(facts)}.`,
    `Fetch ${lacking.length > 1 ? 'them' : 'it'} with a job entry without timeTrunc: series: [{ indicators: [${lacking.join(', ')}], window: { last: 30d } }].${alternative}`,
    'not-stored',
  )
}

/** Chooses a geo: the named one, else the default, else one that all series have, a main one of the service first. */
export async function chooseGeo(
  { kysely }: Reader,
  series: readonly RecipeSeries[],
  { mainGeos, locales }: Service,
  { parameter, geo, isNamed }: { readonly parameter: string; readonly geo: number | null; readonly isNamed: boolean },
): Promise<number> {
  const stored: ReadonlySet<number>[] = []
  for (const { id } of series) {
    const geos = kysely.selectFrom('series_geo').select('geo_id').where('series_id', '=', id).orderBy('geo_id')
    stored.push(new Set((await geos.execute()).map(({ geo_id }) => geo_id)))
  }
  if (geo !== null && stored.every((ids) => ids.has(geo))) return geo
  const common = [...stored[0]!].filter((id) => stored.every((ids) => ids.has(id)))
  if (!isNamed) {
    const other = mainGeos.find((id) => common.includes(id)) ?? (common.length === 1 ? common[0] : undefined)
    if (other !== undefined) return other
  }
  const index = stored.findIndex((ids) => geo === null || !ids.has(geo))
  const ids = [...stored[index]!]
  const texts = kysely
    .selectFrom('geo_text')
    .select(['id', 'name'])
    .where('id', 'in', geo === null ? ids : [geo, ...ids])
  const preferred = locales.reduce((query, locale) => query.orderBy((eb) => eb('locale', '<>', locale)), texts)
  const rows = await preferred.orderBy('locale').execute()
  const geoText = (id: number): string => {
    const name = rows.find((row) => row.id === id)?.name
    return name ? `${id} (${name})` : String(id)
  }
  const { indicatorId } = series[index]!
  const list = listText(ids.map(geoText))
  return refuseRecipe(
    geo === null
      ? `Indicator ${indicatorId} is stored for several geos: ${list}.`
      : `No values of indicator ${indicatorId} are stored for geo ${geoText(geo)}; stored geos: ${list}.`,
    `Pass one of them: ${parameter === 'geo' ? '--geo ' : `--param ${parameter}=`}${common[0] ?? ids[0]}.`,
    'geo-not-stored',
  )
}

/** Refuses a range without stored values, and periods that are too long for the recipe. */
export async function requireValues(
  { kysely }: Reader,
  { id, indicatorId, zone }: RecipeSeries,
  geo: number,
  range: Interval,
  need: Need,
  recipe: string,
): Promise<void> {
  const values = kysely.selectFrom('observation').where('series_id', '=', id).where('geo_id', '=', geo).select('at')
  const inRange = values.where('at', '>=', range.from).where('at', '<', range.to).limit(1)
  if ((await inRange.executeTakeFirst()) === undefined) {
    const first = await values.orderBy('at').limit(1).executeTakeFirst()
    const last = await values.orderBy('at', 'desc').limit(1).executeTakeFirst()
    refuseRecipe(
      `No values of indicator ${indicatorId}, geo ${geo} are stored in this range.`,
      first && last
        ? `Stored values range from ${formatLocal(zone, first.at)} to ${formatLocal(zone, last.at)}. Change --from and --to, or sync more.`
        : 'Fetch them with a sync.',
      'nothing-stored',
    )
  }
  if (need.hourly && (await inRange.where('step_s', '>', 3600).executeTakeFirst()) !== undefined)
    refuseRecipe(
      `Recipe ${recipe} compares hours, but indicator ${indicatorId} (series ${id}) has longer periods.`,
      'Choose a series with steps of an hour or less.',
      'too-coarse',
    )
}
