import { I90_SHEETS } from '../../src/service/archiveLayouts.ts'

/* The changes by a migration from schema 2: a view without the prices before June 2021, and no table of I90 workbooks. */

const price = (cell: string): string => `cast(replace(nullif(${cell}, ''), ',', '.') as double precision)`
const VIEW = (cell: (key: string) => string, day: string): string =>
  `create view archive_pvpc as select r.id, r.date, r.file, r.line, ${day} as local_date, ${cell('Hora')} as hours,
     ${price(cell('PCB'))} as price_pcb, ${price(cell('CYM'))} as price_cym, r.columns
   from archive_row r where r.layout = 'pvpc'`

const CELLS = {
  sqlite: (key: string) => `json_extract(r.columns, '$.${key}')`,
  postgres: (key: string) => `(r.columns::jsonb ->> '${key}')`,
}
const DAYS = { sqlite: "'2020-10-25'", postgres: "date '2020-10-25'" }

/** The statements that turn a new database into one of schema 2, with rows of PVPC and a view of another program. */
export const toSchemaTwo = (dialect: 'sqlite' | 'postgres'): readonly string[] => [
  'drop view archive_pvpc',
  ...Object.keys(I90_SHEETS).map((sheet) => `drop view archive_i90_${sheet}`),
  'drop view archive_i90',
  'drop table archive_i90_row',
  VIEW(CELLS[dialect], DAYS[dialect]),
  'create view of_mine as select hours, price_cym from archive_pvpc',
  "delete from _migration where name >= '0003_archives'",
  ...[
    { Dia: '25/10/2020', Hora: '00-01', GEN: '103,20', NOC: '54,1', VHC: '' },
    { Dia: '25/10/2020', Hora: '01-02', PCB: '', CYM: '' },
    { Dia: '25/10/2021', Hora: '00-01', PCB: '116,33', CYM: '99' },
  ].map(
    (row, i) => `insert into archive_row (kind, id, date, file, line, layout, columns)
      values ('archive_json', 70, '2021-10-25', 'PVPC', ${i + 1}, 'pvpc', '${JSON.stringify(row)}')`,
  ),
]

/** Values of I90 workbooks, of one of their sheets. */
export const I90_VALUES = 'select unit, period, value from archive_i90_03'

export const PRICES =
  'select line, hours, price_pcb, price_cym, price_gen, price_noc, price_vhc from archive_pvpc order by line'
export const EXPECTED_PRICES = [
  { line: 1, hours: '00-01', price_pcb: null, price_cym: null, price_gen: 103.2, price_noc: 54.1, price_vhc: null },
  { line: 3, hours: '00-01', price_pcb: 116.33, price_cym: 99, price_gen: null, price_noc: null, price_vhc: null },
]
