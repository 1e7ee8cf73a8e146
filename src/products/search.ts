import { parseInstant } from '../base/instant.ts'
import { localDate } from '../base/zone.ts'
import type { Reader } from '../db/open.ts'
import { byLocale, FIRST_LOCALE_SQL } from '../tables/sql.ts'

/** Something that a search found, in one of its languages. */
export interface Found {
  readonly kind: string
  readonly id: number
  readonly name: string | null
  /** Its short name or summary. */
  readonly more: string | null
  readonly locale: string
}

/** Which texts are searched. */
export const PLACES = {
  catalogue: ['indicator', 'offer_indicator'],
  content: ['news', 'glossary', 'documentation', 'static_page'],
  archives: ['archive', 'archive_json'],
} as const satisfies Record<string, readonly string[]>
export type Place = keyof typeof PLACES

/** Words as FTS5 takes them: each in quotes, as the beginning of a word. */
const matchOf = (text: string): string => (text.match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => `"${word}"*`).join(' ')

/** Everything of some kinds, each once, in the first language where held. */
const ALL = `select kind, id, name, more, locale from (
    select kind, item_id as id, name, more, locale,
      row_number() over (partition by kind, item_id order by ${byLocale('locale')}) as nth
    from texts where kind in (select value from json_each(:kinds))
  ) where nth = 1 order by kind desc, id`

/**
 * What matches: an exact number first, then an exact name, then names that begin so, then by BM25 with the name counting
 * ten times and the short name four times. Each item once, whatever language matched: in the first one where held.
 */
const MATCHING = `with hit as materialized (
    select rowid, bm25(search, 10, 4, 1) as score from search where search match :match
  ), one as (
    select t.kind, t.item_id as id, t.name, t.more, t.locale, h.score
    from hit h join texts t on t.id = h.rowid where t.kind in (select value from json_each(:kinds))
    union all
    select kind, item_id, name, more, locale, 0 from texts
    where item_id = :id and kind in (select value from json_each(:kinds))
  ), ranked as (
    select *, min(case when id = :id then 0 when lower(name) = lower(:text) then 1
        when lower(substr(name, 1, length(:text))) = lower(:text) then 2 else 3 end) over (partition by kind, id) as place,
      row_number() over (partition by kind, id order by score, ${byLocale('locale')}) as nth
    from one
  )
  select r.kind, r.id, coalesce(s.name, r.name) as name, iif(s.name is null, r.more, s.more) as more, iif(s.name is null, r.locale, ${FIRST_LOCALE_SQL}) as locale
  from ranked r
  left join search_item i on i.kind = r.kind and i.item_id = r.id and i.locale = ${FIRST_LOCALE_SQL}
  left join texts s on s.id = i.id
  where r.nth = 1 order by r.place, r.score, r.kind desc, r.id`

/** Searches texts; case and accents do not matter, and a word finds what begins with it. Without words: everything. */
export function search(db: Reader, text: string, places: readonly Place[]): Found[] {
  const kinds = JSON.stringify(places.flatMap((place) => PLACES[place]))
  const match = matchOf(text)
  if (match === '') return db.all(ALL, { kinds }) as Found[]
  const trimmed = text.trim()
  const id = /^\d+$/.test(trimmed) ? Number(trimmed) : null
  return db.all(MATCHING, { kinds, match, text: trimmed, id }) as Found[]
}

/** What is held of an indicator. */
export interface Holding {
  readonly series: number
  readonly geos: number
  /** `YYYY-MM-DDTHH:MM:SSZ`. */
  readonly first: string
  readonly last: string
  /** The local days of them. */
  readonly first_day: string
  readonly last_day: string
}

/** What is held, by kind and number of the indicator: `indicator 600`. */
export function holdings(db: Reader): ReadonlyMap<string, Holding> {
  const rows = db.all(
    `select f.kind, f.indicator_id as id, s.time_zone as zone, count(distinct f.series_id) as series,
       count(distinct f.geo_id) as geos, min(f.first_utc) as first, max(f.last_utc) as last
     from freshness f join series s on s.id = f.series_id group by f.kind, f.indicator_id`,
  ) as (Omit<Holding, 'first_day' | 'last_day'> & { kind: string; id: number; zone: string })[]
  return new Map(
    rows.map(({ kind, id, zone, ...holding }) => {
      const [first_day, last_day] = [holding.first, holding.last].map((at) => localDate(zone, parseInstant(at)))
      return [`${kind} ${id}`, { ...holding, first_day: first_day!, last_day: last_day! }]
    }),
  )
}
