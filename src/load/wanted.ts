import type { Interval } from '../base/interval.ts'
import type { Store } from '../db/open.ts'
import { findSeries } from '../db/series.ts'
import { identityValues, type SeriesIdentity } from '../job/plannedRequest.ts'

interface Wanted extends Interval {
  readonly where: string
  readonly series: SeriesIdentity
  readonly geoIds: readonly number[] | null
}

/** Remembers what a job wants of the series that there are, in place of what it wanted before. */
export async function rememberWanted(store: Store, job: string, wanted: readonly Wanted[]): Promise<void> {
  await store.write(async () => {
    store.run('delete from _wanted where job = ?', [job])
    for (const { where, series, geoIds, from, to } of wanted) {
      const id = findSeries(store, identityValues(series))
      if (id === undefined || from >= to) continue
      store.run(
        `insert into _wanted (series_id, job, entry, geo_ids, from_at, to_at) values (?, ?, ?, ?, ?, ?)
         on conflict do nothing`,
        [id, job, where, geoIds?.join(',') ?? null, from, to],
      )
    }
  })
}
