import type { Reader } from '../store.ts'

/** The kinds of content that are held, whatever service they came from. */
export async function heldContentKinds({ kysely }: Reader): Promise<string[]> {
  const rows = await kysely.selectFrom('content').select('kind').distinct().orderBy('kind').execute()
  return rows.map(({ kind }) => kind)
}
