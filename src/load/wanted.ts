import type { Insertable } from 'kysely'
import type { Interval } from '../base/interval.ts'
import type { Store } from '../db/open.ts'
import { prepared } from '../db/prepared.ts'
import { findSeries } from '../db/series.ts'
import { identityRow, type SeriesIdentity } from '../job/plannedRequest.ts'
import type { Database } from '../tables/schema.ts'

interface Wanted extends Interval {
  readonly where: string
  readonly series: SeriesIdentity
  readonly geoIds: readonly number[] | null
}

/** Remembers what a job wants of the series that there are, in place of what it wanted before. */
export async function rememberWanted(store: Store, job: string, wanted: readonly Wanted[]): Promise<void> {
  await store.write(async (tx) => {
    await tx.deleteFrom('_wanted').where('job', '=', job).execute()
    for (const { where, series, geoIds, from, to } of wanted) {
      const known = await findSeries(tx, identityRow(series))
      if (known === undefined || from >= to) continue
      await insert.run(tx, {
        ...{ series_id: known.id, job, entry: where, geo_ids: geoIds?.join(',') ?? null, from_at: from, to_at: to },
      })
    }
  })
}

const insert = prepared((db, row: Insertable<Database['_wanted']>) =>
  db
    .insertInto('_wanted')
    .values({
      ...{ series_id: row.series_id, job: row.job, entry: row.entry },
      ...{ geo_ids: row.geo_ids, from_at: row.from_at, to_at: row.to_at },
    })
    .onConflict((conflict) => conflict.doNothing()),
)
