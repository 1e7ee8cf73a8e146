import type { Reader, Store } from '../db/open.ts'
import { TABLE_NAMES } from '../tables/schema.ts'

/** What in bookkeeping says who asked what, and what was said of it: nobody's business. */
const PRIVATE: Readonly<Record<string, string>> = {
  target: "''",
  params: "'{}'",
  reply_hash: 'null',
  message: 'null',
  hint: 'null',
  evidence: 'null',
}

/** The tables of a database that are there, without those that stand in for them. */
export const tablesOf = (db: Reader): string[] =>
  (db.all(`select name from main.sqlite_schema where type = 'table' order by name`) as { name: string }[]).map(
    ({ name }) => name,
  )

/** Whether a view or trigger that stays needs a table. */
const isNeeded = (db: Reader, table: string): boolean =>
  (
    db.all(
      `select sql from main.sqlite_schema where type in ('view', 'trigger') and tbl_name <> ? and instr(sql, ?) > 0`,
      [table, table],
    ) as { sql: string }[]
  ).some(({ sql }) => new RegExp(`\\b${table}\\b`).test(sql))

/** Takes out of a copy the bookkeeping that no view needs, and out of the rest what is private. */
export function removePrivate(store: Store): void {
  const names = tablesOf(store).filter((name) => name.startsWith('_'))
  for (const table of names) {
    if (!isNeeded(store, table)) {
      store.run(`drop table "${table}"`, [])
      continue
    }
    const columns = (store.all(`select name from pragma_table_info(?)`, [table]) as { name: string }[]).map(
      ({ name }) => name,
    )
    const cleared = columns.filter((name) => name in PRIVATE)
    if (cleared.length > 0)
      store.run(`update "${table}" set ${cleared.map((name) => `${name} = ${PRIVATE[name]}`).join(', ')}`, [])
  }
}

/** How many rows each table has. */
export function countRows(db: Reader): Record<string, number> {
  const there = new Set(tablesOf(db))
  return Object.fromEntries(
    TABLE_NAMES.filter((name) => there.has(name)).map((name) => [
      name,
      db.get(`select count(*) from ${name}`) as number,
    ]),
  )
}
