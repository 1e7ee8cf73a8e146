import { formatUtc, type Instant } from '../base/instant.ts'
import { formatOffset } from '../base/zone.ts'
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

/** A series and geo, with what its rows share. */
interface Dataset {
  readonly seriesId: number
  readonly indicatorId: number
  readonly name: string | null
  readonly unit: string | null
  readonly timeTrunc: string | null
  readonly timeAgg: string | null
  readonly zone: string
  readonly geoId: number
  readonly geoName: string | null
}

const datasetsOf = (db: Reader, { indicators, geos }: ExportQuestion): Dataset[] =>
  db.all(
    `select s.id as "seriesId", s.indicator_id as "indicatorId", s.time_trunc as "timeTrunc", s.time_agg as "timeAgg",
       s.time_zone as zone, g.geo_id as "geoId", i.magnitude as unit,
       (select t.name from indicator_text t where t.kind = s.kind and t.id = s.indicator_id order by t.locale desc limit 1) as name,
       (select t.name from geo_text t where t.id = g.geo_id order by t.locale desc limit 1) as "geoName"
     from series s
     join series_geo g on g.series_id = s.id
     left join indicator i on i.kind = s.kind and i.id = s.indicator_id
     where s.kind = 'indicator' and s.indicator_id in (${marks(indicators)})
       ${geos.length > 0 ? `and g.geo_id in (${marks(geos)})` : ''}
     order by s.indicator_id, s.id, g.geo_id`,
    [...indicators, ...geos],
  ) as Dataset[]

const NOW = `select at, value, step_s from observation
  where series_id = :series and geo_id = :geo and at >= :from and at < :to order by at`
const THEN = `select v.at, v.value, v.step_s from (
    select at, value, step_s, fetch_id, null as superseded_by from observation
    where series_id = :series and geo_id = :geo and at >= :from and at < :to
    union all
    select at, value, step_s, fetch_id, superseded_by from observation_revision
    where series_id = :series and geo_id = :geo and at >= :from and at < :to
  ) v
  join _fetch f on f.id = v.fetch_id
  left join _fetch n on n.id = v.superseded_by
  where f.finished_at <= :asOf and (n.finished_at is null or n.finished_at > :asOf)
  order by v.at`

type Value = [at: Instant, value: number | null, step: number]

/** The values of a dataset in the order of their instants, which is that of the key: nothing is sorted. */
const valuesOf = (db: Reader, { seriesId, geoId }: Dataset, { from, to, asOf }: ExportQuestion): Iterator<Value> =>
  db.rows(asOf === null ? NOW : THEN, {
    ...{ series: seriesId, geo: geoId, from, to },
    ...(asOf === null ? {} : { asOf }),
  }) as Iterator<unknown> as Iterator<Value>

/** Writes instants of a zone as text; its clock changes are looked up once for many rows in order. */
function createClock(db: Reader, zone: string, clock: Clock): (at: Instant) => string[] {
  const changes = db.all(
    'select from_at as "from", to_at as "to", offset_s as offset from time_zone_offset where zone = ?',
    [zone],
  ) as { from: Instant; to: Instant; offset: number }[]
  let now = changes[0]
  return (at) => {
    if (!now || at < now.from || at >= now.to) now = changes.find(({ from, to }) => from <= at && at < to)
    const offset = now?.offset ?? 0
    const utc = formatUtc(at)
    const local = `${formatUtc(at + offset).slice(0, 19)}${formatOffset(offset)}`
    return clock === 'both' ? [utc, local] : [clock === 'utc' ? utc : local]
  }
}

/** Ends statements that were not read to their end. */
function* closing<T>(iterators: readonly Iterator<unknown>[], rows: Iterable<T>): Generator<T> {
  try {
    yield* rows
  } finally {
    for (const iterator of iterators) iterator.return?.()
  }
}

/** What the service calls the quantity of some datasets, where it is one for all. */
function unitOf(datasets: readonly Dataset[]): string {
  const units = new Set(datasets.map(({ unit }) => unit))
  const [unit] = units
  return units.size === 1 && unit ? unit : "the indicator's own unit"
}

/** A row a value, ordered by indicator, series, geo and instant. */
export function exportLong(db: Reader, question: ExportQuestion, clock: Clock): Exported {
  const datasets = datasetsOf(db, question)
  function* rows(): Generator<unknown[]> {
    for (const dataset of datasets) {
      const { indicatorId, name, timeTrunc, timeAgg, geoId, geoName, zone } = dataset
      const shared = [indicatorId, name, timeTrunc, timeAgg, geoId, geoName]
      const times = createClock(db, zone, clock)
      const values = valuesOf(db, dataset, question)
      yield* closing([values], long(values, shared, times))
    }
  }
  return {
    columns: [
      { name: 'indicator_id', type: 'integer' },
      { name: 'indicator_name', type: 'text' },
      { name: 'time_trunc', type: 'text' },
      { name: 'time_agg', type: 'text' },
      { name: 'geo_id', type: 'integer' },
      { name: 'geo_name', type: 'text' },
      ...TIMES[clock],
      { name: 'step_s', type: 'integer', unit: 's' },
      { name: 'value', type: 'real', unit: unitOf(datasets) },
    ],
    rows: rows(),
  }
}

function* long(values: Iterator<Value>, shared: unknown[], times: (at: Instant) => string[]): Generator<unknown[]> {
  for (let next = values.next(); !next.done; next = values.next()) {
    const [at, value, step] = next.value
    yield [...shared, ...times(at), step, value]
  }
}

/** A row an instant, and a column a series and geo: `600_3`, `1293_8741_hour_average`. Where a series has no value, its cell is empty. */
export function exportWide(db: Reader, question: ExportQuestion, clock: Clock): Exported {
  const datasets = datasetsOf(db, question)
  const iterators = datasets.map((dataset) => valuesOf(db, dataset, question))
  const times = createClock(db, datasets[0]?.zone ?? '', clock)
  return {
    columns: [
      ...TIMES[clock],
      ...datasets.map((dataset): ExportColumn => {
        const { indicatorId, geoId, timeTrunc, timeAgg } = dataset
        const name = [indicatorId, geoId, timeTrunc, timeAgg].filter((part) => part !== null).join('_')
        return { name, type: 'real', unit: unitOf([dataset]) }
      }),
    ],
    rows: closing(iterators, wide(iterators, times)),
  }
}

/** Goes through ordered values side by side. */
function* wide(iterators: readonly Iterator<Value>[], times: (at: Instant) => string[]): Generator<unknown[]> {
  const heads = iterators.map((iterator) => iterator.next())
  for (;;) {
    const at = heads.reduce(
      (least, head) => (head.done ? least : Math.min(least, head.value[0])),
      Number.POSITIVE_INFINITY,
    )
    if (!Number.isFinite(at)) return
    yield [
      ...times(at),
      ...heads.map((head, i) => {
        if (head.done || head.value[0] !== at) return null
        heads[i] = iterators[i]!.next()
        return head.value[1]
      }),
    ]
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
