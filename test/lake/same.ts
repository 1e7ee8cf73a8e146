import { join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet'
import type { LakeTableName } from '../../src/lake/lakeTables.ts'
import { requireManifest as checkManifest, type LakeManifest, readLakeManifest } from '../../src/lake/manifest.ts'
import type { Reader, Store } from '../support/testStore.ts'

/** Reads the manifest of a lake in a folder; throws unless it has the current version. */
export const requireManifest = (folder: string): LakeManifest => checkManifest(readLakeManifest(folder), folder)

/** Reads the rows of a lake table by its manifest, each with the path of its file. */
export async function rowsOf(
  lake: string,
  table: LakeTableName,
): Promise<{ row: Record<string, unknown>; path: string }[]> {
  const { folder, tables } = requireManifest(lake)
  const all: { row: Record<string, unknown>; path: string }[] = []
  for (const { path } of tables[table].files) {
    const rows = await parquetReadObjects({
      file: await asyncBufferFromFile(join(lake, folder, path)),
      compressors: { ZSTD: (piece) => new Uint8Array(zstdDecompressSync(piece)) },
    })
    for (const row of rows) all.push({ row, path })
  }
  return all
}

const indicatorName = (kind: string, id: string): string =>
  `(select t.name from indicator_text t where t.kind = ${kind} and t.id = ${id} and t.name is not null order by t.locale <> 'en', t.locale <> 'es', t.locale limit 1)`
const MONTH = `strftime('%Y-%m', o.at, 'unixepoch')`

/** The expected contents of each lake table, sorted: timestamps as epoch seconds or text, as in the database. */
const EXPECTED: Readonly<Record<LakeTableName, string>> = {
  observation: `select series_id, geo_id, at, value, step_s, (select finished_at from _fetch f where f.id = fetch_id)
    from observation o order by ${MONTH}, 1, 2, 3`,
  observation_revision: `select series_id, geo_id, at, value, step_s, (select finished_at from _fetch f where f.id = fetch_id),
      (select finished_at from _fetch f where f.id = superseded_by)
    from observation_revision o order by ${MONTH}, 1, 2, 3, fetch_id`,
  day: `select series_id, geo_id, local_date, count, min, max, avg, sum, energy, hours from observations_daily
    order by substr(local_date, 1, 4), 1, 2, 3`,
  series: `select id, kind, indicator_id, ${indicatorName('s.kind', 's.indicator_id')},
      (select case when s.time_agg = 'sum' and coalesce(m.measure, '') <> 'energy' then 'sum of ' else '' end || coalesce(m.unit, i.magnitude)
        from indicator i left join magnitude m on m.id = i.magnitude_id where i.kind = s.kind and i.id = s.indicator_id),
      time_trunc, time_agg, geo_agg, geo_trunc, geo_ids, time_zone from series s order by id`,
  indicator: `select kind, id, ${indicatorName('i.kind', 'i.id')},
      coalesce((select m.unit from magnitude m where m.id = i.magnitude_id), i.magnitude), step_type, composited, disaggregated, withdrawn_at
    from indicator i order by 1, 2`,
  indicator_text: 'select kind, id, locale, name, short_name, description_text from indicator_text order by 1, 2, 3',
  geo: `select id, level, (select t.name from geo_text t where t.id = g.id and t.name is not null order by t.locale <> 'en', t.locale <> 'es', t.locale limit 1)
    from geo g order by id`,
  time_zone_offset: 'select zone, from_at, to_at, offset_s from time_zone_offset order by 1, 2',
}

/** Converts a value to a form common to both sides. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value)
  if (typeof value === 'boolean') return value ? 1 : 0
  return value
}

/** Converts timestamps of the lake to those of the database: values in seconds, fetches as text, days as dates. */
function dated(table: LakeTableName, name: string, value: unknown): unknown {
  if (!(value instanceof Date)) return plain(value)
  if (name === 'at_utc') return value.getTime() / 1000
  return table === 'day' ? value.toISOString().slice(0, 10) : value.toISOString()
}

/**
 * Compares every row of every table of a lake with the database. Returns the number of values and the first difference
 * of each table.
 */
export async function differences(lake: string, db: Reader | Store): Promise<{ values: number; found: string[] }> {
  const found: string[] = []
  let values = 0
  for (const table of Object.keys(EXPECTED) as LakeTableName[]) {
    const got: unknown[][] = []
    for (const { row, path } of await rowsOf(lake, table)) {
      const columns = Object.entries(row).map(([name, value]) => dated(table, name, value))
      const year = /year=(\d+)/.exec(path)?.[1]
      const own =
        table === 'day' ? Number(String(columns[2]).slice(0, 4)) : new Date(Number(columns[2]) * 1000).getUTCFullYear()
      if (year !== undefined && Number(year) !== own) found.push(`${table}: ${JSON.stringify(columns)} lies in ${year}`)
      got.push(columns)
    }
    const expected = (await db.all(EXPECTED[table])) as Record<string, unknown>[]
    if (got.length !== expected.length) found.push(`${table}: ${got.length} rows in place of ${expected.length}`)
    values += expected.length * (got[0]?.length ?? 0)
    const at = expected.findIndex((row, i) =>
      Object.values(row).some((value, j) => !Object.is(plain(value), got[i]?.[j])),
    )
    if (at >= 0)
      found.push(`${table}, row ${at}: ${got[at]?.map(String)} in place of ${Object.values(expected[at]!).map(String)}`)
  }
  return { values, found }
}
