import { withoutPlural } from '../../../util/text.ts'
import type { SearchHit } from '../../engine.ts'
import { allItemsSql, rankHitsSql } from '../../tables/sql/searchSql.ts'
import type { Connection } from '../connection.ts'

/** The words of a text as prefixes for FTS5. */
const matchText = (text: string): string =>
  (text.match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => `"${withoutPlural(word)}"*`).join(' ')

const IS_KIND = 'kind in (select value from json_each(:kinds))'
const ALL = allItemsSql(IS_KIND)

/** BM25 with weight 10 for names and 4 for short names. */
const MATCHING = `with matching as materialized (
    select search.rowid, bm25(search, 10, 4, 1) as score
    from search cross join search_item i on i.id = search.rowid
    where search match :match and i.kind in (select value from json_each(:kinds))
    order by score limit :limit
  ), hit as (
    select t.kind, t.item_id as id, t.name, t.more, t.locale, m.score
    from matching m join texts t on t.id = m.rowid
    union all
    select kind, item_id, name, more, locale, 0 from texts where item_id = :id and ${IS_KIND}
  ), ${rankHitsSql(':id', ':text')}`

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
