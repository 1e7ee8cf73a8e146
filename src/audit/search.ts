import type { Reader } from '../db/open.ts'

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

/** Everything of some kinds, each once, in Spanish where held. */
const ALL = `select kind, item_id as id, name, more, max(locale) as locale from texts
  where kind in (select value from json_each(:kinds)) group by kind, item_id order by kind desc, item_id`

/**
 * What matches: an exact number first, then an exact name, then names that begin so, then by BM25 with the name counting
 * ten times and the short name four times. Each item once, in the language that matched best.
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
      row_number() over (partition by kind, id order by score, locale desc) as nth
    from one
  )
  select kind, id, name, more, locale from ranked where nth = 1 order by place, score, kind desc, id`

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
}

/** What is held, by kind and number of the indicator: `indicator 600`. */
export function holdings(db: Reader): ReadonlyMap<string, Holding> {
  const rows = db.all(
    `select kind, indicator_id as id, count(distinct series_id) as series, count(distinct geo_id) as geos,
       min(first_utc) as first, max(last_utc) as last
     from freshness group by kind, indicator_id`,
  ) as (Holding & { kind: string; id: number })[]
  return new Map(rows.map(({ kind, id, ...holding }) => [`${kind} ${id}`, holding]))
}
