import { dictionaryRows } from '../../db/tables/dictionary.ts'

/** A table or view in a line. */
export interface ObjectRow {
  readonly name: string
  readonly kind: string
  readonly meaning: string
}

/** A column with its meaning. */
export interface ColumnRow {
  readonly name: string
  readonly type: string | null
  readonly unit: string | null
  readonly meaning: string
}

/** Every table and view with what it holds, those for readers before those for bookkeeping. */
export function objects(): ObjectRow[] {
  const rows = dictionaryRows().filter(({ column_name }) => column_name === '')
  return rows
    .map(({ object, kind, meaning }) => ({ name: object, kind, meaning }))
    .sort((a, b) => Number(a.name.startsWith('_')) - Number(b.name.startsWith('_')) || (a.name < b.name ? -1 : 1))
}

/** One table or view with its columns; null when there is none. */
export function objectOf(name: string): (ObjectRow & { readonly columns: readonly ColumnRow[] }) | null {
  const object = objects().find((one) => one.name === name)
  if (!object) return null
  const columns = dictionaryRows()
    .filter((row) => row.object === name && row.column_name !== '')
    .map(({ column_name, type, unit, meaning }) => ({ name: column_name, type, unit, meaning }))
  return { ...object, columns }
}
