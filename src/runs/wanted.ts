import type { Insertable } from 'kysely'
import { prepared } from '../db/prepared.ts'
import type { Store } from '../db/store.ts'
import { seriesKey, storedIdentity, type Wanted } from '../job/plannedRequest.ts'
import type { Database } from '../tables/schema.ts'

type WantedRow = Insertable<Database['_wanted']>

/** The rows of what is wanted of the stored series, by series and entry. */
async function readWantedRows(
  { kysely }: Store,
  job: string,
  wanted: readonly Wanted[],
): Promise<Map<string, WantedRow>> {
  const series = await kysely
    .selectFrom('series')
    .select(['id', 'kind', 'indicator_id', 'time_trunc', 'time_agg', 'geo_agg', 'geo_trunc', 'geo_ids'])
    .execute()
  const ids = new Map(series.map((row) => [seriesKey(storedIdentity(row)), row.id]))
  const rows = new Map<string, WantedRow>()
  for (const { entry, series: identity, geoIds, from, to } of wanted) {
    const id = ids.get(seriesKey(identity))
    const key = `${id} ${entry}`
    if (id === undefined || from >= to || rows.has(key)) continue
    rows.set(key, {
      series_id: id,
      job,
      entry,
      geo_ids: geoIds?.join(',') ?? null,
      from_at: from,
      to_at: to,
    })
  }
  return rows
}

/**
 * Stores what a job wants of the stored series, in place of what it wanted before; where only a part of the job was selected,
 * the rest stays. Nothing is written where nothing changed.
 */
export async function rememberWanted(
  store: Store,
  job: string,
  wanted: readonly Wanted[],
  part = false,
): Promise<void> {
  const rows = await readWantedRows(store, job, wanted)
  const held = await store.kysely.selectFrom('_wanted').selectAll().where('job', '=', job).execute()
  const gone: WantedRow[] = []
  for (const row of held) {
    const key = `${row.series_id} ${row.entry}`
    const wantedRow = rows.get(key)
    if (
      wantedRow &&
      wantedRow.geo_ids === row.geo_ids &&
      wantedRow.from_at === row.from_at &&
      wantedRow.to_at === row.to_at
    )
      rows.delete(key)
    else if (!wantedRow && !part) gone.push(row)
  }
  if (gone.length + rows.size === 0) return
  await store.write(async (tx) => {
    for (const row of gone) await forget.run(tx, row)
    for (const row of rows.values()) await insertWanted.run(tx, row)
  })
}

const forget = prepared((db, row: WantedRow) =>
  db
    .deleteFrom('_wanted')
    .where('series_id', '=', row.series_id)
    .where('job', '=', row.job)
    .where('entry', '=', row.entry),
)
const insertWanted = prepared((db, row: WantedRow) =>
  db
    .insertInto('_wanted')
    .values({
      series_id: row.series_id,
      job: row.job,
      entry: row.entry,
      geo_ids: row.geo_ids,
      from_at: row.from_at,
      to_at: row.to_at,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['series_id', 'job', 'entry'])
        .doUpdateSet({ geo_ids: row.geo_ids, from_at: row.from_at, to_at: row.to_at }),
    ),
)
