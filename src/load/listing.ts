import type { Store } from '../db/open.ts'
import type { Listing, OwnedRows } from '../tables/rows.ts'

/** Marks what a listing held as seen and, when it was complete, what it no longer held as withdrawn. Nothing is deleted. */
export function markListing(store: Store, { item, text, kind, locale, ids, complete }: Listing, now: string): number {
  const seen = JSON.stringify(ids)
  const scope = kind === null ? '' : 'kind = ? and '
  const of = kind === null ? [] : [kind]
  const listed = 'id in (select value from json_each(?))'
  store.run(`update ${text} set last_seen_at = ?, withdrawn_at = null where ${scope}locale = ? and ${listed}`, [
    now,
    ...of,
    locale,
    seen,
  ])
  store.run(`update ${item} set last_seen_at = ?, withdrawn_at = null where ${scope}${listed}`, [now, ...of, seen])
  if (!complete) return 0
  store.run(
    `update ${text} set withdrawn_at = ?
     where ${scope}locale = ? and last_seen_at is not null and withdrawn_at is null and not ${listed}`,
    [now, ...of, locale, seen],
  )
  // An item is gone when it is gone in every language in which it was listed.
  const join = kind === null ? 't.id = i.id' : 't.kind = i.kind and t.id = i.id'
  return store.run(
    `update ${item} as i set withdrawn_at = ?
     where ${kind === null ? '' : 'i.kind = ? and '}i.last_seen_at is not null and i.withdrawn_at is null and not exists (
       select 1 from ${text} t where ${join} and t.last_seen_at is not null and t.withdrawn_at is null)`,
    [now, ...of],
  )
}

/** Makes the rows of some owners exactly those given: links that the service dropped go, the others stay untouched. */
export function replaceOwned(
  store: Store,
  { table, owner, owners, rows }: OwnedRows,
  columns: readonly string[],
): void {
  const rest = columns.filter((column) => !owner.includes(column))
  const kept = new Map<string, unknown[]>()
  const nameOf = (row: OwnedRows['rows'][number]): string => JSON.stringify(owner.map((column) => row[column]))
  for (const row of rows) {
    const list = kept.get(nameOf(row)) ?? []
    list.push(rest.map((column) => row[column]))
    kept.set(nameOf(row), list)
  }
  const same = owner.map((column) => `${column} = ?`).join(' and ')
  const pairs = rest.map((_, i) => `value ->> ${i}`).join(', ')
  // An owner that the answer names often is one owner: else the time would grow with the square of its rows.
  const each = new Map(owners.map((one) => [nameOf(one), one]))
  for (const [name, one] of each)
    store.run(
      `delete from ${table} where ${same} and (${rest.join(', ')}) not in (select ${pairs} from json_each(?))`,
      [...owner.map((column) => one[column]), JSON.stringify(kept.get(name) ?? [])],
    )
}
