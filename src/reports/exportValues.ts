import type { Blocks } from '../db/engine.ts'
import { readUnitChanges, type UnitChange, unitAt } from '../db/queries/unitChanges.ts'
import type { Reader } from '../db/store.ts'
import { formatUtc, type Instant } from '../util/time/instant.ts'
import { formatOffset } from '../util/time/zone.ts'
import { columnName, type ExportedSeries, type ExportQuestion, rangeIn, readExportedSeries } from './exportQuestion.ts'
import { resample } from './resample.ts'
import { mergeByInstant } from './sideBySide.ts'

/** A column of an export. */
export interface ExportColumn {
  /** The name of the column. */
  readonly name: string
  /** The type of its values. */
  readonly type: 'integer' | 'real' | 'text' | 'instant'
  /** The unit of its values, if known. */
  readonly unit?: string
  /** Its meaning in words, if its name has only numbers. */
  readonly about?: string
  /** Its name with its unit, for the first line of CSV and TSV. */
  readonly header?: string
}

/** An export: its columns, and its rows in batches, so that memory stays flat. Instants are `YYYY-MM-DDTHH:MM:SSZ`. */
export interface ExportTable {
  /** The columns, in the order of the cells. */
  readonly columns: readonly ExportColumn[]
  /** The rows, in batches. Iterate once. */
  readonly rows: Blocks<readonly unknown[]>
  /** What it contains, for the name of its sheet in a workbook. */
  readonly sheet?: string
}

const TIME_COLUMNS: readonly ExportColumn[] = [
  { name: 'at_utc', type: 'instant', unit: 'UTC' },
  { name: 'at_local', type: 'text', unit: 'local time with offset, ISO 8601' },
]

type ExportedValue = readonly [at: Instant, value: number | null, step: number, isComplete?: 0 | 1]

/** Reads the values of a series and geo in the order of their instants, aggregated to periods if the question says so. */
function readValues({ engine }: Reader, series: ExportedSeries, question: ExportQuestion): Blocks<ExportedValue> {
  const { seriesId, geoId, zone } = series
  const values = engine.streamValues({ seriesId, geoId, ...rangeIn(zone, question) }, question.asOf)
  return question.resampling ? resample(values, series, question.resampling) : values
}

/** Formats an instant in UTC and in local time. */
type FormatTimes = (at: Instant) => string[]

/** Creates a function that formats instants of a zone. It looks up the offset once for many rows in order. */
async function createClock({ kysely }: Reader, zone: string): Promise<FormatTimes> {
  const offsets = await kysely
    .selectFrom('time_zone_offset')
    .select(['from_at as from', 'to_at as to', 'offset_s as offset'])
    .where('zone', '=', zone)
    .execute()
  let current = offsets[0]
  return (at) => {
    if (!current || at < current.from || at >= current.to)
      current = offsets.find(({ from, to }) => from <= at && at < to)
    const offset = current?.offset ?? 0
    return [formatUtc(at), `${formatUtc(at + offset).slice(0, 19)}${formatOffset(offset)}`]
  }
}

/** The units of series whose unit changed, by series. */
type UnitChanges = ReadonlyMap<number, readonly UnitChange[]>

/** The unit of a series in the range of an export; undefined if it changes there. */
function unitInRange(
  series: ExportedSeries,
  question: ExportQuestion,
  unitChanges: UnitChanges,
): string | null | undefined {
  const changes = unitChanges.get(series.seriesId)
  if (!changes) return series.unit
  const { from, to } = rangeIn(series.zone, question)
  const units = new Set([
    unitAt(changes, from)?.unit ?? null,
    ...changes.flatMap((change) => (change.from > from && change.from < to ? [change.unit] : [])),
  ])
  return units.size === 1 ? [...units][0] : undefined
}

/** Returns the unit of some series, if all have the same. */
function commonUnit(allSeries: readonly ExportedSeries[], question: ExportQuestion, unitChanges: UnitChanges): string {
  const units = new Set(allSeries.map((series) => unitInRange(series, question, unitChanges)))
  const [unit] = units
  return units.size === 1 && unit ? unit : "the indicator's own unit"
}

/** The columns of the series and geo of a row: their types, and the fields with their values. */
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
} as const satisfies Record<string, readonly [ExportColumn['type'], keyof ExportedSeries]>

/** Exports one row per value or period, ordered by kind, indicator, series, geo and instant. */
export async function exportLong(db: Reader, question: ExportQuestion): Promise<ExportTable> {
  const allSeries = await readExportedSeries(db, question)
  const unitChanges = await readUnitChanges(db)
  const unitCell = Object.keys(SERIES_COLUMNS).indexOf('unit')
  const clocks = new Map<string, FormatTimes>()
  for (const { zone } of allSeries) if (!clocks.has(zone)) clocks.set(zone, await createClock(db, zone))
  async function* rows(): Blocks<readonly unknown[]> {
    for (const series of allSeries) {
      const shared = Object.values(SERIES_COLUMNS).map(([, field]) => series[field])
      const formatTimes = clocks.get(series.zone)!
      const changes = unitChanges.get(series.seriesId)
      const cellsAt = (at: Instant): readonly unknown[] =>
        changes ? shared.with(unitCell, unitAt(changes, at)?.unit ?? null) : shared
      for await (const values of readValues(db, series, question))
        yield values.map(([at, value, step, ...isComplete]) => [
          ...cellsAt(at),
          ...formatTimes(at),
          step,
          value,
          ...isComplete,
        ])
    }
  }
  return {
    columns: [
      ...Object.entries(SERIES_COLUMNS).map(([name, [type]]): ExportColumn => ({ name, type })),
      ...TIME_COLUMNS,
      { name: 'step_s', type: 'integer', unit: 's' },
      { name: 'value', type: 'real', unit: commonUnit(allSeries, question, unitChanges) },
      ...(question.resampling ? [{ name: 'is_complete', type: 'integer' } as const] : []),
    ],
    rows: rows(),
  }
}

/** Names a series and its geo in words. */
const seriesText = ({ name, indicatorId, geoName, geoId }: ExportedSeries): string =>
  `${name ?? `indicator ${indicatorId}`}, ${geoName ?? `geo ${geoId}`}`

/** Exports one table per series and geo. The unit of the values is in the header; if it changes in the range, in a column. */
export async function exportSheets(db: Reader, question: ExportQuestion): Promise<ExportTable[]> {
  const unitChanges = await readUnitChanges(db)
  const tables: ExportTable[] = []
  for (const series of await readExportedSeries(db, question)) {
    const formatTimes = await createClock(db, series.zone)
    const unit = unitInRange(series, question, unitChanges)
    const changes = unit === undefined ? unitChanges.get(series.seriesId) : undefined
    async function* rows(): Blocks<readonly unknown[]> {
      for await (const values of readValues(db, series, question))
        yield values.map(([at, value, step, ...isComplete]) => [
          ...formatTimes(at),
          step,
          value,
          ...isComplete,
          ...(changes ? [unitAt(changes, at)?.unit ?? null] : []),
        ])
    }
    tables.push({
      sheet: `${columnName(series)} ${seriesText(series)}`,
      columns: [
        ...TIME_COLUMNS,
        { name: 'step_s', type: 'integer' },
        { name: 'value', type: 'real', ...(unit ? { header: `value (${unit})` } : {}) },
        ...(question.resampling ? [{ name: 'is_complete', type: 'integer' } as const] : []),
        ...(changes ? [{ name: 'unit', type: 'text' } as const] : []),
      ],
      rows: rows(),
    })
  }
  return tables
}

/** Exports one row per instant and one column per series and geo: `600_3`, `1293_8741_hour_average`, `offer_25_3`. Where a series has no value, its cell is empty. */
export async function exportWide(db: Reader, question: ExportQuestion): Promise<ExportTable> {
  const allSeries = await readExportedSeries(db, question)
  const unitChanges = await readUnitChanges(db)
  const formatTimes = await createClock(db, allSeries[0]?.zone ?? '')
  async function* rows(): Blocks<readonly unknown[]> {
    for await (const instants of mergeByInstant(allSeries.map((series) => readValues(db, series, question))))
      yield instants.map(({ at, heads }) => [...formatTimes(at), ...heads.map((head) => head?.[1] ?? null)])
  }
  return {
    columns: [
      ...TIME_COLUMNS,
      ...allSeries.map((series): ExportColumn => {
        const name = columnName(series)
        const unit = unitInRange(series, question, unitChanges) ?? null
        return {
          name,
          ...(unit === null ? {} : { header: `${name} (${unit})` }),
          type: 'real',
          unit: commonUnit([series], question, unitChanges),
          about: seriesText(series),
        }
      }),
    ],
    rows: rows(),
    sheet: 'values',
  }
}
