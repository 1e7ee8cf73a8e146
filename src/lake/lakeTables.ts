import { INDICATOR_KIND } from '../db/tables/declare.ts'
import { AVERAGE_ABOUT, ENERGY_ABOUT, WEIGHT_ABOUT } from '../db/tables/sql/valueViews.ts'

/** The version of layout and columns. It increases if older readers would misread the lake. */
export const LAKE_SCHEMA = 1

/** Types of columns, in the words of the manifest. */
export type LakeType = 'int64' | 'int32' | 'double' | 'boolean' | 'string' | 'timestamp' | 'date'

/** A column of a table of the lake. */
export interface LakeColumn {
  readonly name: string
  readonly type: LakeType
  readonly nullable: boolean
  readonly about: string
}

/** A table of the lake. */
export interface LakeTable {
  readonly about: string
  /** Whether its files are in folders `year=YYYY`. */
  readonly isByYear: boolean
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

const SERIES_COLUMN = lakeColumn('series_id', 'int64', 'Series (series.series_id)')
const GEO_COLUMN = lakeColumn('geo_id', 'int64', 'Geo (geo.geo_id); 0 = none')
const AT_COLUMN = lakeColumn('at_utc', 'timestamp', 'Start of the period; its UTC year is the folder')
const KIND_COLUMN = lakeColumn('kind', 'string', INDICATOR_KIND)
const INDICATOR_COLUMN = lakeColumn('indicator_id', 'int64', 'Id at the service')
const NAME_COLUMN = nullableColumn('name', 'string', 'Name, in the preferred language if stored')

/** Every table of the lake, with its columns in the order of the rows. */
export const LAKE_TABLES = {
  observation: {
    about: 'Current values, one file per month.',
    isByYear: true,
    sortedBy: ['series_id', 'geo_id', 'at_utc'],
    columns: [
      SERIES_COLUMN,
      GEO_COLUMN,
      AT_COLUMN,
      nullableColumn('value', 'double', 'Value; null only if the service sent null'),
      lakeColumn('step_s', 'int32', `Length of the period in seconds. Weight averages by it: ${WEIGHT_ABOUT}`),
      nullableColumn('fetched_at', 'timestamp', 'Fetch time'),
    ],
  },
  observation_revision: {
    about: 'Superseded and withdrawn values, one file per month.',
    isByYear: true,
    sortedBy: ['series_id', 'geo_id', 'at_utc', 'valid_from'],
    columns: [
      SERIES_COLUMN,
      GEO_COLUMN,
      AT_COLUMN,
      nullableColumn('value', 'double', 'Value of this version'),
      lakeColumn('step_s', 'int32', 'Length of the period in this version, in seconds'),
      nullableColumn('valid_from', 'timestamp', 'Time at which this version became known'),
      nullableColumn('valid_to', 'timestamp', 'Time at which it was replaced or withdrawn'),
    ],
  },
  day: {
    about: 'Aggregates per local day, one file per year.',
    isByYear: true,
    sortedBy: ['series_id', 'geo_id', 'local_date'],
    columns: [
      SERIES_COLUMN,
      GEO_COLUMN,
      lakeColumn('local_date', 'date', "Day in the series' zone; its year is the folder"),
      lakeColumn('count', 'int64', 'Number of non-null values'),
      nullableColumn('min', 'double', 'Minimum'),
      nullableColumn('max', 'double', 'Maximum'),
      nullableColumn('avg', 'double', AVERAGE_ABOUT),
      nullableColumn('sum', 'double', 'Sum of values; meaningful for energy per period'),
      nullableColumn('energy', 'double', ENERGY_ABOUT),
      nullableColumn('hours', 'double', 'Hours with values'),
    ],
  },
  series: {
    about: 'Time series of indicators, native or aggregated by the service.',
    isByYear: false,
    sortedBy: ['series_id'],
    columns: [
      lakeColumn('series_id', 'int64', 'Id'),
      KIND_COLUMN,
      lakeColumn('indicator_id', 'int64', 'Indicator (indicator.indicator_id); several series can share it'),
      nullableColumn('name', 'string', 'Name of the indicator, in the preferred language if stored'),
      nullableColumn(
        'unit',
        'string',
        'Unit; if unknown, the quantity as the service names it; sum of …, as in the views',
      ),
      nullableColumn('time_trunc', 'string', 'Time step of the aggregation by the service; null = native'),
      nullableColumn('time_agg', 'string', 'Aggregation over time: sum or average; null = native'),
      nullableColumn('geo_agg', 'string', 'Aggregation over geos: sum or average; null = none'),
      nullableColumn('geo_trunc', 'string', 'Geographic level of the aggregation'),
      nullableColumn('geo_ids', 'string', 'Aggregated geos, comma-separated; null without geo_agg'),
      lakeColumn('time_zone', 'string', 'Time zone of its local days (time_zone_offset.zone)'),
    ],
  },
  indicator: {
    about: 'Indicators in the catalogue or with fetched values.',
    isByYear: false,
    sortedBy: ['kind', 'indicator_id'],
    columns: [
      KIND_COLUMN,
      INDICATOR_COLUMN,
      NAME_COLUMN,
      nullableColumn('unit', 'string', 'Unit; if unknown, the quantity as the service names it'),
      nullableColumn('step_type', 'string', 'Chart style at the service: linear or step'),
      nullableColumn('composited', 'boolean', 'True if calculated from other indicators'),
      nullableColumn('disaggregated', 'boolean', 'True if it has values for several geos'),
      nullableColumn('withdrawn_at', 'timestamp', 'First found missing from a complete listing; null while listed'),
    ],
  },
  indicator_text: {
    about: 'Texts of indicators, by language.',
    isByYear: false,
    sortedBy: ['kind', 'indicator_id', 'locale'],
    columns: [
      KIND_COLUMN,
      INDICATOR_COLUMN,
      lakeColumn('locale', 'string', 'Language, such as es'),
      nullableColumn('name', 'string', 'Name'),
      nullableColumn('short_name', 'string', 'Short name'),
      nullableColumn('description', 'string', 'Description as plain text'),
    ],
  },
  geo: {
    about: 'Geographic areas.',
    isByYear: false,
    sortedBy: ['geo_id'],
    columns: [
      lakeColumn('geo_id', 'int64', 'Id at the service'),
      nullableColumn('level', 'string', 'country, electric_system, autonomous_community …; null if unknown'),
      NAME_COLUMN,
    ],
  },
  time_zone_offset: {
    about: 'UTC offsets of time zones, for engines without time zone data.',
    isByYear: false,
    sortedBy: ['zone', 'from_s'],
    columns: [
      lakeColumn('zone', 'string', 'IANA name'),
      lakeColumn('from_s', 'int64', 'First instant with this offset (epoch seconds, UTC)'),
      lakeColumn('to_s', 'int64', 'First instant with the next offset (epoch seconds, UTC)'),
      lakeColumn('offset_s', 'int32', 'Local time minus UTC, in seconds'),
    ],
  },
} as const satisfies Record<string, LakeTable>

export type LakeTableName = keyof typeof LAKE_TABLES
export const LAKE_TABLE_NAMES = Object.keys(LAKE_TABLES) as LakeTableName[]
