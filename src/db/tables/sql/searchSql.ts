import { LANGUAGE_SQL, localeOrderSql } from './expressions.ts'

/* The search of texts. Each database finds matching texts with its own index. */

/** Selects all items of some kinds, each once, in the preferred language if stored. `isKind` is a condition on `kind`. */
export const allItemsSql = (isKind: string): string => `select kind, id, name, more, locale from (
    select kind, item_id as id, name, more, locale,
      row_number() over (partition by kind, item_id order by ${localeOrderSql('locale')}) as nth
    from texts where ${isKind}
  ) t where nth = 1 order by kind desc, id`

/**
 * Ranks texts of the table expression `hit`: an exact id first, then an exact name, then names with this prefix, then by score. Each
 * item once, in the preferred language if stored. `id` and `text` are parameters.
 */
export const rankHitsSql = (id: string, text: string): string => `ranked as (
    select *, min(case when id = ${id} then 0 when lower(name) = lower(${text}) then 1
        when lower(substr(name, 1, length(${text}))) = lower(${text}) then 2 else 3 end) over (partition by kind, id) as place,
      row_number() over (partition by kind, id order by score, ${localeOrderSql('locale')}) as nth
    from hit
  )
  select r.kind, r.id, coalesce(s.name, r.name) as name, case when s.name is null then r.more else s.more end as more,
    case when s.name is null then r.locale else ${LANGUAGE_SQL} end as locale
  from ranked r
  left join search_item i on i.kind = r.kind and i.item_id = r.id and i.locale = ${LANGUAGE_SQL}
  left join texts s on s.id = i.id
  where r.nth = 1 order by r.place, r.score, r.kind desc, r.id`
