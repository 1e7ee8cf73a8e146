import { type I90_LABELS, I90_SHEETS } from '../../../service/archiveLayouts.ts'
import { archive_i90_row, archive_row } from '../content.ts'
import { instant, integer, json, optional, pick, real, text } from '../declare.ts'
import { utcTime } from './expressions.ts'

/* A view for each layout of `service/archiveLayouts.ts`. Loading checks the cells, so casts never fail. */

const EDITION = pick(archive_row, 'id', 'date', 'file', 'line')

/** How each database reads a cell of `r.columns`. */
const CELLS = {
  sqlite: (key: string | number) => `json_extract(r.columns, '$${typeof key === 'number' ? `[${key}]` : `.${key}`}')`,
  postgres: (key: string | number) => `(r.columns::jsonb ->> ${typeof key === 'number' ? key : `'${key}'`})`,
}
type Dialect = keyof typeof CELLS

const price = (cell: string): string => `cast(replace(nullif(${cell}, ''), ',', '.') as double precision)`
/** `01/02/2024` as `2024-02-01`. */
const isoDate = (cell: string): string =>
  `substr(${cell}, 7, 4) || '-' || substr(${cell}, 4, 2) || '-' || substr(${cell}, 1, 2)`

/** The keys of prices by the column that has them. */
const PVPC_PRICES = {
  price_pcb: 'PCB',
  price_cym: 'CYM',
  price_gen: 'GEN',
  price_noc: 'NOC',
  price_vhc: 'VHC',
} as const

function pvpcSql(dialect: Dialect): string {
  const cell = CELLS[dialect]
  const column = (name: keyof typeof PVPC_PRICES) => `${price(cell(PVPC_PRICES[name]))} as ${name}`
  // Columns that are added to a view of an existing database come last.
  return `select * from (select r.id, r.date, r.file, r.line, ${isoDate(cell('Dia'))} as local_date, ${cell('Hora')} as hours,
      ${column('price_pcb')}, ${column('price_cym')}, r.columns,
      ${column('price_gen')}, ${column('price_noc')}, ${column('price_vhc')}
    from archive_row r where r.layout = 'pvpc') p
    where coalesce(${Object.keys(PVPC_PRICES).join(', ')}) is not null`
}

/** `C2_prdvsuqh_20240101_20240131`: the settlement, the concept, and the days. */
const SETTLEMENT = `r.id, r.date, r.file, r.line, substr(r.file, 1, 2) as settlement, substr(r.file, 4, length(r.file) - 21) as concept`

function settlementSql(dialect: Dialect): string {
  const cell = CELLS[dialect]
  const count = dialect === 'sqlite' ? 'json_array_length(r.columns)' : 'jsonb_array_length(r.columns::jsonb)'
  const each =
    dialect === 'sqlite'
      ? 'join json_each(r.columns) e on e.key > 0'
      : `join lateral jsonb_array_elements_text(r.columns::jsonb) with ordinality e (value, nth) on e.nth > 1`
  const hour = dialect === 'sqlite' ? 'e.key' : 'e.nth - 1'
  const isLong = `substr(${cell(0)}, 3, 1) = '/'`
  const day = `trim(substr(${cell(0)}, 2))`
  const dayOfMonth = `substr('0' || ${day}, length(${day}))`
  const monthAt = (from: number) =>
    `substr(r.file, length(r.file) - ${from}, 4) || '-' || substr(r.file, length(r.file) - ${from - 4}, 2)`
  // A day of the month before the first day of the file is in the month of its last day.
  const month = `case when ${dayOfMonth} >= substr(r.file, length(r.file) - 10, 2) then ${monthAt(16)} else ${monthAt(7)} end`
  return `select ${SETTLEMENT}, ${isoDate(cell(0))} as local_date, cast(${cell(1)} as bigint) as hour,
      case when ${count} = 4 then cast(${cell(2)} as bigint) end as quarter,
      ${price(`case when ${count} = 4 then ${cell(3)} else ${cell(2)} end`)} as value
    from archive_row r where r.layout = 'settlement' and ${isLong}
    union all
    select ${SETTLEMENT}, ${month} || '-' || ${dayOfMonth} as local_date, cast(${hour} as bigint) as hour,
      null as quarter, ${price('e.value')} as value
    from archive_row r ${each} where r.layout = 'settlement' and not ${isLong} and e.value <> ''`
}

/** Labels of I90 sheets that are columns of the views. */
const I90_LABEL_COLUMNS: Readonly<Record<string, (typeof I90_LABELS)[number]>> = {
  direction: 'Sentido',
  redispatch: 'Redespacho',
  offer_type: 'Tipo Oferta',
  session: 'Sesión',
}

function i90Sql(dialect: Dialect): string {
  const label = (name: string) =>
    dialect === 'sqlite' ? `cast(json_extract(r.labels, '$."${name}"') as text)` : `(r.labels::jsonb ->> '${name}')`
  const labels = Object.entries(I90_LABEL_COLUMNS).map(([column, name]) => `${label(name)} as ${column}`)
  const [each, number, value] =
    dialect === 'sqlite'
      ? ['join json_each(r.period_values) e on e.value is not null', 'e.key', 'e.value']
      : [
          'join lateral jsonb_array_elements_text(r.period_values::jsonb) with ordinality e (value, nth) on e.value is not null',
          '(e.nth - 1)',
          'e.value',
        ]
  const at = `r.at + ${number} * r.step_s`
  return `select r.id, r.date, r.file, r.line, r.sheet, r.local_date, r.unit, ${labels.join(', ')}, r.labels,
      ${at} as at, ${utcTime(at)} as at_utc, ${number} + 1 as period, r.step_s, nullif(r.measure, '') as measure,
      cast(${value} as double precision) as value
    from archive_i90_row r ${each}`
}

const I90_COLUMNS = {
  ...pick(archive_i90_row, 'id', 'date', 'file', 'line', 'sheet', 'local_date', 'unit'),
  direction: optional(text('Label Sentido: Subir or Bajar')),
  redispatch: optional(text('Label Redespacho')),
  offer_type: optional(text('Label Tipo Oferta')),
  session: optional(text('Label Sesión')),
  ...pick(archive_i90_row, 'labels'),
  at: instant('Start of the period'),
  at_utc: text('Start of the period'),
  period: integer('Period of the local day, from 1: at most 25 hours or 100 quarter-hours'),
  step_s: integer('Length of the period'),
  measure: optional(text('Measure, if the periods of the sheet have several, such as MW')),
  value: optional(real('Value, in the unit of the sheet or measure')),
}

const I90_VIEW = {
  about: 'Values of I90 workbooks (archive 34), from archives that were loaded. Empty cells are left out.',
  columns: I90_COLUMNS,
  sql: i90Sql('sqlite'),
  postgres: i90Sql('postgres'),
}

/** A view of a sheet, for each sheet that people use most. */
const i90SheetViews = Object.fromEntries(
  // Sorted, because keys that are numbers come before 01.
  Object.entries(I90_SHEETS)
    .sort()
    .map(([sheet, about]) => [
      `archive_i90_${sheet}`,
      {
        about: `Sheet ${sheet} of I90 workbooks: ${about}.`,
        columns: I90_COLUMNS,
        sql: `select * from archive_i90 where sheet = '${sheet}'`,
      },
    ]),
) as unknown as Record<`archive_i90_${keyof typeof I90_SHEETS}`, typeof I90_VIEW>

export const ARCHIVE_VIEWS = {
  archive_pvpc: {
    about:
      'Hourly PVPC, the regulated household price, from archives that were loaded: of the tariff 2.0TD since June 2021, of three tariffs before. Hours without a price are left out.',
    columns: {
      ...EDITION,
      local_date: text('Local day'),
      hours: text('First and last hour of the period, as received: 00-01'),
      price_pcb: optional(real('Price on the peninsula, the Canaries and the Balearics since June 2021 (€/MWh)')),
      price_cym: optional(real('Price in Ceuta and Melilla since June 2021 (€/MWh)')),
      columns: json('The whole row as JSON, with the components of the prices'),
      price_gen: optional(real('Price of the tariff 2.0A, general, until May 2021 (€/MWh)')),
      price_noc: optional(real('Price of the tariff 2.0DHA, two periods, until May 2021 (€/MWh)')),
      price_vhc: optional(real('Price of the tariff 2.0DHS, electric vehicle, until May 2021 (€/MWh)')),
    },
    sql: pvpcSql('sqlite'),
    postgres: pvpcSql('postgres'),
  },
  archive_settlement: {
    about: 'Values of settlements (liquicomun), from archives that were loaded.',
    columns: {
      ...EDITION,
      settlement: text('Settlement: A1, C1 … C7'),
      concept: text('Concept, as in the name of the file'),
      local_date: text('Local day'),
      hour: integer('Hour of the local day, from 1'),
      quarter: optional(integer('Quarter of the hour, from 1; NULL for hours')),
      value: optional(real('Value, in the unit of the concept')),
    },
    sql: settlementSql('sqlite'),
    postgres: settlementSql('postgres'),
  },
  archive_i90: I90_VIEW,
  ...i90SheetViews,
}
