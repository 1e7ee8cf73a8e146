import type { Connection } from '../connection.ts'
import { COPY_MARK } from '../copies.ts'

/** Columns of the bookkeeping that say who requested what, and what was answered: they are private. */
const PRIVATE: Readonly<Record<string, string>> = {
  target: "''",
  params: "'{}'",
  reply_hash: 'null',
  message: 'null',
  hint: 'null',
  evidence: 'null',
}

/** The tables of a database that are there, without those that stand in for them. */
export const listTables = (raw: Connection['raw']): string[] =>
  raw.prepare(`select name from main.sqlite_schema where type = 'table' order by name`).pluck().all() as string[]

/** Whether a view or trigger that stays needs a table. */
const isUsed = (raw: Connection['raw'], table: string): boolean =>
  (
    raw
      .prepare(
        `select sql from main.sqlite_schema where type in ('view', 'trigger') and tbl_name <> ? and instr(sql, ?) > 0`,
      )
      .pluck()
      .all(table, table) as string[]
  ).some((sql) => new RegExp(`\\b${table}\\b`).test(sql))

/** Takes out of a copy the bookkeeping that no view needs, and out of the rest what is private. */
function removePrivate(raw: Connection['raw']): void {
  const names = listTables(raw).filter((name) => name.startsWith('_'))
  for (const table of names) {
    if (!isUsed(raw, table)) {
      raw.exec(`drop table "${table}"`)
      continue
    }
    const columns = raw.prepare('select name from pragma_table_info(?)').pluck().all(table) as string[]
    const cleared = columns.filter((name) => name in PRIVATE)
    if (cleared.length > 0)
      raw.exec(`update "${table}" set ${cleared.map((name) => `${name} = ${PRIVATE[name]}`).join(', ')}`)
  }
}

/**
 * Makes a copy a product and writes it into a file: no bodies, no requests, statistics for the query planner, a mark that
 * only copies have, and no log beside it.
 */
export function finishCopy(raw: Connection['raw'], file: string, bookkeeping: boolean): void {
  raw.exec('delete from _lock')
  if (!bookkeeping) removePrivate(raw)
  raw.exec(`insert into search (search) values ('optimize')`)
  raw.exec('analyze')
  raw.exec(`create index if not exists ${COPY_MARK} on data_dictionary (object)`)
  // Into a file beside it: a plain vacuum puts the whole into the folder for temporary files, which may be small.
  raw.prepare('vacuum into ?').run(file)
}
