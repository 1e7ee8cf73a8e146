import type { Reader, Store } from '../db/open.ts'
import type { Listed } from '../job/select.ts'
import { byLocale } from '../tables/sql.ts'

/** The indicators that the catalogue lists, with their names in every language and the terms that it was asked by. */
export function readCatalogue(db: Reader): Listed[] {
  const rows = db.all(`select i.id,
      (select json_group_array(x.name) from (
         select t.name from indicator_text t where t.kind = i.kind and t.id = i.id and t.name is not null
         union select t.short_name from indicator_text t where t.kind = i.kind and t.id = i.id and t.short_name is not null
       ) x) as names,
      (select json_group_array(g.term) from indicator_term g where g.kind = i.kind and g.id = i.id) as terms
    from indicator i
    where i.kind = 'indicator' and i.last_seen_at is not null and i.withdrawn_at is null
    order by i.id`) as { id: number; names: string; terms: string }[]
  return rows.map(({ id, names, terms }) => ({ id, names: JSON.parse(names), terms: JSON.parse(terms) }))
}

/** The name of an indicator, in the language that the views prefer; undefined where none is held. */
export const indicatorName = (store: Pick<Store, 'get'>, kind: string, id: number): string | undefined =>
  store.get(
    `select name from indicator_text where kind = ? and id = ? and name is not null order by ${byLocale('locale')} limit 1`,
    [kind, id],
  ) as string | undefined
