import type { Selectable } from 'kysely'
import { readKinds, seriesUnitColumn, unitColumn } from '../../db/queries/catalogueNames.ts'
import type { Database } from '../../db/tables/schema.ts'
import { daysText } from '../formats.ts'
import type { PageRequest } from '../page.ts'
import { translation } from '../words/words.ts'

/** The part of a request that selects names. */
export type LocaleRequest = Pick<PageRequest, 'store' | 'languages'>

/** Picks the row in the first of the languages that has one, else any. */
export const inLanguage = <T extends { readonly locale: string }>(
  rows: readonly T[],
  languages: readonly string[],
): T | undefined =>
  languages.map((language) => rows.find(({ locale }) => locale === language)).find((row) => row !== undefined) ??
  rows[0]

/** Picks the name of each key in the first of the languages that has one, else any. */
function pickNames<Row extends { readonly locale: string; readonly name: string | null }, K>(
  rows: readonly Row[],
  languages: readonly string[],
  key: (row: Row) => K,
): ReadonlyMap<K, string> {
  const groups = Map.groupBy(
    rows.filter(({ name }) => name !== null),
    key,
  )
  return new Map([...groups].map(([id, names]) => [id, inLanguage(names, languages)!.name!]))
}

/** Reads the names of indicators by `kind id`, in the language of the request if stored. */
export async function indicatorNames({ store, languages }: LocaleRequest, ids: readonly number[]) {
  const rows = await store.kysely
    .selectFrom('indicator_text')
    .select(['kind', 'id', 'locale', 'name'])
    .where('kind', 'in', await readKinds(store, 'indicator'))
    .where('id', 'in', [...new Set(ids)])
    .execute()
  return pickNames(rows, languages, ({ kind, id }) => `${kind} ${id}`)
}

/** Reads the names of geos by id, in the language of the request if stored. */
export async function geoNames({ store, languages }: LocaleRequest, ids: readonly number[]) {
  const rows = await store.kysely
    .selectFrom('geo_text')
    .select(['id', 'locale', 'name'])
    .where('id', 'in', [...new Set(ids)])
    .execute()
  return pickNames(rows, languages, ({ id }) => id)
}

/** Reads the units of indicators by `kind id`; the names of their quantities, if the units are unknown. */
export async function indicatorUnits({ store }: Pick<PageRequest, 'store'>, ids: readonly number[]) {
  const rows = await store.kysely
    .selectFrom('indicator')
    .select(['kind', 'id', unitColumn('indicator.kind', 'indicator.id')])
    .where('kind', 'in', await readKinds(store, 'indicator'))
    .where('id', 'in', [...new Set(ids)])
    .execute()
  return new Map(rows.map(({ kind, id, unit }) => [`${kind} ${id}`, unit]))
}

/** Reads the units of series by id. */
export async function seriesUnits({ store, languages }: LocaleRequest, ids: readonly number[]) {
  const sumOf = translation(languages[0], 'dictionary', 'sum of') ?? 'sum of'
  const rows = await store.kysely
    .selectFrom('series as s')
    .select(['s.id', seriesUnitColumn('s')])
    .where('s.id', 'in', ids)
    .execute()
  return new Map(rows.map(({ id, unit }) => [id, unit?.replace(/^sum of/, sumOf) ?? null]))
}

/** Reads the names of geos, in order. */
export async function namedGeos(request: LocaleRequest, ids: readonly number[]) {
  const names = await geoNames(request, ids)
  return ids.map((id) => ({ id, name: names.get(id) ?? null }))
}

/** Lists geos with their ids: `3 España, 1 Portugal`. */
export const geoList = (geos: readonly { readonly id: number; readonly name: string | null }[]): string =>
  geos.map(({ id, name }) => [id, name].filter((part) => part !== null).join(' ')).join(', ')

type RecordedRequest = Pick<Selectable<Database['_fetch']>, 'route' | 'params' | 'from_at' | 'to_at'>

/** Describes requests: the number and name of an indicator, else the route, and the days. */
export async function requestNames(request: PageRequest, rows: readonly RecordedRequest[]) {
  const parseId = ({ params }: RecordedRequest): unknown => (JSON.parse(params) as { id?: unknown }).id
  const ids = rows.map(parseId).filter((id) => typeof id === 'number')
  const names = await indicatorNames(request, ids)
  return (row: RecordedRequest): string => {
    const { route, from_at, to_at } = row
    const id = parseId(row)
    const name = names.get(`${route} ${id}`)
    const target = request.words.runs.targets[route] ?? route.replaceAll('_', ' ')
    const item = name === undefined ? [target, id].filter(Boolean).join(' ') : `${id} ${name}`
    return from_at === null || to_at === null ? item : `${item}, ${daysText(request, from_at, to_at)}`
  }
}
