import type { SearchHit } from '../db/engine.ts'
import { geoNameColumn, storedKinds } from '../db/queries/catalogueNames.ts'
import type { Reader } from '../db/store.ts'
import { ENTRY_ROUTES } from '../job/entryRoutes.ts'
import { findGeos, type NamedGeo } from '../job/geoNames.ts'
import { hasWords, toWords } from '../job/select.ts'
import type { Service } from '../service/service.ts'
import { isObject } from '../util/json.ts'
import { parseInstant } from '../util/time/instant.ts'
import { localDate } from '../util/time/zone.ts'

/** The places that can be searched. */
export const SEARCH_SCOPES = ['catalogue', 'content', 'archives'] as const
export type SearchScope = (typeof SEARCH_SCOPES)[number]

/** The table whose kinds the texts of each place have. */
const TABLE_OF_SCOPE = { catalogue: 'indicator', content: 'content', archives: 'archive' } as const

/** Searches texts; case and accents do not matter, and a word matches the beginning of words. Without words it returns everything. */
export async function searchItems(
  db: Reader,
  text: string,
  places: readonly SearchScope[],
  most?: number,
): Promise<SearchHit[]> {
  const kinds = await Promise.all(places.map((place) => storedKinds(db, TABLE_OF_SCOPE[place])))
  return db.engine.search(text, kinds.flat(), most)
}

/** The values that are stored of an indicator. */
export interface Holding {
  readonly series: number
  readonly geos: number
  /** `YYYY-MM-DDTHH:MM:SSZ`. */
  readonly first: string
  readonly last: string
  /** The local days of the first and the last value. */
  readonly first_day: string
  readonly last_day: string
}

/** The stored values, by kind and number of the indicator: `indicator 600`. */
export async function holdings({ kysely }: Reader): Promise<ReadonlyMap<string, Holding>> {
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
    rows.map(({ kind, id, zone, ...holding }) => {
      const [first_day, last_day] = [holding.first, holding.last].map((at) => localDate(zone, parseInstant(at)))
      return [`${kind} ${id}`, { ...holding, first_day: first_day!, last_day: last_day! }]
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

/** The geos that the service or the database knows, by id, with their stored names. `db`: null before there is a database. */
export async function searchGeos(db: Reader | null, service: Service, text: string): Promise<NamedGeo[]> {
  const found = new Map(findGeos(service, text).map(({ id, name }) => [id, name]))
  const stored = db
    ? await db.kysely
        .selectFrom('geo')
        .select(['id', geoNameColumn('geo.id', 'name')])
        .execute()
    : []
  const wanted = toWords(text)
  for (const { id, name } of stored)
    if (found.has(id) || String(id) === text.trim() || hasWords([name ?? ''], wanted))
      found.set(id, name ?? found.get(id) ?? '')
  return [...found].map(([id, name]) => ({ id, name })).sort((a, b) => a.id - b.id)
}

/** The ids of the geos of each indicator, by kind and number: those with values, those that its catalogue entry names, and known ones. */
export async function geosOfIndicators(
  { kysely }: Reader,
  { indicatorGeos = {} }: Service,
): Promise<ReadonlyMap<string, ReadonlySet<number>>> {
  const withValues = await kysely
    .selectFrom('series_geo as g')
    .innerJoin('series as s', 's.id', 'g.series_id')
    .select(['s.kind', 's.indicator_id as id', 'g.geo_id as geo'])
    .execute()
  const described = await kysely
    .selectFrom('indicator')
    .select(['kind', 'id', 'payload'])
    .where('payload', 'like', '%"geos"%')
    .execute()
  const named = described.flatMap(({ kind, id, payload }) => {
    const { geos } = JSON.parse(payload!) as { readonly geos?: unknown }
    return (Array.isArray(geos) ? geos : []).flatMap((geo) =>
      isObject(geo) && typeof geo.geo_id === 'number' ? [{ kind, id, geo: geo.geo_id }] : [],
    )
  })
  const known = Object.entries(indicatorGeos).flatMap(([id, geos]) =>
    geos.map((geo) => ({ kind: ENTRY_ROUTES.series, id: Number(id), geo })),
  )
  const all = Map.groupBy([...withValues, ...named, ...known], ({ kind, id }) => `${kind} ${id}`)
  return new Map([...all].map(([key, rows]) => [key, new Set(rows.map(({ geo }) => geo))]))
}
