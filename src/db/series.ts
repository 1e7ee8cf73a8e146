import type { Reader } from './open.ts'

const COLUMNS = ['kind', 'indicator_id', 'time_trunc', 'time_agg', 'geo_agg', 'geo_trunc', 'geo_ids'] as const

/** A column of the stored series that has this identity, given in the order of the table's columns; undefined when there is none. */
export const findSeries = (
  db: Pick<Reader, 'get'>,
  identity: readonly unknown[],
  column: 'id' | 'window_s' = 'id',
): number | undefined =>
  (db.get(`select ${column} from series where ${COLUMNS.map((name) => `${name} is ?`).join(' and ')}`, identity) as
    | number
    | null
    | undefined) ?? undefined
