import { indicatorNameColumn } from '../../db/queries/catalogueNames.ts'
import type { Reader } from '../../db/store.ts'
import { ENTRY_ROUTES } from '../../job/entryRoutes.ts'
import type { Need, Recipe } from '../../reports/recipes/recipe.ts'
import { groupingName } from '../../reports/seriesName.ts'
import type { Service } from '../../service/services.ts'
import { InputError } from '../../util/errors.ts'
import type { Interval } from '../../util/time/interval.ts'
import { formatLocal } from '../../util/time/zone.ts'

/** The values of a statement's parameters. */
export type Parameters = Readonly<Record<string, string | number | bigint | null>>

/** A series that a recipe reads, for a geo. */
export interface RecipeSeries {
  readonly id: number
  readonly indicatorId: number
  readonly name: string | null
  readonly zone: string
}

/** The error for a recipe that cannot be run with its parameters. */
export const refuseRecipe = (message: string, hint: string, code: string): never => {
  throw new InputError(message, { hint, code })
}

const and = (words: readonly (string | number)[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`

/** Series as recipes read them. */
const recipeSeries = ({ kysely }: Reader) =>
  kysely
    .selectFrom('series as s')
    .select(['s.id', 's.indicator_id as indicatorId', 's.time_zone as zone'])
    .select(indicatorNameColumn('s.kind', 's.indicator_id'))

/** Series of some indicators that have any values. */
const readNamedSeries = (db: Reader, ids: readonly number[]) =>
  recipeSeries(db)
    .where('s.kind', '=', ENTRY_ROUTES.series)
    .where('s.indicator_id', 'in', ids)
    .where(({ exists, selectFrom }) =>
      exists(selectFrom('series_geo as g').select('g.geo_id').whereRef('g.series_id', '=', 's.id')),
    )

/** The series of a need, each with its id; throws where one is not stored, and lists what is. */
export async function seriesOfNeed(
  db: Reader,
  { name, parameters: known }: Recipe,
  need: Need,
  parameters: Parameters,
): Promise<RecipeSeries[]> {
  const wanted = need.series === undefined ? null : (parameters.series ?? null)
  if (wanted !== null) {
    const found = await recipeSeries(db).where('s.id', '=', Number(wanted)).executeTakeFirst()
    return [
      found ??
        refuseRecipe(
          `Series ${wanted} does not exist.`,
          'List the stored series: query --recipe data-range.',
          'no-series',
        ),
    ]
  }
  if ((parameters[need.of] ?? null) === null)
    return refuseRecipe(
      `Recipe ${name} has no default for parameter ${need.of} with this service.`,
      `Pass ${need.of === 'indicator' ? '--indicator 7' : `--param ${need.of}=7`}; \`indicator-sync discover\` finds ids.`,
      'no-indicator',
    )
  const ids = [...new Set(String(parameters[need.of]).split(',').map(Number))]
  // As they came, without the service's own aggregation.
  const found = await readNamedSeries(db, ids)
    .where('s.time_trunc', 'is', null)
    .where('s.geo_agg', 'is', null)
    .execute()
  const lacking = ids.filter((id) => !found.some(({ indicatorId }) => indicatorId === id))
  if (lacking.length === 0) return ids.map((id) => found.find(({ indicatorId }) => indicatorId === id)!)
  const others = await readNamedSeries(db, lacking)
    .select(['s.indicator_id as indicator', 's.time_trunc', 's.geo_agg'])
    .orderBy('s.indicator_id')
    .orderBy('s.id')
    .execute()
  const none = lacking.filter((id) => !others.some(({ indicator }) => indicator === id))
  const ways = [...new Set(others.map(groupingName))]
  const grouped = lacking.filter((id) => !none.includes(id))
  const says = [
    ...(grouped.length > 0 ? [`${none.length > 0 ? `${and(grouped)} is stored` : 'stored only'} ${and(ways)}`] : []),
    ...(none.length > 0 ? [`nothing ${grouped.length > 0 ? `of ${and(none)} ` : ''}is stored`] : []),
  ]
  const own = 'series' in known && others[0] ? ` Or use the stored series: --param series=${others[0].id}.` : ''
  return refuseRecipe(
    `Recipe ${name} needs the native series of indicator ${and(lacking)}; ${and(says)}.`,
    `Fetch ${lacking.length > 1 ? 'them' : 'it'} with a job entry without timeTrunc: series: [{ indicators: [${lacking.join(', ')}], window: { last: 30d } }].${own}`,
    'not-stored',
  )
}

/** The geo that is meant: the named one, else the default, else one that all series have, a main one of the service first. */
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
  const place = stored.findIndex((ids) => geo === null || !ids.has(geo))
  const own = [...stored[place]!]
  const texts = kysely
    .selectFrom('geo_text')
    .select(['id', 'name'])
    .where('id', 'in', [...(geo === null ? [] : [geo]), ...own])
  const inOrder = locales.reduce((query, locale) => query.orderBy((of) => of('locale', '<>', locale)), texts)
  const names = await inOrder.orderBy('locale').execute()
  const named = (id: number): string => {
    const name = names.find((one) => one.id === id)?.name
    return name ? `${id} (${name})` : String(id)
  }
  return refuseRecipe(
    geo === null
      ? `Indicator ${series[place]!.indicatorId} is stored for several geos: ${and(own.map(named))}.`
      : `No values of indicator ${series[place]!.indicatorId} are stored for geo ${named(geo)}; stored geos: ${and(own.map(named))}.`,
    `Pass one of them: ${parameter === 'geo' ? '--geo' : `--param ${parameter}`}${parameter === 'geo' ? ' ' : '='}${common[0] ?? own[0]}.`,
    'geo-not-stored',
  )
}

/** Refuses a time of which nothing is stored, and periods that are too long for what is requested. */
export async function requireValues(
  { kysely }: Reader,
  { id, indicatorId, zone }: RecipeSeries,
  geo: number,
  range: Interval,
  need: Need,
  name: string,
): Promise<void> {
  const values = kysely.selectFrom('observation').where('series_id', '=', id).where('geo_id', '=', geo)
  const inside = values.where('at', '>=', range.from).where('at', '<', range.to).select('at').limit(1)
  if ((await inside.executeTakeFirst()) === undefined) {
    const end = async (order: 'asc' | 'desc') =>
      (await values.select('at').orderBy('at', order).limit(1).executeTakeFirst())?.at
    const [first, last] = [await end('asc'), await end('desc')]
    refuseRecipe(
      `No values of indicator ${indicatorId}, geo ${geo} are stored in this range.`,
      first === undefined || last === undefined
        ? 'Fetch them with a sync.'
        : `Stored values range from ${formatLocal(zone, first)} to ${formatLocal(zone, last)}. Change --from and --to, or sync more.`,
      'nothing-stored',
    )
  }
  if (need.hourly && (await inside.where('step_s', '>', 3600).executeTakeFirst()) !== undefined)
    refuseRecipe(
      `Recipe ${name} compares hours, but indicator ${indicatorId} (series ${id}) has longer periods.`,
      'Choose a series with steps of an hour or less.',
      'too-coarse',
    )
}
