import type { Transaction } from 'kysely'
import type { Reader, Store } from '../db/store.ts'
import type { Database } from '../tables/schema.ts'
import { insertIndicator } from './series.ts'

/** What happened and what was learned of the service: no reply tells it, so it is taken over as it is. */
const HAPPENED = [
  ...['_run', '_fetch', '_reply', '_quarantine', '_budget', '_source', 'time_zone_offset', 'archive_file'],
  // Who writes, for the rebuilt database may take the place of the other one while it does.
  ...['_lock', '_fence'],
] as const

/** Takes over the records of another database of the same schema into an empty one. */
export const takeRecords = (store: Store, file: string): Promise<void> => store.engine.takeTables(file, HAPPENED)

/** Makes the series of another database anew, each when it was first requested, so that everything is first seen when it was. */
export async function createSeriesRestorer({
  kysely,
}: Reader): Promise<{ upTo(tx: Transaction<Database>, fetchId: number): Promise<void> }> {
  const births = await kysely
    .selectFrom('series as s')
    .selectAll('s')
    .select((of) =>
      of
        .selectFrom('_fetch as f')
        .select(({ fn }) => fn.min('f.id').as('id'))
        .whereRef('f.series_id', '=', 's.id')
        .as('bornAt'),
    )
    .orderBy('s.id')
    .execute()
  const at = ({ bornAt }: { readonly bornAt: number | null }): number => bornAt ?? Number.POSITIVE_INFINITY
  births.sort((a, b) => (at(a) === at(b) ? 0 : at(a) - at(b)))
  let next = 0
  return {
    async upTo(tx, fetchId) {
      for (; next < births.length && at(births[next]!) <= fetchId; next++) {
        const { bornAt: _, ...row } = births[next]!
        await insertIndicator(tx, row.kind, row.indicator_id, row.created_at)
        // The lookbacks of its answers make it what it was, one after the other.
        await tx
          .insertInto('series')
          .values({ ...row, lookback_s: null })
          .execute()
      }
    },
  }
}

/** Takes over what was learned of series that exist by now, and what is wanted of them. */
export async function takeLearned({ kysely }: Reader, tx: Transaction<Database>): Promise<void> {
  for (const row of await kysely.selectFrom('_resolution').selectAll().execute())
    await tx.insertInto('_resolution').values(row).execute()
  for (const row of await kysely.selectFrom('_wanted').selectAll().execute())
    await tx.insertInto('_wanted').values(row).execute()
}

/** Tables whose rows say when they were first seen, and what names a row. */
const SEEN = {
  indicator: ['kind', 'id'],
  content: ['kind', 'id'],
  archive: ['kind', 'id'],
  archive_edition: ['kind', 'id', 'date', 'date_times', 'publication_dates'],
  widget: ['id'],
} as const

/** Takes over when everything was first seen: a reply store with holes may hold only later replies that told of it. */
export const takeFirstSeen = (store: Store, file: string): Promise<void> => store.engine.takeFirstSeen(file, SEEN)
