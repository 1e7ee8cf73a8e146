import type { Kysely } from 'kysely'
import { dictionaryRows } from '../tables/dictionary.ts'
import type { Database } from '../tables/schema.ts'

/** Writes the data dictionary of this program's schema. */
export async function writeDictionary(db: Kysely<Database>): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    await transaction.deleteFrom('data_dictionary').execute()
    for (const row of dictionaryRows()) await transaction.insertInto('data_dictionary').values(row).execute()
  })
}
