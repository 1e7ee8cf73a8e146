import type { Transaction } from 'kysely'
import { requireCopying } from '../../db/copying.ts'
import type { Reader, Store } from '../../db/store.ts'
import { type Database, TABLE_NAMES, type TableName } from '../../db/tables/schema.ts'
import { insertIndicator } from '../storedSeries.ts'

/** Tables that no reply contains. They are copied. */
const RECORD_TABLES = [
  '_job',
  '_run',
  '_fetch',
  '_reply',
  '_quarantine',
  '_budget',
  '_withdrawal',
  '_source',
  'time_zone_offset',
  'magnitude',
  'setting',
  'archive_file',
  'archive_row',
  'archive_i90_row',
  // Including the writer's lock: the rebuilt database may replace the other one while a writer has the lock.
  '_lock',
  '_fence',
] as const

/** Copied tables that a replay corrects, because a newer version may parse more. */
const CORRECTED: readonly TableName[] = ['_fetch', '_quarantine']

/** Tables whose rows a replay changes. */
export const REBUILT_TABLES: readonly TableName[] = [
  ...TABLE_NAMES.filter((name) => name !== 'data_dictionary' && !(RECORD_TABLES as readonly string[]).includes(name)),
  ...CORRECTED,
]

/** Copies the tables without replies of another database into an empty one of the same schema. */
export const copyRecords = async (store: Store, source: Reader): Promise<void> =>
  requireCopying(store).takeTables(source, RECORD_TABLES)

/** Copies the series of another database, with their indicators. Each replayed reply raises the lookback again. */
export async function copySeries({ kysely }: Reader, tx: Transaction<Database>): Promise<void> {
  for (const row of await kysely.selectFrom('series').selectAll().orderBy('id').execute()) {
    await insertIndicator(tx, row.kind, row.indicator_id, row.created_at)
    await tx
      .insertInto('series')
      .values({ ...row, lookback_s: null })
      .execute()
  }
}

/** Copies changes of resolution, what jobs require, accepted gaps and the rules of the judgement. Their series must exist. */
export async function copyLearned({ kysely }: Reader, tx: Transaction<Database>): Promise<void> {
  for (const row of await kysely.selectFrom('_resolution').selectAll().execute())
    await tx.insertInto('_resolution').values(row).execute()
  for (const row of await kysely.selectFrom('_duty').selectAll().execute())
    await tx.insertInto('_duty').values(row).execute()
  for (const row of await kysely.selectFrom('_accept').selectAll().orderBy('id').execute())
    await tx.insertInto('_accept').values(row).execute()
  for (const row of await kysely.selectFrom('_judged').selectAll().execute())
    await tx.insertInto('_judged').values(row).execute()
}

/** Tables with `first_seen_at`, and their keys. */
const FIRST_SEEN_KEYS = {
  indicator: ['kind', 'id'],
  content: ['kind', 'id'],
  archive: ['kind', 'id'],
  archive_edition: ['kind', 'id', 'date', 'date_times', 'publication_dates'],
  widget: ['id'],
} as const

/** Copies `first_seen_at`: if earlier replies are no longer stored, a replay would set a later time. */
export const copyFirstSeen = async (store: Store, source: Reader): Promise<void> =>
  requireCopying(store).takeFirstSeen(source, FIRST_SEEN_KEYS)
