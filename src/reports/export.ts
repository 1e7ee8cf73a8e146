import type { Blocks } from '../db/engine.ts'
import type { Reader } from '../db/store.ts'
import { formatUtc, type Instant } from '../util/time/instant.ts'
import { formatOffset } from '../util/time/zone.ts'
import {
  columnName,
  type ExportedGeoSeries,
  type ExportQuestion,
  exportedGeoSeries,
  rangeIn,
} from './exportQuestion.ts'
import { resample } from './resample.ts'
import { sideBySide } from './sideBySide.ts'

/** A column of an export. */
export interface ExportColumn {
  /** The name of the column. */
  readonly name: string
  /** The type of its values. */
  readonly type: 'integer' | 'real' | 'text' | 'instant'
  /** The unit of its values, if known. */
  readonly unit?: string
  /** What it holds, in words, where its name has only numbers. */
  readonly about?: string
  /** Its name with its unit, for the first line of CSV and TSV. */
  readonly header?: string
}

/** An export: its columns, and its rows in batches, so that memory stays flat. Instants are `YYYY-MM-DDTHH:MM:SSZ`. */
export interface Exported {
  /** The columns, in the order of the cells. */
  readonly columns: readonly ExportColumn[]
  /** The rows, in batches. Iterate once. */
  readonly rows: Blocks<readonly unknown[]>
}

const TIME_COLUMNS: readonly ExportColumn[] = [
  { name: 'at_utc', type: 'instant', unit: 'UTC' },
  { name: 'at_local', type: 'text', unit: 'local time with offset, ISO 8601' },
]

type ExportedValue = readonly [at: Instant, value: number | null, step: number, isComplete?: 0 | 1]

/** The values of a geo series in the order of their instants, or those of its periods. */
function exportedValues(
  { engine }: Reader,
  series: ExportedGeoSeries,
  question: ExportQuestion,
): Blocks<ExportedValue> {
  const { seriesId, geoId, zone } = series
  const values = engine.values({ seriesId, geoId, ...rangeIn(zone, question) }, question.asOf)
  return question.resampling ? resample(values, series, question.resampling) : values
}

/** The times of a row at an instant, as text. */
type Times = (at: Instant) => string[]

/** Writes instants of a zone as text; its clock changes are looked up once for many rows in order. */
async function createClock({ kysely }: Reader, zone: string): Promise<Times> {
  const changes = await kysely
    .selectFrom('time_zone_offset')
    .select(['from_at as from', 'to_at as to', 'offset_s as offset'])
    .where('zone', '=', zone)
    .execute()
  let now = changes[0]
  return (at) => {
    if (!now || at < now.from || at >= now.to) now = changes.find(({ from, to }) => from <= at && at < to)
    const offset = now?.offset ?? 0
    return [formatUtc(at), `${formatUtc(at + offset).slice(0, 19)}${formatOffset(offset)}`]
  }
}

/** The unit of some series, if it is the same for all. */
function commonUnit(allSeries: readonly ExportedGeoSeries[]): string {
  const units = new Set(allSeries.map(({ unit }) => unit))
  const [unit] = units
  return units.size === 1 && unit ? unit : "the indicator's own unit"
}

/** The columns that name the series and geo of a row, with their values. */
const SERIES_COLUMNS = {
  series_id: ['integer', 'seriesId'],
  kind: ['text', 'kind'],
  indicator_id: ['integer', 'indicatorId'],
  indicator_name: ['text', 'name'],
  time_trunc: ['text', 'timeTrunc'],
  time_agg: ['text', 'timeAgg'],
  geo_agg: ['text', 'geoAgg'],
  geo_trunc: ['text', 'geoTrunc'],
  geo_ids: ['text', 'geoIds'],
  unit: ['text', 'unit'],
  geo_id: ['integer', 'geoId'],
  geo_name: ['text', 'geoName'],
} as const satisfies Record<string, readonly [ExportColumn['type'], keyof ExportedGeoSeries]>

/** Exports one row per value or period, ordered by kind, indicator, series, geo and instant. */
export async function exportLong(db: Reader, question: ExportQuestion): Promise<Exported> {
  const allSeries = await exportedGeoSeries(db, question)
  const clocks = new Map<string, Times>()
  for (const { zone } of allSeries) if (!clocks.has(zone)) clocks.set(zone, await createClock(db, zone))
  async function* rows(): Blocks<readonly unknown[]> {
    for (const series of allSeries) {
      const shared = Object.values(SERIES_COLUMNS).map(([, field]) => series[field])
      const times = clocks.get(series.zone)!
      for await (const values of exportedValues(db, series, question))
        yield values.map(([at, value, step, ...isComplete]) => [...shared, ...times(at), step, value, ...isComplete])
    }
  }
  return {
    columns: [
      ...Object.entries(SERIES_COLUMNS).map(([name, [type]]): ExportColumn => ({ name, type })),
      ...TIME_COLUMNS,
      { name: 'step_s', type: 'integer', unit: 's' },
      { name: 'value', type: 'real', unit: commonUnit(allSeries) },
      ...(question.resampling ? [{ name: 'is_complete', type: 'integer' } as const] : []),
    ],
    rows: rows(),
  }
}

/** Exports one row per instant and one column per series and geo: `600_3`, `1293_8741_hour_average`, `offer_25_3`. Where a series has no value, its cell is empty. */
export async function exportWide(db: Reader, question: ExportQuestion): Promise<Exported> {
  const allSeries = await exportedGeoSeries(db, question)
  const times = await createClock(db, allSeries[0]?.zone ?? '')
  return {
    columns: [
      ...TIME_COLUMNS,
      ...allSeries.map(
        (series): ExportColumn => ({
          name: columnName(series),
          ...(series.unit === null ? {} : { header: `${columnName(series)} (${series.unit})` }),
          type: 'real',
          unit: commonUnit([series]),
          about: `${series.name ?? `indicator ${series.indicatorId}`}, ${series.geoName ?? `geo ${series.geoId}`}`,
        }),
      ),
    ],
    rows: wide(
      allSeries.map((series) => exportedValues(db, series, question)),
      times,
    ),
  }
}

/** A row an instant that any of some ordered values has. */
async function* wide(all: readonly Blocks<ExportedValue>[], times: Times): Blocks<readonly unknown[]> {
  for await (const instants of sideBySide(all))
    yield instants.map(({ at, heads }) => [...times(at), ...heads.map((head) => head?.[1] ?? null)])
}
