import type { Insertable } from 'kysely'
import { prepared } from '../db/prepared.ts'
import type { Store } from '../db/store.ts'
import type { Database } from '../db/tables/schema.ts'
import { seriesKey, storedIdentity, type Wanted } from '../job/plannedRequest.ts'
import { seriesIdOf } from '../load/storedSeries.ts'
import type { Planning } from '../plan/planning.ts'

type WantedRow = Insertable<Database['_job_range']>

/** Series that jobs may want, by their keys. */
async function readSeriesIds({ kysely }: Store): Promise<Map<string, number>> {
  const series = await kysely
    .selectFrom('series')
    .select(['id', 'kind', 'indicator_id', 'time_trunc', 'time_agg', 'geo_agg', 'geo_trunc', 'geo_ids'])
    .execute()
  return new Map(series.map((row) => [seriesKey(storedIdentity(row)), row.id]))
}

/**
 * Replaces what a job wanted before, and inserts series that are not stored yet: whatever becomes of the run, the view `gaps` shows
 * what it did not request. `part`: only a part of the job is planned, and what it wanted of the rest remains. Writes nothing if
 * nothing changed.
 */
export async function rememberWanted(
  store: Store,
  { job: { name: job }, service: { timeZone }, now }: Pick<Planning, 'job' | 'service' | 'now'>,
  wanted: readonly Wanted[],
  part = false,
): Promise<void> {
  const ids = await readSeriesIds(store)
  const stored = await store.kysely.selectFrom('_job_range').selectAll().where('job', '=', job).execute()
  const gone = new Map(stored.map((row) => [`${row.series_id} ${row.entry}`, row]))
  const changed = new Map<string, Wanted>()
  for (const one of wanted) {
    const key = `${seriesKey(one.series)} ${one.entry}`
    if (one.from >= one.to || changed.has(key)) continue
    const place = `${ids.get(seriesKey(one.series))} ${one.entry}`
    const row = gone.get(place)
    gone.delete(place)
    const isSame =
      row?.from_at === one.from &&
      row.to_at === one.to &&
      row.refresh_s === one.refreshS &&
      row.geo_ids === (one.geoIds?.join(',') ?? null)
    if (!isSame) changed.set(key, one)
  }
  if (part) gone.clear()
  if (gone.size + changed.size === 0) return
  await store.write(async (tx) => {
    for (const row of gone.values()) await forget.run(tx, row)
    for (const { entry, series, geoIds, from, to, refreshS } of changed.values()) {
      const id = ids.get(seriesKey(series)) ?? (await seriesIdOf(tx, { series, timeZone }, now * 1000))!
      await insertWanted.run(tx, {
        series_id: id,
        job,
        entry,
        geo_ids: geoIds?.join(',') ?? null,
        from_at: from,
        to_at: to,
        refresh_s: refreshS,
      })
    }
  })
}

const forget = prepared((db, row: WantedRow) =>
  db
    .deleteFrom('_job_range')
    .where('series_id', '=', row.series_id)
    .where('job', '=', row.job)
    .where('entry', '=', row.entry),
)
const insertWanted = prepared((db, row: WantedRow) =>
  db
    .insertInto('_job_range')
    .values({
      series_id: row.series_id,
      job: row.job,
      entry: row.entry,
      geo_ids: row.geo_ids,
      from_at: row.from_at,
      to_at: row.to_at,
      refresh_s: row.refresh_s,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['series_id', 'job', 'entry'])
        .doUpdateSet({ geo_ids: row.geo_ids, from_at: row.from_at, to_at: row.to_at, refresh_s: row.refresh_s }),
    ),
)
