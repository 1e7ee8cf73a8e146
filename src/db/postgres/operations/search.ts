import type { Kysely } from 'kysely'
import type { SearchHit } from '../../engine.ts'
import type { Database } from '../../tables/schema.ts'
import { LANGUAGE_SQL, localeOrderSql } from '../../tables/sql/expressions.ts'
import { queryRows } from '../connection/statements.ts'

/** All items of some kinds, each once, in the preferred language if stored. */
const ALL = `select kind, id, name, more, locale from (
    select kind, item_id as id, name, more, locale,
      row_number() over (partition by kind, item_id order by ${localeOrderSql('locale')}) as nth
    from texts where kind = any($1)
  ) t where nth = 1 order by kind desc, id`

/**
 * Matching items, ignoring case and accents: an exact id first, then an exact name, then names with this prefix, then by the
 * column with the words: name, short name, text. Each item once, in the preferred language if stored.
 */
const MATCHING = `with query as materialized (
    select string_agg(quote_literal(word) || ':*', ' & ')::tsquery as words
    from unnest(tsvector_to_array(compat.words_of($2))) word
  ), hit as materialized (
    select t.id as item, t.kind, t.item_id as id, t.name, t.more, t.locale,
      case when compat.words_of(t.name) @@ q.words then 0 when compat.words_of(t.more) @@ q.words then 1 else 2 end as score
    from query q join search s on s.words @@ q.words join texts t on t.id = s.id where t.kind = any($1)
    union all
    select id, kind, item_id, name, more, locale, 0 from texts where item_id = $3 and kind = any($1)
  ), ranked as (
    select *, min(case when id = $3 then 0 when lower(name) = lower($2) then 1
        when lower(substr(name, 1, length($2))) = lower($2) then 2 else 3 end) over (partition by kind, id) as place,
      row_number() over (partition by kind, id order by score, ${localeOrderSql('locale')}) as nth
    from hit
  )
  select r.kind, r.id, coalesce(s.name, r.name) as name, case when s.name is null then r.more else s.more end as more,
    case when s.name is null then r.locale else ${LANGUAGE_SQL} end as locale
  from ranked r
  left join search_item i on i.kind = r.kind and i.item_id = r.id and i.locale = ${LANGUAGE_SQL}
  left join texts s on s.id = i.id
  where r.nth = 1 order by r.place, r.score, r.kind desc, r.id`

/** Searches the texts of some kinds. Without words it returns all items. */
export function search(db: Kysely<Database>, text: string, kinds: readonly string[]): Promise<SearchHit[]> {
  if (!/[\p{L}\p{N}]/u.test(text)) return queryRows(db, ALL, [[...kinds]])
  const trimmed = text.trim()
  const id = /^\d{1,15}$/.test(trimmed) ? Number(trimmed) : null
  return queryRows(db, MATCHING, [[...kinds], trimmed, id])
}
