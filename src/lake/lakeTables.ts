import { INDICATOR_KIND } from '../db/tables/declare.ts'
import { AVERAGE_ABOUT, ENERGY_ABOUT, WEIGHT_ABOUT } from '../db/tables/sql/valueViews.ts'

/** The version of the lake's layout and columns; it grows when readers of an earlier version would misread the lake. */
export const LAKE_SCHEMA = 1

/** How a column is typed, in the words of the manifest. */
export type LakeType = 'int64' | 'int32' | 'double' | 'boolean' | 'string' | 'timestamp' | 'date'

/** One column of a table of the lake. */
export interface LakeColumn {
  readonly name: string
  readonly type: LakeType
  readonly nullable: boolean
  readonly about: string
}

/** One table of the lake. */
export interface LakeTable {
  readonly about: string
  /** Whether its files lie in folders `year=YYYY`. */
  readonly byYear: boolean
  readonly sortedBy: readonly string[]
  readonly columns: readonly LakeColumn[]
}

const lakeColumn = (name: string, type: LakeType, about: string): LakeColumn => ({ name, type, nullable: false, about })
const nullableColumn = (name: string, type: LakeType, about: string): LakeColumn => ({
  name,
  type,
  nullable: true,
  about,
})

const SERIES_COLUMN = lakeColumn('series_id', 'int64', 'The series (series.series_id)')
const GEO_COLUMN = lakeColumn('geo_id', 'int64', 'The geo (geo.geo_id); 0 where the service names none')
const AT_COLUMN = lakeColumn('at_utc', 'timestamp', 'When the period begins; the folder is its year in UTC')
const KIND_COLUMN = lakeColumn('kind', 'string', INDICATOR_KIND)
const INDICATOR_COLUMN = lakeColumn('indicator_id', 'int64', 'The number that the service gives it')
const NAME_COLUMN = nullableColumn('name', 'string', 'Its name, in the first stored language')

/** Every table of the lake. Rows have the values in this order. */
export const LAKE_TABLES = {
  observation: {
    about: 'The current value of a series at an instant; a file a month.',
    byYear: true,
    sortedBy: ['series_id', 'geo_id', 'at_utc'],
    columns: [
      SERIES_COLUMN,
      GEO_COLUMN,
      AT_COLUMN,
      nullableColumn('value', 'double', "The value in the indicator's own unit; null only where the service sent null"),
      lakeColumn('step_s', 'int32', `Length of the period in seconds. Weight averages by it: ${WEIGHT_ABOUT}`),
      nullableColumn('fetched_at', 'timestamp', 'When this value came'),
    ],
  },
  observation_revision: {
    about: 'A superseded or withdrawn value, with the instants between which it was known; a file a month.',
    byYear: true,
    sortedBy: ['series_id', 'geo_id', 'at_utc', 'valid_from'],
    columns: [
      SERIES_COLUMN,
      GEO_COLUMN,
      AT_COLUMN,
      nullableColumn('value', 'double', 'The value at that time'),
      lakeColumn('step_s', 'int32', 'Length of the period at that time, in seconds'),
      nullableColumn('valid_from', 'timestamp', 'Since when it was known here'),
      nullableColumn('valid_to', 'timestamp', 'Until when'),
    ],
  },
  day: {
    about: "Totals of the values of a series and geo in a day of the series' zone; a file a year.",
    byYear: true,
    sortedBy: ['series_id', 'geo_id', 'local_date'],
    columns: [
      SERIES_COLUMN,
      GEO_COLUMN,
      lakeColumn('local_date', 'date', "The day in the series' zone; the folder is its year"),
      lakeColumn('count', 'int64', 'Values that are not null'),
      nullableColumn('min', 'double', 'The smallest value'),
      nullableColumn('max', 'double', 'The largest value'),
      nullableColumn('avg', 'double', AVERAGE_ABOUT),
      nullableColumn('sum', 'double', 'The plain sum: for energy per period (MWh)'),
      nullableColumn('energy', 'double', ENERGY_ABOUT),
      nullableColumn('hours', 'double', 'Hours that the values cover'),
    ],
  },
  series: {
    about: 'An indicator together with the aggregation it was requested with.',
    byYear: false,
    sortedBy: ['series_id'],
    columns: [
      lakeColumn('series_id', 'int64', 'Its number'),
      KIND_COLUMN,
      lakeColumn(
        'indicator_id',
        'int64',
        'The indicator (indicator.indicator_id), of which there may be several series',
      ),
      nullableColumn('name', 'string', 'The name of the indicator, in the first stored language'),
      nullableColumn('unit', 'string', "The indicator's unit, as the service names it"),
      nullableColumn('time_trunc', 'string', 'The step that the service grouped by; null for the native step'),
      nullableColumn('time_agg', 'string', 'How it combined the values of a step: sum or average'),
      nullableColumn('geo_agg', 'string', 'How it combined geos: sum or average; null where it did not'),
      nullableColumn('geo_trunc', 'string', 'The level to which it grouped geos'),
      nullableColumn('geo_ids', 'string', 'With geo_agg only: the geos that went in, separated by commas'),
      lakeColumn('time_zone', 'string', 'The zone in which its days are counted (time_zone_offset.zone)'),
    ],
  },
  indicator: {
    about: 'One indicator of the catalogue, or one whose values were fetched.',
    byYear: false,
    sortedBy: ['kind', 'indicator_id'],
    columns: [
      KIND_COLUMN,
      INDICATOR_COLUMN,
      NAME_COLUMN,
      nullableColumn('unit', 'string', "The service's word for what is measured"),
      nullableColumn('step_type', 'string', 'How the service draws it: linear or step'),
      nullableColumn('composited', 'boolean', 'Whether it is the sum of others'),
      nullableColumn('disaggregated', 'boolean', 'Whether it is split by geo'),
      nullableColumn('withdrawn_at', 'timestamp', 'When a complete listing no longer had it; null while it is listed'),
    ],
  },
  indicator_text: {
    about: "An indicator's texts in one language.",
    byYear: false,
    sortedBy: ['kind', 'indicator_id', 'locale'],
    columns: [
      KIND_COLUMN,
      INDICATOR_COLUMN,
      lakeColumn('locale', 'string', 'The language, such as es'),
      nullableColumn('name', 'string', 'Its name'),
      nullableColumn('short_name', 'string', 'Its short name'),
      nullableColumn('description', 'string', 'Its description as plain text'),
    ],
  },
  geo: {
    about: 'A geographic entity.',
    byYear: false,
    sortedBy: ['geo_id'],
    columns: [
      lakeColumn('geo_id', 'int64', 'The number that the service gives it'),
      nullableColumn('level', 'string', 'country, electric_system, autonomous_community …, if an answer named it'),
      NAME_COLUMN,
    ],
  },
  time_zone_offset: {
    about: 'The clock changes of the zones, for engines that do not know them.',
    byYear: false,
    sortedBy: ['zone', 'from_s'],
    columns: [
      lakeColumn('zone', 'string', 'IANA name'),
      lakeColumn('from_s', 'int64', 'First instant with this offset (epoch seconds, UTC)'),
      lakeColumn('to_s', 'int64', 'First instant with the next one (epoch seconds, UTC)'),
      lakeColumn('offset_s', 'int32', 'What is to be added to UTC, in seconds'),
    ],
  },
} as const satisfies Record<string, LakeTable>

export type LakeTableName = keyof typeof LAKE_TABLES
export const LAKE_TABLE_NAMES = Object.keys(LAKE_TABLES) as LakeTableName[]
