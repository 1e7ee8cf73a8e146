import { formatUtc, type Instant } from '../base/time/instant.ts'
import { formatOffset } from '../base/time/zone.ts'
import type { Blocks } from '../db/engine.ts'
import type { Reader } from '../db/store.ts'
import { columnOf, type Dataset, datasetsOf, type ExportQuestion, rangeIn } from './datasets.ts'
import { sideBySide } from './sideBySide.ts'

/** How a column of an export is typed, where a format has types. */
export interface ExportColumn {
  readonly name: string
  readonly type: 'integer' | 'real' | 'text' | 'instant'
  readonly unit?: string
  /** What it holds, in words, where its name has only numbers. */
  readonly about?: string
}

/** What an export holds: its columns, and its rows some at a time, so that memory stays flat however many there are. Instants are `YYYY-MM-DDTHH:MM:SSZ`. */
export interface Exported {
  readonly columns: readonly ExportColumn[]
  readonly rows: Blocks<readonly unknown[]>
}

/** Which times a row has. */
export type Clock = 'both' | 'utc' | 'local'

const UTC: ExportColumn = { name: 'at_utc', type: 'instant', unit: 'UTC' }
const LOCAL: ExportColumn = { name: 'at_local', type: 'text', unit: 'local time with offset, ISO 8601' }
const TIMES: Readonly<Record<Clock, readonly ExportColumn[]>> = { both: [UTC, LOCAL], utc: [UTC], local: [LOCAL] }

type Value = readonly [at: Instant, value: number | null, step: number]

/** The values of a dataset in the order of their instants. */
const readValues = ({ engine }: Reader, { seriesId, geoId, zone }: Dataset, question: ExportQuestion): Blocks<Value> =>
  engine.values({ seriesId, geoId, ...rangeIn(zone, question) }, question.asOf)

/** Writes instants of a zone as text. */
type Times = (at: Instant) => string[]

/** Writes instants of a zone as text; its clock changes are looked up once for many rows in order. */
async function createClock({ kysely }: Reader, zone: string, clock: Clock): Promise<Times> {
  const changes = await kysely
    .selectFrom('time_zone_offset')
    .select(['from_at as from', 'to_at as to', 'offset_s as offset'])
    .where('zone', '=', zone)
    .execute()
  let now = changes[0]
  return (at) => {
    if (!now || at < now.from || at >= now.to) now = changes.find(({ from, to }) => from <= at && at < to)
    const offset = now?.offset ?? 0
    const utc = formatUtc(at)
    const local = `${formatUtc(at + offset).slice(0, 19)}${formatOffset(offset)}`
    return clock === 'both' ? [utc, local] : [clock === 'utc' ? utc : local]
  }
}

/** What the service calls the quantity of some datasets, where it is one for all. */
function commonUnit(datasets: readonly Dataset[]): string {
  const units = new Set(datasets.map(({ unit }) => unit))
  const [unit] = units
  return units.size === 1 && unit ? unit : "the indicator's own unit"
}

/** The columns that name the series and geo of a row, with their values. */
const SHARED = {
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
} as const satisfies Record<string, readonly [ExportColumn['type'], keyof Dataset]>

/** The columns with which a long export begins. */
export const SHARED_COLUMNS: readonly string[] = Object.keys(SHARED)

/** A row a value, ordered by kind, indicator, series, geo and instant. */
export async function exportLong(db: Reader, question: ExportQuestion, clock: Clock): Promise<Exported> {
  const datasets = await datasetsOf(db, question)
  const clocks = new Map<string, Times>()
  for (const { zone } of datasets) if (!clocks.has(zone)) clocks.set(zone, await createClock(db, zone, clock))
  async function* rows(): Blocks<readonly unknown[]> {
    for (const dataset of datasets) {
      const shared = Object.values(SHARED).map(([, field]) => dataset[field])
      const times = clocks.get(dataset.zone)!
      for await (const values of readValues(db, dataset, question))
        yield values.map(([at, value, step]) => [...shared, ...times(at), step, value])
    }
  }
  return {
    columns: [
      ...Object.entries(SHARED).map(([name, [type]]): ExportColumn => ({ name, type })),
      ...TIMES[clock],
      { name: 'step_s', type: 'integer', unit: 's' },
      { name: 'value', type: 'real', unit: commonUnit(datasets) },
    ],
    rows: rows(),
  }
}

/** A row an instant, and a column a series and geo: `600_3`, `1293_8741_hour_average`, `offer_25_3`. Where a series has no value, its cell is empty. */
export async function exportWide(db: Reader, question: ExportQuestion, clock: Clock): Promise<Exported> {
  const datasets = await datasetsOf(db, question)
  const times = await createClock(db, datasets[0]?.zone ?? '', clock)
  return {
    columns: [
      ...TIMES[clock],
      ...datasets.map(
        (dataset): ExportColumn => ({
          name: columnOf(dataset),
          type: 'real',
          unit: commonUnit([dataset]),
          about: `${dataset.name ?? `indicator ${dataset.indicatorId}`}, ${dataset.geoName ?? `geo ${dataset.geoId}`}`,
        }),
      ),
    ],
    rows: wide(
      datasets.map((dataset) => readValues(db, dataset, question)),
      times,
    ),
  }
}

/** A row an instant that any of some ordered values has. */
async function* wide(all: readonly Blocks<Value>[], times: Times): Blocks<readonly unknown[]> {
  for await (const instants of sideBySide(all))
    yield instants.map(({ at, heads }) => [...times(at), ...heads.map((head) => head?.[1] ?? null)])
}
