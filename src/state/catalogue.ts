import { sql } from 'kysely'
import type { Reader } from '../db/store.ts'
import { localeOrderSql } from '../db/tables/sql/expressions.ts'
import { ENTRY_ROUTES } from '../job/entryRoutes.ts'
import type { CatalogueIndicator } from '../job/select.ts'

/** Reads the indicators of the catalogue, with their names in all languages and the terms under which they were listed. */
export async function readCatalogue({ kysely }: Reader): Promise<CatalogueIndicator[]> {
  const listed = kysely
    .selectFrom('indicator as i')
    .where('i.kind', '=', ENTRY_ROUTES.series)
    .where('i.last_seen_at', 'is not', null)
    .where('i.withdrawn_at', 'is', null)
    .orderBy('i.id')
  const ids = await listed.select('i.id').execute()
  const texts = await listed
    .innerJoin('indicator_text as t', (join) => join.onRef('t.kind', '=', 'i.kind').onRef('t.id', '=', 'i.id'))
    .select(['i.id', 't.name', 't.short_name'])
    .execute()
  const terms = await listed
    .innerJoin('indicator_term as g', (join) => join.onRef('g.kind', '=', 'i.kind').onRef('g.id', '=', 'i.id'))
    .select(['i.id', 'g.term'])
    .orderBy('g.term')
    .execute()
  const textsById = Map.groupBy(texts, ({ id }) => id)
  const termsById = Map.groupBy(terms, ({ id }) => id)
  return ids.map(({ id }) => ({
    id,
    names: [...new Set((textsById.get(id) ?? []).flatMap(({ name, short_name }) => [name, short_name]))]
      .filter((name) => name !== null)
      .sort(),
    terms: (termsById.get(id) ?? []).map(({ term }) => term),
  }))
}

/** Reads the name of an indicator in the preferred language; undefined if none is stored. */
export async function readIndicatorName({ kysely }: Reader, kind: string, id: number): Promise<string | undefined> {
  const text = await kysely
    .selectFrom('indicator_text')
    .select('name')
    .where('kind', '=', kind)
    .where('id', '=', id)
    .where('name', 'is not', null)
    .orderBy(sql.raw(localeOrderSql('locale')))
    .limit(1)
    .executeTakeFirst()
  return text?.name ?? undefined
}
