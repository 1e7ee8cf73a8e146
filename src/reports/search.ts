import type { SearchHit } from '../db/engine.ts'
import { storedKinds } from '../db/queries/catalogueNames.ts'
import type { Reader } from '../db/store.ts'
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
