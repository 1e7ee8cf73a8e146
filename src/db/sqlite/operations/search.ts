import type { SearchHit } from '../../engine.ts'
import { LANGUAGE_SQL, localeOrderSql } from '../../tables/sql/expressions.ts'
import type { Connection } from '../connection.ts'

/** The words of a text as prefixes for FTS5. */
const matchText = (text: string): string => (text.match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => `"${word}"*`).join(' ')

/** All items of some kinds, each once, in the preferred language if stored. */
const ALL = `select kind, id, name, more, locale from (
    select kind, item_id as id, name, more, locale,
      row_number() over (partition by kind, item_id order by ${localeOrderSql('locale')}) as nth
    from texts where kind in (select value from json_each(:kinds))
  ) where nth = 1 order by kind desc, id`

/**
 * Matching items: an exact id first, then an exact name, then names with this prefix, then by BM25 with weight 10 for names and 4
 * for short names. Each item once, in the preferred language if stored.
 */
const MATCHING = `with hit as materialized (
    select search.rowid, bm25(search, 10, 4, 1) as score
    from search cross join search_item i on i.id = search.rowid
    where search match :match and i.kind in (select value from json_each(:kinds))
    order by score limit :limit
  ), candidate as (
    select t.kind, t.item_id as id, t.name, t.more, t.locale, h.score
    from hit h join texts t on t.id = h.rowid
    union all
    select kind, item_id, name, more, locale, 0 from texts
    where item_id = :id and kind in (select value from json_each(:kinds))
  ), ranked as (
    select *, min(case when id = :id then 0 when lower(name) = lower(:text) then 1
        when lower(substr(name, 1, length(:text))) = lower(:text) then 2 else 3 end) over (partition by kind, id) as place,
      row_number() over (partition by kind, id order by score, ${localeOrderSql('locale')}) as nth
    from candidate
  )
  select r.kind, r.id, coalesce(s.name, r.name) as name, iif(s.name is null, r.more, s.more) as more, iif(s.name is null, r.locale, ${LANGUAGE_SQL}) as locale
  from ranked r
  left join search_item i on i.kind = r.kind and i.item_id = r.id and i.locale = ${LANGUAGE_SQL}
  left join texts s on s.id = i.id
  where r.nth = 1 order by r.place, r.score, r.kind desc, r.id`

/** Searches the texts of some kinds. Without words it returns all items. */
export function search(
  prepare: Connection['prepare'],
  text: string,
  itemKinds: readonly string[],
  limit = -1,
): SearchHit[] {
  const kinds = JSON.stringify(itemKinds)
  const match = matchText(text)
  if (match === '') return prepare(ALL).all({ kinds }) as SearchHit[]
  const trimmed = text.trim()
  const id = /^\d+$/.test(trimmed) ? Number(trimmed) : null
  return prepare(MATCHING).all({ kinds, match, text: trimmed, id, limit }) as SearchHit[]
}
