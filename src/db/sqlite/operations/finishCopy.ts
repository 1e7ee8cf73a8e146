import type { Connection } from '../connection.ts'
import { COPY_MARK } from '../copies.ts'

/** Private columns of the bookkeeping, with their replacement: requests, responses, messages and definitions of jobs. */
const PRIVATE: Readonly<Record<string, string>> = {
  target: "''",
  params: "'{}'",
  reply_hash: 'null',
  message: 'null',
  hint: 'null',
  evidence: 'null',
  definition: 'null',
  former_definition: 'null',
  host: 'null',
  file: 'null',
}

/** The tables of a file, without temporary ones. */
export const listTables = (raw: Connection['raw']): string[] =>
  raw.prepare(`select name from main.sqlite_schema where type = 'table' order by name`).pluck().all() as string[]

/** Whether a view or trigger uses a table. */
const isUsed = (raw: Connection['raw'], table: string): boolean =>
  (
    raw
      .prepare(
        `select sql from main.sqlite_schema where type in ('view', 'trigger') and tbl_name <> ? and instr(sql, ?) > 0`,
      )
      .pluck()
      .all(table, table) as string[]
  ).some((sql) => new RegExp(`\\b${table}\\b`).test(sql))

/** Removes bookkeeping that no view uses, and private columns of the rest. */
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
 * Makes a copy a published one and writes it to a file: without bodies, requests and log, with statistics for the query planner
 * and a mark.
 */
export function finishCopy(raw: Connection['raw'], file: string, keepsBookkeeping: boolean): void {
  raw.exec('delete from _lock')
  if (!keepsBookkeeping) removePrivate(raw)
  raw.exec(`insert into search (search) values ('optimize')`)
  raw.exec('analyze')
  raw.exec(`create index if not exists ${COPY_MARK} on data_dictionary (object)`)
  // A plain vacuum needs the folder for temporary files, which may be small.
  raw.prepare('vacuum into ?').run(file)
}
