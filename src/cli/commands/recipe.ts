import { InputError } from '../../base/errors.ts'
import { EARLIEST, formatMillis, formatUtc, LATEST } from '../../base/instant.ts'
import type { Interval } from '../../base/interval.ts'
import { didYouMean } from '../../base/suggest.ts'
import { floorTo, formatLocal, localDate } from '../../base/zone.ts'
import { listOf } from '../../db/lists.ts'
import type { Reader } from '../../db/open.ts'
import type { Need, Recipe } from '../../products/recipes/recipe.ts'
import { SERVICES } from '../../services/services.ts'
import { FIRST_LOCALE } from '../../tables/sql.ts'
import { instantOf, rangeOf } from '../jobs.ts'

/** The values of a statement's parameters. */
export type Parameters = Readonly<Record<string, string | number | bigint | null>>

/** A series that a recipe reads, for a geo. */
interface Held {
  readonly id: number
  readonly indicatorId: number
  readonly name: string | null
  readonly zone: string
}

const STEPS: Readonly<Record<string, string>> = {
  five_minutes: 'five minutes',
  ten_minutes: 'ten minutes',
  fifteen_minutes: 'quarter-hour',
}

const refuse = (message: string, hint: string, code: string): never => {
  throw new InputError(message, { hint, code })
}

const and = (words: readonly (string | number)[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`

/** The recipe of a name. */
export function recipeNamed(recipes: readonly Recipe[], name: string): Recipe {
  const names = recipes.map((recipe) => recipe.name)
  return (
    recipes.find((recipe) => recipe.name === name) ??
    refuse(
      `There is no recipe ${JSON.stringify(name)}.${didYouMean(name, names)}`,
      `There are: ${names.join(', ')}.`,
      'no-recipe',
    )
  )
}

/** Refuses parameters that the recipe does not have, and texts in place of numbers. */
function checkParameters({ name, parameters, needs }: Recipe, given: Parameters): void {
  for (const [key, value] of Object.entries(given)) {
    if (!Object.hasOwn(parameters, key))
      refuse(
        `The recipe ${name} has no parameter ${key}.${didYouMean(key, Object.keys(parameters))}`,
        `It has: ${Object.keys(parameters).join(', ') || 'none'}.`,
        'bad-parameter',
      )
    const number = typeof parameters[key] === 'number' || key === 'series' || key === 'indicator'
    if (number && typeof value !== 'number')
      refuse(`${key} takes a number, and ${JSON.stringify(value)} is none.`, `Write --param ${key}=3.`, 'bad-parameter')
    const list = needs.some(({ of }) => of === key) && !number
    if (list && !/^\d+(\s*,\s*\d+)*$/.test(String(value)))
      refuse(
        `${key} takes numbers of indicators, and ${JSON.stringify(value)} is none.`,
        `Write --param ${key}=551,1295.`,
        'bad-parameter',
      )
  }
}

/** The zone whose days are meant: that of the series, else the service's. */
export async function zoneOf({ kysely }: Reader, series: readonly Held[]): Promise<string> {
  if (series[0]) return series[0].zone
  const most = await kysely
    .selectFrom('series')
    .select('time_zone')
    .groupBy('time_zone')
    .orderBy(({ fn }) => fn.countAll(), 'desc')
    .limit(1)
    .executeTakeFirst()
  return most?.time_zone ?? SERVICES.generic.timeZone
}

/** A border as recipes take it: the local day that begins then, or the instant. */
const borderText = (zone: string, at: number): string =>
  floorTo(zone, at, 'day') === at ? localDate(zone, at) : formatUtc(at)

/** `from`, `to`, `at` and `date` as SQL takes them, whatever way they were said; a day is the one of the zone. */
export function resolveTimes(
  given: Parameters,
  zone: string,
  now: number,
): { readonly times: Parameters; readonly range: Interval } {
  const text = (name: string) => (given[name] === null || given[name] === undefined ? undefined : String(given[name]))
  const range = rangeOf({ from: text('from'), to: text('to') }, zone, now) ?? { from: EARLIEST, to: LATEST }
  const border = (name: 'from' | 'to') => (text(name) === undefined ? {} : { [name]: borderText(zone, range[name]) })
  const said = text('at') ?? 'today'
  // Versions are known to the millisecond.
  const fraction = /\.(\d{1,3})\d*(?:Z|[+-]\d{2}:\d{2})$/.exec(said)?.[1] ?? '0'
  const at =
    'at' in given ? { at: formatMillis(instantOf('at', said, zone, now) * 1000 + Number(fraction.padEnd(3, '0'))) } : {}
  const date = 'date' in given ? { date: localDate(zone, instantOf('date', text('date') ?? 'today', zone, now)) } : {}
  return { times: { ...border('from'), ...border('to'), ...at, ...date }, range }
}

/** Series as recipes read them. */
const readSeries = ({ kysely }: Reader) =>
  kysely
    .selectFrom('series as s')
    .select(['s.id', 's.indicator_id as indicatorId', 's.time_zone as zone'])
    .select(({ selectFrom }) =>
      selectFrom('indicator_text as t')
        .select('t.name')
        .whereRef('t.kind', '=', 's.kind')
        .whereRef('t.id', '=', 's.indicator_id')
        .orderBy((of) => of('t.locale', '<>', FIRST_LOCALE))
        .orderBy('t.locale')
        .limit(1)
        .as('name'),
    )

/** Series of some indicators that have any values. */
const readSeriesOf = (db: Reader, ids: readonly number[]) =>
  readSeries(db)
    .where('s.kind', '=', 'indicator')
    .where('s.indicator_id', 'in', listOf(ids))
    .where(({ exists, selectFrom }) =>
      exists(selectFrom('series_geo as g').select('g.geo_id').whereRef('g.series_id', '=', 's.id')),
    )

/** The series that a need means, each with its number; what is not held is told, with what is held in its place. */
async function seriesOf(
  db: Reader,
  { name, parameters: known }: Recipe,
  need: Need,
  parameters: Parameters,
): Promise<Held[]> {
  const wanted = need.series === undefined ? null : (parameters.series ?? null)
  if (wanted !== null) {
    const found = await readSeries(db).where('s.id', '=', Number(wanted)).executeTakeFirst()
    return [found ?? refuse(`There is no series ${wanted}.`, 'See which are held: query --recipe reach.', 'no-series')]
  }
  const ids = [...new Set(String(parameters[need.of]).split(',').map(Number))]
  // As they came, without the service's own aggregation.
  const found = await readSeriesOf(db, ids).where('s.time_trunc', 'is', null).where('s.geo_agg', 'is', null).execute()
  const lacking = ids.filter((id) => !found.some(({ indicatorId }) => indicatorId === id))
  if (lacking.length === 0) return ids.map((id) => found.find(({ indicatorId }) => indicatorId === id)!)
  const others = await readSeriesOf(db, lacking)
    .select(['s.indicator_id as indicator', 's.time_trunc as step', 's.geo_agg as agg'])
    .orderBy('s.indicator_id')
    .orderBy('s.id')
    .execute()
  const none = lacking.filter((id) => !others.some(({ indicator }) => indicator === id))
  const ways = [
    ...new Set(
      others.map(({ step, agg }) =>
        [step ? `by the ${STEPS[step] ?? step}` : '', agg ? `as ${agg} of geos` : ''].filter(Boolean).join(' '),
      ),
    ),
  ]
  const grouped = lacking.filter((id) => !none.includes(id))
  const says = [
    ...(grouped.length > 0
      ? [`you hold ${none.length > 0 ? and(grouped) : grouped.length > 1 ? 'them' : 'it'} ${and(ways)}`]
      : []),
    ...(none.length > 0 ? [`nothing ${grouped.length > 0 ? `of ${and(none)} ` : ''}is held`] : []),
  ]
  const own = 'series' in known && others[0] ? ` Or take what you hold: --series ${others[0].id}.` : ''
  return refuse(
    `${name} needs native ${and(lacking)}; ${and(says)}.`,
    `A job fetches ${lacking.length > 1 ? 'them' : 'it'} without timeTrunc: series: [{ indicators: [${lacking.join(', ')}], window: { last: 30d } }].${own}`,
    'not-held',
  )
}

/** The geo that is meant: what is said, else the default, else the one that all series have. */
async function geoOf(
  { kysely }: Reader,
  series: readonly Held[],
  parameter: string,
  geo: number,
  said: boolean,
): Promise<number> {
  const held: ReadonlySet<number>[] = []
  for (const { id } of series) {
    const geos = kysely.selectFrom('series_geo').select('geo_id').where('series_id', '=', id).orderBy('geo_id')
    held.push(new Set((await geos.execute()).map(({ geo_id }) => geo_id)))
  }
  if (held.every((ids) => ids.has(geo))) return geo
  const common = [...held[0]!].filter((id) => held.every((ids) => ids.has(id)))
  if (!said) {
    const other = [3, 8741].find((id) => common.includes(id)) ?? (common.length === 1 ? common[0] : undefined)
    if (other !== undefined) return other
  }
  const place = held.findIndex((ids) => !ids.has(geo))
  const own = [...held[place]!]
  const names = await kysely
    .selectFrom('geo_text')
    .select(['id', 'name'])
    .where('id', 'in', listOf([geo, ...own]))
    .orderBy((of) => of('locale', '<>', FIRST_LOCALE))
    .orderBy('locale')
    .execute()
  const named = (id: number): string => {
    const name = names.find((one) => one.id === id)?.name
    return name ? `${id} (${name})` : String(id)
  }
  return refuse(
    `Nothing of indicator ${series[place]!.indicatorId} is held for geo ${named(geo)}; held: ${and(own.map(named))}.`,
    `Name one of them: ${parameter === 'geo' ? '--geo' : `--param ${parameter}`}${parameter === 'geo' ? ' ' : '='}${common[0] ?? own[0]}.`,
    'geo-not-held',
  )
}

/** Refuses a time of which nothing is held, and periods that are too long for what is asked. */
async function checkHeld(
  { kysely }: Reader,
  { id, indicatorId, zone }: Held,
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
    refuse(
      `Nothing of indicator ${indicatorId}, geo ${geo} is held of this time.`,
      first === undefined || last === undefined
        ? 'A sync fetches it.'
        : `What is held goes from ${formatLocal(zone, first)} to ${formatLocal(zone, last)}: change --from and --to, or sync more.`,
      'nothing-held',
    )
  }
  if (need.hourly && (await inside.where('step_s', '>', 3600).executeTakeFirst()) !== undefined)
    refuse(
      `${name} compares hours; indicator ${indicatorId} (series ${id}) has periods that are longer.`,
      'Ask for a series with values of an hour or less.',
      'too-coarse',
    )
}

/** What is asked of the database when a recipe is run: the parameters made whole, and that what it needs is there. */
export async function prepareRecipe(
  db: Reader,
  recipe: Recipe,
  given: Parameters,
  now: number,
): Promise<{ readonly parameters: Parameters; readonly notes: readonly string[] }> {
  checkParameters(recipe, given)
  const notes: string[] = []
  let parameters: Parameters = { ...recipe.parameters, ...given }
  const needed: { need: Need; series: Held[] }[] = []
  for (const need of recipe.needs) needed.push({ need, series: await seriesOf(db, recipe, need, parameters) })
  const all = needed.flatMap(({ series }) => series)
  if (given.series !== undefined && given.indicator !== undefined && all[0]?.indicatorId !== given.indicator)
    refuse(
      `Series ${given.series} is one of indicator ${all[0]?.indicatorId}, not of ${given.indicator}.`,
      'Give either --series or --indicator.',
      'bad-parameter',
    )
  if (given.series !== undefined) parameters = { ...parameters, indicator: all[0]!.indicatorId }
  for (const parameter of new Set(recipe.needs.map(({ geo }) => geo))) {
    const series = needed.filter(({ need }) => need.geo === parameter).flatMap((one) => one.series)
    const wanted = parameters[parameter] as number
    const geo = await geoOf(db, series, parameter, wanted, given[parameter] !== undefined)
    if (geo !== wanted) notes.push(`Geo ${geo}: nothing is held for geo ${wanted}.`)
    parameters = { ...parameters, [parameter]: geo }
  }
  const { times, range } = resolveTimes(parameters, await zoneOf(db, all), now)
  parameters = { ...parameters, ...times }
  for (const { need, series } of needed)
    for (const one of series) await checkHeld(db, one, parameters[need.geo] as number, range, need, recipe.name)
  for (const { sql, lacks, hint } of recipe.probes ?? [])
    if (Number([...db.engine.ask(sql, parameters).rows][0]?.[0]) !== 1)
      refuse(
        lacks.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(parameters[name])),
        hint,
        'not-held',
      )
  return { parameters, notes }
}
