import type { Reader } from '../store.ts'

/** The kinds of indicators, content or archives that are held, whatever service they came from. */
export async function heldKinds({ kysely }: Reader, table: 'indicator' | 'content' | 'archive'): Promise<string[]> {
  const rows = await kysely.selectFrom(table).select('kind').distinct().orderBy('kind').execute()
  return rows.map(({ kind }) => kind)
}
