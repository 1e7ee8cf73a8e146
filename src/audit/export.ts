import type { Instant } from '../base/instant.ts'
import type { Reader } from '../db/open.ts'

/** Which values are wanted, and as of when. */
export interface ExportQuestion {
  readonly indicators: readonly number[]
  /** Empty for all. */
  readonly geos: readonly number[]
  readonly from: Instant
  /** Not included. */
  readonly to: Instant
  /** UTC, ISO 8601 to the millisecond; null for what is known now. */
  readonly asOf: string | null
}

/** The columns of an export, in order. */
export const EXPORT_COLUMNS = [
  'indicator_id',
  'indicator_name',
  'time_trunc',
  'time_agg',
  'geo_id',
  'geo_name',
  'at_utc',
  'at_local',
  'step_s',
  'value',
] as const

/** The rows of an export one by one, ordered by series, geo and instant; memory stays flat however many there are. */
export function exportRows(
  db: Reader,
  { indicators, geos, from, to, asOf }: ExportQuestion,
): IterableIterator<unknown[]> {
  const marks = (list: readonly unknown[]) => list.map(() => '?').join(', ')
  const iso = `strftime('%Y-%m-%dT%H:%M:%SZ', ?, 'unixepoch')`
  const sql = `select ${EXPORT_COLUMNS.map((column) => (column.startsWith('time_') ? `s.${column}` : `o.${column}`)).join(', ')}
    from ${asOf === null ? 'observations' : 'observation_history'} o join series s on s.id = o.series_id
    where s.kind = 'indicator' and s.indicator_id in (${marks(indicators)})
      ${geos.length > 0 ? `and o.geo_id in (${marks(geos)})` : ''}
      and o.at_utc >= ${iso} and o.at_utc < ${iso}
      ${asOf === null ? '' : 'and o.valid_from <= ? and (o.valid_to is null or o.valid_to > ?)'}
    order by o.series_id, o.geo_id, o.at_utc`
  return db.rows(sql, [...indicators, ...geos, from, to, ...(asOf === null ? [] : [asOf, asOf])])
}
