import type { SearchHit } from '../db/engine.ts'
import { geoNameColumn, readKinds } from '../db/queries/catalogueNames.ts'
import type { Reader } from '../db/store.ts'
import { ENTRY_ROUTES } from '../job/entryRoutes.ts'
import { findGeos, type NamedGeo } from '../job/geoNames.ts'
import { hasWords, toWords } from '../job/select.ts'
import type { Service } from '../service/service.ts'
import { isObject, toList } from '../util/json.ts'
import { withoutPlural } from '../util/text.ts'
import { parseInstant } from '../util/time/instant.ts'
import { localDate } from '../util/time/zone.ts'

export const SEARCH_SCOPES = ['catalogue', 'content', 'archives'] as const
export type SearchScope = (typeof SEARCH_SCOPES)[number]

/** The table with the kinds of each scope. */
const SCOPE_TABLES = { catalogue: 'indicator', content: 'content', archives: 'archive' } as const

/** Words that stand between others and say nothing. */
const FILLERS = new Set(['de', 'del', 'el', 'en', 'la', 'las', 'los', 'y', 'and', 'in', 'of', 'the'])

/** The words that a text must have to match a search: as the beginnings of singular and plural, without fillers. */
export function searchedWords(words: readonly string[]): string[] {
  const telling = words.filter((word) => !FILLERS.has(word))
  return (telling.length > 0 ? telling : words).map(withoutPlural)
}

/** Finds the indicators whose everyday names have all words of a text. */
function aliasedIndicators({ aliases = {} }: Pick<Service, 'aliases'>, text: string): number[] {
  const words = searchedWords(toWords(text))
  const ids = Object.keys(aliases).map(Number)
  return words.length === 0 ? [] : ids.filter((id) => hasWords(aliases[id]!, words))
}

/**
 * Searches texts; case and accents do not matter, and a word matches the beginning of words. Indicators that only an everyday name
 * finds come first. Without words it returns everything.
 */
export async function searchItems(
  db: Reader,
  service: Pick<Service, 'aliases'>,
  text: string,
  scopes: readonly SearchScope[],
  limit?: number,
): Promise<SearchHit[]> {
  const kinds = (await Promise.all(scopes.map((scope) => readKinds(db, SCOPE_TABLES[scope])))).flat()
  const found = await db.engine.search(text, kinds, limit)
  const kind = ENTRY_ROUTES.series
  const isMissing = (id: number): boolean => !found.some((hit) => hit.kind === kind && hit.id === id)
  const ids = kinds.includes(kind) ? aliasedIndicators(service, text).filter(isMissing) : []
  const aliased = await Promise.all(ids.map((id) => db.engine.search(String(id), [kind])))
  return [...aliased.flatMap((hits, i) => hits.filter(({ id }) => id === ids[i])), ...found]
}

/** The stored values of an indicator. */
interface StoredRange {
  readonly series: number
  readonly geos: number
  /** `YYYY-MM-DDTHH:MM:SSZ`. */
  readonly first: string
  readonly last: string
  /** The local days of the first and the last value. */
  readonly first_day: string
  readonly last_day: string
}

/** Reads the stored values by kind and number of the indicator: `indicator 600`. */
export async function readStoredRanges({ kysely }: Reader): Promise<ReadonlyMap<string, StoredRange>> {
  const rows = await kysely
    .selectFrom('freshness as f')
    .innerJoin('series as s', 's.id', 'f.series_id')
    .select(['f.kind', 'f.indicator_id as id'])
    .select(({ fn }) => [
      fn.min('s.time_zone').as('zone'),
      fn.count<number>('f.series_id').distinct().as('series'),
      fn.count<number>('f.geo_id').distinct().as('geos'),
      fn.min('f.first_utc').as('first'),
      fn.max('f.last_utc').as('last'),
    ])
    .groupBy(['f.kind', 'f.indicator_id'])
    .execute()
  return new Map(
    rows.map(({ kind, id, zone, ...range }) => {
      const day = (timestamp: string) => localDate(zone, parseInstant(timestamp))
      return [`${kind} ${id}`, { ...range, first_day: day(range.first), last_day: day(range.last) }]
    }),
  )
}

/** Whether the catalogue of indicators was ever fetched. */
export const hasCatalogue = async ({ kysely }: Reader): Promise<boolean> =>
  (await kysely
    .selectFrom('indicator')
    .select('id')
    .where('kind', '=', ENTRY_ROUTES.series)
    .where('last_seen_at', 'is not', null)
    .limit(1)
    .executeTakeFirst()) !== undefined

/** Searches the geos of the service and of the database (null before there is one); returns them by id. */
export async function searchGeos(db: Reader | null, service: Service, text: string): Promise<NamedGeo[]> {
  const names = new Map(findGeos(service, text).map(({ id, name }) => [id, name]))
  const geos = db?.kysely.selectFrom('geo').select(['id', geoNameColumn('geo.id', 'name')])
  const words = toWords(text)
  for (const { id, name } of (await geos?.execute()) ?? [])
    if (names.has(id) || String(id) === text.trim() || hasWords([name ?? ''], words))
      names.set(id, name ?? names.get(id) ?? '')
  return [...names].map(([id, name]) => ({ id, name })).sort((a, b) => a.id - b.id)
}

/** Reads the geos of indicators, by kind and number: those with values, those of the catalogue entry, and those of the service. */
export async function readIndicatorGeos(
  { kysely }: Reader,
  { indicatorGeos = {} }: Service,
): Promise<ReadonlyMap<string, ReadonlySet<number>>> {
  const geos = new Map<string, Set<number>>()
  const add = (kind: string, id: number | string, geo: number): void => {
    const key = `${kind} ${id}`
    geos.set(key, (geos.get(key) ?? new Set()).add(geo))
  }
  const stored = await kysely
    .selectFrom('series_geo as g')
    .innerJoin('series as s', 's.id', 'g.series_id')
    .select(['s.kind', 's.indicator_id as id', 'g.geo_id as geo'])
    .execute()
  for (const { kind, id, geo } of stored) add(kind, id, geo)
  const listed = await kysely
    .selectFrom('indicator')
    .select(['kind', 'id', 'payload'])
    .where('payload', 'like', '%"geos"%')
    .execute()
  for (const { kind, id, payload } of listed)
    for (const geo of toList((JSON.parse(payload!) as { readonly geos?: unknown }).geos))
      if (isObject(geo) && typeof geo.geo_id === 'number') add(kind, id, geo.geo_id)
  for (const [id, ids] of Object.entries(indicatorGeos)) for (const geo of ids) add(ENTRY_ROUTES.series, id, geo)
  return geos
}
