import type { Transaction } from 'kysely'
import type { Engine } from '../db/engine.ts'
import type { Listing, OwnedRows } from '../db/tables/rows.ts'
import type { Database } from '../db/tables/schema.ts'

/** Marks the items of a listing as seen. If the listing is complete, marks all other items as withdrawn; nothing is deleted. */
export async function markListing(
  tx: Transaction<Database>,
  { item, text, kind, locale, ids, isComplete }: Listing,
  now: string,
): Promise<number> {
  // All of these tables have the columns used here; only some have `kind`.
  const texts = tx
    .updateTable(text as 'indicator_text')
    .where('locale', '=', locale)
    .$if(kind !== null, (query) => query.where('kind', '=', kind!))
  const items = tx.updateTable(item as 'indicator').$if(kind !== null, (query) => query.where('kind', '=', kind!))
  await texts.set({ last_seen_at: now, withdrawn_at: null }).where('id', 'in', ids).execute()
  await items.set({ last_seen_at: now, withdrawn_at: null }).where('id', 'in', ids).execute()
  if (!isComplete) return 0
  await texts
    .set({ withdrawn_at: now })
    .where('last_seen_at', 'is not', null)
    .where('withdrawn_at', 'is', null)
    .where('id', 'not in', ids)
    .execute()
  // An item is withdrawn if it is withdrawn in every language in which it was listed.
  const { numUpdatedRows } = await items
    .set({ withdrawn_at: now })
    .where('last_seen_at', 'is not', null)
    .where('withdrawn_at', 'is', null)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom(`${text as 'indicator_text'} as t`)
            .select('t.id')
            .whereRef('t.id', '=', `${item as 'indicator'}.id`)
            .$if(kind !== null, (query) => query.whereRef('t.kind', '=', `${item as 'indicator'}.kind`))
            .where('t.last_seen_at', 'is not', null)
            .where('t.withdrawn_at', 'is', null),
        ),
      ),
    )
    .executeTakeFirstOrThrow()
  return Number(numUpdatedRows)
}

/** Deletes the rows of some owners that a reply no longer has, such as dropped links. Returns their number. */
export async function replaceOwned(
  tx: Transaction<Database>,
  engine: Engine,
  { table, owner, owners, rows }: OwnedRows,
  columns: readonly string[],
): Promise<number> {
  const rest = columns.filter((column) => !owner.includes(column))
  const kept = new Map<string, unknown[][]>()
  const ownerKey = (row: OwnedRows['rows'][number]): string => JSON.stringify(owner.map((column) => row[column]))
  for (const row of rows) {
    const list = kept.get(ownerKey(row)) ?? []
    list.push(rest.map((column) => row[column]))
    kept.set(ownerKey(row), list)
  }
  // A reply may name an owner often: each is handled once, or the time would grow with the square of the rows.
  const uniqueOwners = new Map(owners.map((row) => [ownerKey(row), row]))
  let deleted = 0
  for (const [key, row] of uniqueOwners)
    deleted += await engine.deleteOthers(
      tx,
      table,
      Object.fromEntries(owner.map((column) => [column, row[column]!])),
      rest,
      kept.get(key) ?? [],
    )
  return deleted
}
