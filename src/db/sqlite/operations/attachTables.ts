import type { AttachedTable } from '../../engine.ts'
import { createTakenNameError, quoteName } from '../../statementErrors.ts'
import type { Connection } from '../connection.ts'

const TYPES = { integer: 'integer', real: 'real', text: 'text', date: 'text', time: 'text', instant: 'text' } as const

/** Adds temporary tables in memory. The file stays read-only. */
export function attachTables(raw: Connection['raw'], tables: readonly AttachedTable[]): void {
  const stored = raw.prepare('select 1 from sqlite_schema where name = ? collate nocase')
  const queryOnly = raw.pragma('query_only', { simple: true })
  raw.pragma('temp_store = memory')
  raw.pragma('query_only = off')
  try {
    for (const { name, columns, rows } of tables) {
      if (stored.get(name) !== undefined) throw createTakenNameError(name)
      const declared = columns.map((column) => `${quoteName(column.name)} ${TYPES[column.type]}`)
      raw.exec(`create temp table ${quoteName(name)} (${declared.join(', ')})`)
      const insert = raw.prepare(`insert into temp.${quoteName(name)} values (${columns.map(() => '?').join(', ')})`)
      raw.transaction(() => {
        for (const row of rows) insert.run(row)
      })()
    }
  } finally {
    raw.pragma(`query_only = ${queryOnly}`)
  }
}
