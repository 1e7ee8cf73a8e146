import type { Kysely } from 'kysely'
import type { SearchHit } from '../../engine.ts'
import type { Database } from '../../tables/schema.ts'
import { allItemsSql, rankHitsSql } from '../../tables/sql/searchSql.ts'
import { queryRows } from '../connection/statements.ts'

const ALL = allItemsSql('kind = any($1)')

/** Ignores case and accents. The score is the column with the words: name, short name or text. */
const MATCHING = `with query as materialized (
    select string_agg(quote_literal(case when length(word) > 3 then regexp_replace(word, 'e?s$', '') else word end) || ':*', ' & ')::tsquery as words
    from unnest(tsvector_to_array(compat.words_of($2))) word
  ), hit as materialized (
    select t.kind, t.item_id as id, t.name, t.more, t.locale,
      case when compat.words_of(t.name) @@ q.words then 0 when compat.words_of(t.more) @@ q.words then 1 else 2 end as score
    from query q join search s on s.words @@ q.words join texts t on t.id = s.id where t.kind = any($1)
    union all
    select kind, item_id, name, more, locale, 0 from texts where item_id = $3 and kind = any($1)
  ), ${rankHitsSql('$3', '$2')}`

/** Searches the texts of some kinds. Without words it returns all items. */
export function search(db: Kysely<Database>, text: string, kinds: readonly string[]): Promise<SearchHit[]> {
  if (!/[\p{L}\p{N}]/u.test(text)) return queryRows(db, ALL, [[...kinds]])
  const trimmed = text.trim()
  const id = /^\d{1,15}$/.test(trimmed) ? Number(trimmed) : null
  return queryRows(db, MATCHING, [[...kinds], trimmed, id])
}
