import { readKinds, seriesUnitColumn, unitColumn } from '../../db/queries/catalogueNames.ts'
import { daysText } from '../elements.ts'
import type { PageRequest } from '../page.ts'
import { translation } from '../words/words.ts'

/** What names are read by. */
export type LocaleRequest = Pick<PageRequest, 'store' | 'languages'>

/** Picks one of the languages of the same thing: the first of those wanted that there is, else any. */
export const inLanguage = <T extends { readonly locale: string }>(
  rows: readonly T[],
  languages: readonly string[],
): T | undefined => {
  const wanted = languages.find((language) => rows.some(({ locale }) => locale === language))
  return rows.find(({ locale }) => locale === wanted) ?? rows[0]
}

/** The name of each item in the first of the wanted languages that has one, else in another one. */
function pickNames<K>(
  rows: readonly { readonly key: K; readonly locale: string; readonly name: string | null }[],
  languages: readonly string[],
): ReadonlyMap<K, string> {
  const named = Map.groupBy(
    rows.filter(({ name }) => name !== null),
    ({ key }) => key,
  )
  return new Map([...named].map(([key, names]) => [key, inLanguage(names, languages)!.name!]))
}

/** The names of indicators, by `kind id`, in the language of a request where they are held in it. */
export async function indicatorNames({ store, languages }: LocaleRequest, ids: readonly number[]) {
  const rows = await store.kysely
    .selectFrom('indicator_text')
    .select(['kind', 'id', 'locale', 'name'])
    .where('kind', 'in', await readKinds(store, 'indicator'))
    .where('id', 'in', [...new Set(ids)])
    .execute()
  return pickNames(
    rows.map(({ kind, id, ...row }) => ({ key: `${kind} ${id}`, ...row })),
    languages,
  )
}

/** The names of geos, by number, in the language of a request where they are held in it. */
export async function geoNames({ store, languages }: LocaleRequest, ids: readonly number[]) {
  const rows = await store.kysely
    .selectFrom('geo_text')
    .select(['id as key', 'locale', 'name'])
    .where('id', 'in', [...new Set(ids)])
    .execute()
  return pickNames(rows, languages)
}

/** The units of some indicators, by `kind id`; the names of their quantities, if the units are not known. */
export async function indicatorUnits({ store }: Pick<PageRequest, 'store'>, ids: readonly number[]) {
  const rows = await store.kysely
    .selectFrom('indicator')
    .select(['kind', 'id', unitColumn('indicator.kind', 'indicator.id')])
    .where('kind', 'in', await readKinds(store, 'indicator'))
    .where('id', 'in', [...new Set(ids)])
    .execute()
  return new Map(rows.map(({ kind, id, unit }) => [`${kind} ${id}`, unit]))
}

/** The units of the values of some series, by their ids. */
export async function seriesUnits({ store, languages }: LocaleRequest, ids: readonly number[]) {
  const sumOf = translation(languages[0], 'dictionary', 'sum of') ?? 'sum of'
  const rows = await store.kysely
    .selectFrom('series as s')
    .select(['s.id', seriesUnitColumn('s')])
    .where('s.id', 'in', ids)
    .execute()
  return new Map(rows.map(({ id, unit }) => [id, unit?.replace(/^sum of/, sumOf) ?? null]))
}

/** A geo with its name, where one is held. */
export interface NamedGeo {
  readonly id: number
  readonly name: string | null
}

/** Some geos with their names, in order. */
export async function namedGeos(request: LocaleRequest, ids: readonly number[]): Promise<NamedGeo[]> {
  const names = await geoNames(request, ids)
  return ids.map((id) => ({ id, name: names.get(id) ?? null }))
}

/** A request as `_fetch` records it. */
interface RecordedRequest {
  readonly route: string
  /** JSON. */
  readonly params: string
  readonly from_at: number | null
  readonly to_at: number | null
}

/** What some requests were for, in words: the number and name of an indicator, else the route, and the days. */
export async function requestNames(request: PageRequest, rows: readonly RecordedRequest[]) {
  const idOf = ({ params }: RecordedRequest): unknown => (JSON.parse(params) as { id?: unknown }).id
  const names = await indicatorNames(
    request,
    rows.map(idOf).filter((id) => typeof id === 'number'),
  )
  return (row: RecordedRequest): string => {
    const id = idOf(row)
    const name = names.get(`${row.route} ${id}`)
    const what =
      name === undefined
        ? [request.words.runs.targets[row.route] ?? row.route.replaceAll('_', ' '), id].filter(Boolean).join(' ')
        : `${id} ${name}`
    return row.from_at === null || row.to_at === null ? what : `${what}, ${daysText(request, row.from_at, row.to_at)}`
  }
}
