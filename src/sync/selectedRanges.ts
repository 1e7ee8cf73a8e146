import type { Insertable } from 'kysely'
import { prepareQuery } from '../db/prepared.ts'
import type { Store } from '../db/store.ts'
import type { Database } from '../db/tables/schema.ts'
import { fromIdentityRow, type SelectedRange, seriesKey } from '../job/plannedRequest.ts'
import { recordSpans } from '../load/spans/recordSpans.ts'
import { findOrInsertSeries } from '../load/storedSeries.ts'
import type { PlanContext } from '../plan/planning.ts'

type RangeRow = Insertable<Database['_job_range']>

/** The ids of all stored series, by their keys. */
async function readSeriesIds({ kysely }: Store): Promise<Map<string, number>> {
  const series = await kysely
    .selectFrom('series')
    .select(['id', 'kind', 'indicator_id', 'time_trunc', 'time_agg', 'geo_agg', 'geo_trunc', 'geo_ids'])
    .execute()
  return new Map(series.map((row) => [seriesKey(fromIdentityRow(row)), row.id]))
}

/**
 * Replaces the stored ranges that a job selects, and inserts its new series: whatever the result of the run, the view `gaps` then
 * lists ranges that were not requested. `keepOthers`: only a part of the job is planned, so its other ranges stay. `keepStored`: only a
 * range of the user is requested, so stored ranges do not grow to the present. Writes nothing if nothing changed.
 */
export async function storeSelectedRanges(
  store: Store,
  { job: { name: job }, service: { timeZone } }: Pick<PlanContext, 'job' | 'service'>,
  nowMs: number,
  selected: readonly SelectedRange[],
  { keepOthers, keepStored }: { readonly keepOthers: boolean; readonly keepStored: boolean },
): Promise<void> {
  const ids = await readSeriesIds(store)
  const storedRows = await store.kysely.selectFrom('_job_range').selectAll().where('job', '=', job).execute()
  const obsolete = new Map(storedRows.map((row) => [`${row.series_id} ${row.entry}`, row]))
  const changed = new Map<string, Omit<RangeRow, 'series_id'> & Pick<SelectedRange, 'series'>>()
  for (const { entryPath, series, geoIds, from, to, refreshS } of selected) {
    const key = `${seriesKey(series)} ${entryPath}`
    if (from >= to || changed.has(key)) continue
    const rowKey = `${ids.get(seriesKey(series))} ${entryPath}`
    const stored = obsolete.get(rowKey)
    obsolete.delete(rowKey)
    const range = { geo_ids: geoIds?.join(',') ?? null, from_at: from, to_at: to, refresh_s: refreshS }
    const isEqual =
      stored?.from_at === from &&
      stored.to_at === to &&
      stored.refresh_s === refreshS &&
      stored.geo_ids === range.geo_ids
    if (!isEqual && !(keepStored && stored)) changed.set(key, { job, entry: entryPath, series, ...range })
  }
  if (keepOthers || keepStored) obsolete.clear()
  if (obsolete.size + changed.size === 0) return
  await store.write(async (tx) => {
    const touched = new Set<number>()
    for (const row of obsolete.values()) {
      await deleteRange.run(tx, row)
      touched.add(row.series_id)
    }
    for (const { series, ...range } of changed.values()) {
      const id = ids.get(seriesKey(series)) ?? (await findOrInsertSeries(tx, { series, timeZone }, nowMs))!
      await upsertRange.run(tx, { ...range, series_id: id })
      touched.add(id)
    }
    for (const id of touched) await recordSpans(tx, id, Math.floor(nowMs / 1000))
  })
}

const deleteRange = prepareQuery((db, row: RangeRow) =>
  db
    .deleteFrom('_job_range')
    .where('series_id', '=', row.series_id)
    .where('job', '=', row.job)
    .where('entry', '=', row.entry),
)
const upsertRange = prepareQuery((db, row: RangeRow) => {
  const { series_id, job, entry, ...range } = row
  return db
    .insertInto('_job_range')
    .values(row)
    .onConflict((conflict) => conflict.columns(['series_id', 'job', 'entry']).doUpdateSet(range))
})
