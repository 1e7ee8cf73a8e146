import { storedKinds } from '../../db/queries/catalogueNames.ts'
import type { PageRequest } from '../page.ts'
import { inLanguage } from './locale.ts'

/** What names are read by. */
export type LocaleRequest = Pick<PageRequest, 'store' | 'languages'>

interface NameRow<K> {
  readonly key: K
  readonly locale: string
  readonly name: string | null
}

/** The name of each item in the first of the wanted languages that has one, else in another one. */
const pickNames = <K>(rows: readonly NameRow<K>[], languages: readonly string[]): ReadonlyMap<K, string> =>
  new Map(
    [
      ...Map.groupBy(
        rows.filter(({ name }) => name !== null),
        ({ key }) => key,
      ),
    ].map(([key, names]) => [key, inLanguage(names, languages)!.name!]),
  )

/** The names of indicators, by `kind id`, in the language of a request where they are held in it. */
export async function indicatorNames(
  { store, languages }: LocaleRequest,
  ids: readonly number[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map()
  const rows = await store.kysely
    .selectFrom('indicator_text')
    .select(['kind', 'id', 'locale', 'name'])
    .where('kind', 'in', await storedKinds(store, 'indicator'))
    .where('id', 'in', [...new Set(ids)])
    .execute()
  return pickNames(
    rows.map(({ kind, id, ...row }) => ({ key: `${kind} ${id}`, ...row })),
    languages,
  )
}

/** The names of geos, by number, in the language of a request where they are held in it. */
export async function geoNames(
  { store, languages }: LocaleRequest,
  ids: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  if (ids.length === 0) return new Map()
  const rows = await store.kysely
    .selectFrom('geo_text')
    .select(['id as key', 'locale', 'name'])
    .where('id', 'in', [...new Set(ids)])
    .execute()
  return pickNames(rows, languages)
}
