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

/** How a column of an export is typed, where a format has types. */
export interface ExportColumn {
  readonly name: string
  readonly type: 'integer' | 'real' | 'text' | 'instant'
  readonly unit?: string
}

/** What an export holds: its columns, and its rows one by one, so that memory stays flat however many there are. Instants are `YYYY-MM-DDTHH:MM:SSZ`. */
export interface Exported {
  readonly columns: readonly ExportColumn[]
  readonly rows: Iterable<readonly unknown[]>
}

/** Which times a row tells. */
export type Clock = 'both' | 'utc' | 'local'

const UTC: ExportColumn = { name: 'at_utc', type: 'instant', unit: 'UTC' }
const LOCAL: ExportColumn = { name: 'at_local', type: 'text', unit: 'local time with offset, ISO 8601' }
const TIMES: Readonly<Record<Clock, readonly ExportColumn[]>> = { both: [UTC, LOCAL], utc: [UTC], local: [LOCAL] }

const marks = (list: readonly unknown[]): string => list.map(() => '?').join(', ')

/** The part of both kinds of export that says which values are meant. */
function source({ indicators, geos, from, to, asOf }: ExportQuestion): { sql: string; parameters: unknown[] } {
  const iso = `strftime('%Y-%m-%dT%H:%M:%SZ', ?, 'unixepoch')`
  return {
    sql: `from ${asOf === null ? 'observations' : 'observation_history'} o join series s on s.id = o.series_id
    where s.kind = 'indicator' and s.indicator_id in (${marks(indicators)})
      ${geos.length > 0 ? `and o.geo_id in (${marks(geos)})` : ''}
      and o.at_utc >= ${iso} and o.at_utc < ${iso}
      ${asOf === null ? '' : 'and o.valid_from <= ? and (o.valid_to is null or o.valid_to > ?)'}`,
    parameters: [...indicators, ...geos, from, to, ...(asOf === null ? [] : [asOf, asOf])],
  }
}

/** A row a value, ordered by series, geo and instant. */
export function exportLong(db: Reader, question: ExportQuestion, clock: Clock): Exported {
  const columns: ExportColumn[] = [
    { name: 'indicator_id', type: 'integer' },
    { name: 'indicator_name', type: 'text' },
    { name: 'time_trunc', type: 'text' },
    { name: 'time_agg', type: 'text' },
    { name: 'geo_id', type: 'integer' },
    { name: 'geo_name', type: 'text' },
    ...TIMES[clock],
    { name: 'step_s', type: 'integer', unit: 's' },
    { name: 'value', type: 'real', unit: unitOf(db, question.indicators) },
  ]
  const { sql, parameters } = source(question)
  const names = columns.map(({ name }) => (name.startsWith('time_') ? `s.${name}` : `o.${name}`))
  return {
    columns,
    rows: db.rows(`select ${names.join(', ')} ${sql} order by o.series_id, o.geo_id, o.at_utc`, parameters),
  }
}

/** What the service calls the quantity of some indicators, where it is one for all. */
function unitOf(db: Reader, indicators: readonly number[]): string {
  const magnitudes = db.all(
    `select distinct magnitude from indicator where kind = 'indicator' and id in (${marks(indicators)})`,
    indicators,
  ) as { magnitude: string | null }[]
  return magnitudes.length === 1 && magnitudes[0]!.magnitude !== null
    ? magnitudes[0]!.magnitude
    : "the indicator's own unit"
}

interface Dataset {
  readonly series_id: number
  readonly geo_id: number
  readonly indicator_id: number
  readonly time_trunc: string | null
  readonly time_agg: string | null
}

/** A row an instant, and a column a series and geo: `600_3`, `1293_8741_hour_average`. Where a series has no value, its cell is empty. */
export function exportWide(db: Reader, question: ExportQuestion, clock: Clock): Exported {
  const { indicators, geos } = question
  const datasets = db.all(
    `select g.series_id, g.geo_id, s.indicator_id, s.time_trunc, s.time_agg
     from series s join series_geo g on g.series_id = s.id
     where s.kind = 'indicator' and s.indicator_id in (${marks(indicators)})
       ${geos.length > 0 ? `and g.geo_id in (${marks(geos)})` : ''}
     order by s.indicator_id, s.id, g.geo_id`,
    [...indicators, ...geos],
  ) as Dataset[]
  const places = new Map(datasets.map(({ series_id, geo_id }, i) => [`${series_id} ${geo_id}`, i]))
  const times = TIMES[clock]
  const { sql, parameters } = source(question)
  const values = db.rows(
    `select o.series_id, o.geo_id, o.value, o.at_utc, o.at_local ${sql} order by o.at_utc`,
    parameters,
  )
  function* rows(): Generator<unknown[]> {
    let row: unknown[] | null = null
    let last: unknown
    for (const [seriesId, geoId, value, utc, local] of values) {
      if (row === null || utc !== last) {
        if (row) yield row
        row = [
          ...times.map(({ name }) => (name === 'at_utc' ? utc : local)),
          ...new Array<null>(datasets.length).fill(null),
        ]
        last = utc
      }
      row[times.length + places.get(`${seriesId} ${geoId}`)!] = value
    }
    if (row) yield row
  }
  return {
    columns: [
      ...times,
      ...datasets.map(
        ({ indicator_id, geo_id, time_trunc, time_agg }): ExportColumn => ({
          name: [indicator_id, geo_id, time_trunc, time_agg].filter((part) => part !== null).join('_'),
          type: 'real',
          unit: unitOf(db, [indicator_id]),
        }),
      ),
    ],
    rows: rows(),
  }
}

/** The first and the last year, in local days, of some indicators; null when nothing is held. */
export function yearsOf(db: Reader, { indicators }: ExportQuestion): { first: number; last: number } | null {
  const [range] = db.all(
    `select cast(substr(min(first_utc), 1, 4) as integer) as first, cast(substr(max(last_local), 1, 4) as integer) as last
     from freshness where kind = 'indicator' and indicator_id in (${marks(indicators)})`,
    indicators,
  ) as { first: number | null; last: number | null }[]
  return range?.first != null && range.last !== null ? { first: range.first, last: range.last } : null
}
