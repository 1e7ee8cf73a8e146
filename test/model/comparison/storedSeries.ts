/* The series of the database, by the keys of the model. */
import type { Scene } from '../scene.ts'

export interface StoredSeries {
  readonly id: number
  readonly key: string
  readonly trunc: string | null
}

/** Returns the series of the database. */
export function readSeries({ program }: Scene): StoredSeries[] {
  const rows = program.store().all('select * from series order by id') as Record<string, string | number | null>[]
  return rows.map(({ id, kind, indicator_id, time_trunc, time_agg, geo_agg, geo_trunc, geo_ids }) => ({
    id: id as number,
    trunc: time_trunc as string | null,
    key: JSON.stringify([kind, indicator_id, time_trunc, time_agg, geo_agg, geo_trunc, geo_ids ?? null]),
  }))
}
