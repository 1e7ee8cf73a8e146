import type { Rows, RowValues } from '../db/tables/rows.ts'
import type { Redactor } from '../util/redact.ts'

/** Whether a column is derived from another one: the plain text of HTML. */
const isDerived = (column: string): boolean => column.endsWith('_text')

/**
 * Removes a secret that appears only in derived text (split by markup in the body, joined in the plain text). `found`: there
 * was one, and parsing the same body again would produce it again.
 */
export function withoutSecret(rows: Rows, redactor: Redactor): { readonly rows: Rows; readonly found: boolean } {
  let found = false
  const clean = (row: RowValues): RowValues => {
    const changed: Record<string, string> = {}
    for (const [column, value] of Object.entries(row))
      if (typeof value === 'string' && isDerived(column) && redactor.found(value))
        changed[column] = redactor.text(value)
    if (Object.keys(changed).length === 0) return row
    found = true
    return { ...row, ...changed }
  }
  const all = <T extends { readonly rows: readonly RowValues[] }>(tables: readonly T[]): T[] =>
    tables.map((table) => ({ ...table, rows: table.rows.map(clean) }))
  const { tables, owned } = rows
  const cleaned = { tables: all(tables), owned: all(owned) }
  return { rows: found ? { ...rows, ...cleaned } : rows, found }
}
