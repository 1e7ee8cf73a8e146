import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CellObject } from '@e965/xlsx'
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { exportTo } from '../../../src/cli/exports/exportFile.ts'
import { sheetNames } from '../../../src/cli/exports/xlsx.ts'
import { csvCell, uniqueNames } from '../../../src/reports/cells.ts'
import { runQuery } from '../../../src/reports/statements/runQuery.ts'
import { type Done, emulate, runCommand } from '../../support/kit.ts'
import { openReader } from '../../support/testStore.ts'
import { addFetch, addSeries, fillBy } from '../filled.ts'
import { jobFolder, serviceAt } from '../jobFolder.ts'

let dir: string
const NAME = 'He said "a, b"\nand =1+1; '

beforeAll(async () => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'indicator-sync-')))
  await fillBy(join(dir, 'own.db'), (store) => {
    addSeries(store, 1, {}, 3, [
      ['2024-12-31T22:00:00Z', null],
      ['2024-12-31T23:00:00Z', 1e-320],
      ['2025-01-01T00:00:00Z', 2 ** 53 + 2],
      ['2025-01-01T01:00:00Z', 0.1],
      ['2025-01-01T02:00:00Z', -1e300],
    ])
    addSeries(store, 2, { trunc: 'hour', agg: 'sum' }, 3, [['2025-01-01T00:00:00Z', 2]])
    addSeries(store, 3, { geoAgg: 'sum', geoIds: '1,2' }, 0, [['2025-01-01T00:00:00Z', 3]])
    addSeries(store, 4, { geoAgg: 'sum', geoIds: '1,2,3' }, 0, [['2025-01-01T00:00:00Z', 4]])
    addSeries(store, 5, { geoAgg: 'sum', geoTrunc: 'country' }, 3, [['2025-01-01T00:00:00Z', 5]])
    addSeries(store, 6, { kind: 'offer_indicator' }, 3, [['2025-01-01T00:00:00Z', 6]])
    addSeries(store, 7, { indicator: 700, zone: 'America/New_York' }, 3, [
      ['2025-01-01T00:00:00Z', 7],
      ['2026-01-01T04:00:00Z', 8],
      ['2026-01-01T05:00:00Z', 9],
    ])
    store.run(`insert into indicator_text (kind, id, locale, name, fetch_id) values ('indicator', 600, 'es', ?, 1)`, [
      NAME,
    ])
    store.run(`insert into magnitude values (23, '€/MWh', 'price', 'test', 0)`, [])
    store.run(`update indicator set magnitude = 'Precio', magnitude_id = 23 where kind = 'indicator' and id = 600`, [])
    // Two versions that changed at a known millisecond, and a withdrawn value.
    addFetch(store, 2, '2025-07-01T10:00:00.250Z')
    addSeries(store, 8, { indicator: 800 }, 3, [])
    const at = Date.parse('2025-01-01') / 1000
    store.run('insert into observation (series_id, geo_id, at, value, step_s, fetch_id) values (8, 3, ?, 2, 3600, 2)', [
      at,
    ])
    store.run(
      'insert into observation_revision (series_id, geo_id, at, value, step_s, fetch_id, superseded_by) values (8, 3, ?, 1, 3600, 1, 2)',
      [at],
    )
    store.run(
      'insert into observation_revision (series_id, geo_id, at, value, step_s, fetch_id, superseded_by) values (8, 3, ?, 5, 3600, 1, 2)',
      [Date.parse('2023-01-01') / 1000],
    )
  })
})
afterAll(() => rmSync(dir, { recursive: true }))

const run = (...args: string[]): Promise<Done> => runCommand(dir, args, { INDICATOR_SYNC_DATABASE: 'own.db' })

/** Parses CSV by RFC 4180: an empty cell is null, `""` an empty text. */
function readCsv(text: string, between = ','): (string | null)[][] {
  const rows: (string | null)[][] = [[]]
  for (let at = 0; at < text.length; ) {
    let cell = ''
    let quoted = false
    if (text[at] === '"') {
      quoted = true
      for (at++; text[at] !== '"' || text[at + 1] === '"'; at++) {
        if (text[at] === '"') at++
        cell += text[at]
      }
      at++
    } else while (at < text.length && text[at] !== between && text[at] !== '\n') cell += text[at++]
    rows.at(-1)!.push(cell === '' && !quoted ? null : cell)
    if (text[at] === '\n') rows.push([])
    else if (text[at + 1] === '\n') rows.at(-1)!.push(null)
    at += text[at] === between && text[at + 1] === '\n' ? 2 : 1
    if (text[at - 1] === '\n' && rows.at(-1)!.length > 0) rows.push([])
  }
  return rows.filter((row) => row.length > 0)
}

/** Parses a line of NDJSON with exact integers. */
const readLine = (line: string): Record<string, unknown> =>
  JSON.parse(line, (_, value, context?: { source?: string }) =>
    typeof value === 'number' && /^-?\d+$/.test(context?.source ?? '') && !Number.isSafeInteger(value)
      ? BigInt(context!.source!)
      : value,
  )

/** Converts numbers to a common form that is exact to the last bit. */
function canonical(value: unknown): unknown {
  if (value === null || value === undefined) return null
  if (value instanceof Date) return value.toISOString().replace('.000Z', 'Z')
  if (typeof value === 'bigint') return `${value}`
  if (typeof value === 'number') return Object.is(value, -0) ? '-0.0' : String(value)
  return value
}

type Form = 'csv' | 'ndjson' | 'parquet'

/** Exports in all three formats and reads the files back. */
async function thrice(write: (form: Form, file: string) => Promise<unknown>) {
  const files = { csv: join(dir, 'same.csv'), ndjson: join(dir, 'same.ndjson'), parquet: join(dir, 'same.parquet') }
  for (const [form, file] of Object.entries(files)) {
    rmSync(file, { force: true })
    await write(form as Form, file)
  }
  const [head, ...csv] = readCsv(readFileSync(files.csv, 'utf8'))
  const lines = readFileSync(files.ndjson, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
  const parquet = await parquetReadObjects({ file: await asyncBufferFromFile(files.parquet) })
  return { head: head as string[], csv, ndjson: lines.map(readLine), parquet, file: files.parquet }
}

const byCommand =
  (...args: string[]) =>
  async (form: Form, file: string) =>
    expect((await run('export', ...args, '--format', form, '--output', file)).code).toBe(0)

/** Exports a statement like `--sql`, in this process. */
const bySql = (sql: string) => async (form: Form, file: string) => {
  const reader = openReader(join(dir, 'own.db'))
  try {
    const planned = async () => [await runQuery(reader, { sql, isTyped: form === 'parquet' })]
    await exportTo(file, planned, { form, dialect: {}, overwrite: false, sources: [] })
  } finally {
    await reader.close()
  }
}

/** Expects three equal tables, cell for cell. */
async function expectEqual(write: Parameters<typeof thrice>[0], unit: (name: string) => string = () => '') {
  const read = await thrice(write)
  expect(read.parquet.length).toBe(read.csv.length)
  expect(read.ndjson.length).toBe(read.csv.length)
  for (const [i, row] of read.csv.entries()) {
    const names = Object.keys(read.ndjson[i]!)
    // Only the header of CSV contains units.
    expect(names.map((name) => (name.startsWith('at_') ? name : name + unit(name)))).toEqual(read.head)
    for (const [j, name] of names.entries()) {
      const ours = canonical(read.ndjson[i]![name])
      expect(canonical(read.parquet[i]![name]), `${name} of row ${i} in Parquet`).toEqual(
        typeof read.parquet[i]![name] === 'string' && ours !== null ? String(ours) : ours,
      )
      const cell = row[j] ?? null
      const number = typeof read.ndjson[i]![name] === 'number'
      expect(number ? canonical(Number(cell)) : cell, `${name} of row ${i} in CSV`).toBe(
        ours === null ? null : String(ours),
      )
    }
  }
  return read
}

describe('the formats of an export', () => {
  test('all formats contain the same values with one row per value', async () => {
    const { ndjson } = await expectEqual(byCommand('--indicator', '600', '700'))
    expect(ndjson).toHaveLength(12)
    expect(ndjson[0]).toEqual({
      series_id: 1,
      kind: 'indicator',
      indicator_id: 600,
      indicator_name: NAME,
      time_trunc: null,
      time_agg: null,
      geo_agg: null,
      geo_trunc: null,
      geo_ids: null,
      unit: '€/MWh',
      geo_id: 3,
      geo_name: null,
      at_utc: '2024-12-31T22:00:00Z',
      at_local: '2024-12-31T23:00:00+01:00',
      step_s: 3600,
      value: null,
    })
    expect(ndjson[7]).toMatchObject({ geo_agg: 'sum', geo_trunc: null, geo_ids: '1,2,3', value: 4 })
    const offers = (await expectEqual(byCommand('--indicator', '600', '--kind', 'offer_indicator'))).ndjson
    expect(offers.at(-1)).toMatchObject({ kind: 'offer_indicator', indicator_id: 600, value: 6 })
  })

  test('an export of several series of an indicator says so, and --series chooses', async () => {
    const all = await run('export', '--indicator', '600', '700')
    expect(all.err).toBe(
      'Indicator 600 has 5 series, all exported: 1 (native), 2 (hour, sum), 3 (geos: sum), 4 (geos: sum), 5 (geos: sum, country).\n' +
        'Choose with --series ID.\n12 rows.\n',
    )
    const one = await run('export', '--indicator', '600', '--series', '1', '--wide')
    expect(one).toMatchObject({
      code: 0,
      err: '5 rows.\n',
      out: expect.stringMatching(/^at_utc,at_local,600_3 \(€\/MWh\)\n/),
    })
    const foreign = await run('export', '--indicator', '600', '--series', '7', '99')
    expect(foreign).toMatchObject({
      code: 2,
      err: expect.stringMatching(/^Series 7, 99 is not stored, or of another indicator/),
    })
    const sql = await run('export', '--sql', 'select 1', '--series', '1')
    expect(sql).toMatchObject({ code: 2, err: expect.stringMatching(/^--series only works with --indicator/) })
  })

  test('all formats contain the same values with one column per series', async () => {
    const { head, file } = await expectEqual(byCommand('--indicator', '600', '--wide'), (name) =>
      name.endsWith('_sum') ? ' (sum of €/MWh)' : ' (€/MWh)',
    )
    expect(head).toEqual([
      'at_utc',
      'at_local',
      '600_3 (€/MWh)',
      '600_3_hour_sum (sum of €/MWh)',
      '600_0_geo_sum_of_1_2 (€/MWh)',
      '600_0_geo_sum_of_1_2_3 (€/MWh)',
      '600_3_geo_sum_country (€/MWh)',
    ])
    const { key_value_metadata: said } = await parquetMetadataAsync(await asyncBufferFromFile(file))
    expect(said).toContainEqual({ key: 'name.600_3', value: `${NAME}, geo 3` })
  })

  test.each<[string, string]>([
    [
      'integers beyond the range of doubles',
      `select 9007199254740993 as a, -9223372036854775808 as b, 9223372036854775807 as c, null as d`,
    ],
    [
      'the smallest and the largest doubles',
      `select 1e-320 as a, -1.7976931348623157e308 as b, 9e999 as c, -9e999 as d, 0.1 as e`,
    ],
    ['negative zero', `select -0.0 as a union all select 0.0 union all select -0.0`],
    [
      'text',
      `select 'a "b", c' as a, char(10) || 'x' || char(13) as b, '' as c, null as d, ' ' as e, '😀' as f, '007' as g`,
    ],
    ['bytes', `select x'00ff10' as a, x'' as b`],
    ['a column of mixed types', `select 1 as a union all select 2.5 union all select 'x' union all select null`],
    ['integers and fractions', `select 1 as a union all select 2.5 union all select null`],
    ['large integers and fractions', `select 9007199254740993 as a union all select 2.5`],
    ['only nulls', `select null as a, null as b`],
    ['duplicate column names', `select 1 as a, 2 as a, 3 as a_2`],
    [
      'a type that changes after many rows',
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < 2500) select iif(i < 2000, i, i || '.') as a from n`,
    ],
    ['columns of a table', `select at, value, step_s, series_id from observation where series_id = 1 order by at;`],
    ['a pragma, which cannot be a subquery', `pragma table_info(series)`],
    ['no rows', `select 1 as a where false`],
  ])('all formats contain the same values of a query for %s', async (_, sql) => {
    await expectEqual(bySql(sql))
  })

  test('all formats contain the same values with `--sql`', async () => {
    const { ndjson } = await expectEqual(byCommand('--sql', 'select 9007199254740993 as a, -0.0 as b'))
    expect(ndjson).toEqual([{ a: 9007199254740993n, b: -0 }])
  })

  test('query prints 64-bit integers and negative zero exactly', async () => {
    const sql = 'select 9007199254740993 as a, -0.0 as b'
    expect((await run('query', sql, '--json')).out).toBe('[\n  {"a":9007199254740993,"b":-0.0}\n]\n')
    expect((await run('query', sql, '--format', 'csv')).out).toBe('a,b\n9007199254740993,-0.0\n')
    expect((await run('query', sql)).out).toContain('9007199254740993')
    const typed = ['query', 'select typeof(:a) a, typeof(:b) b, typeof(:c) c, :d d']
    const parameters = '--param a=5 --param b=5.0 --param c=x --param d=9007199254740993 --format csv'.split(' ')
    expect((await run(...typed, ...parameters)).out).toBe('a,b,c,d\ninteger,real,text,9007199254740993\n')
  })
})

describe('exports as of an instant', () => {
  const of = async (asOf: string) =>
    (await run('export', '--indicator', '800', '--as-of', asOf)).out
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => line.split(',').at(-1))
  test.each<[string, string[]]>([
    ['2025-05-31T23:59:59.999Z', []],
    ['2025-06-01T00:00:00Z', ['5', '1']],
    ['2025-07-01T10:00:00Z', ['5', '1']],
    ['2025-07-01T10:00:00.249Z', ['5', '1']],
    ['2025-07-01T10:00:00.2499999Z', ['5', '1']],
    ['2025-07-01T10:00:00.25Z', ['2']],
    ['2025-07-01T12:00:00.250+02:00', ['2']],
    ['2025-07-01T12:00:00.249', ['5', '1']],
    ['2025-07-02', ['2']],
    ['now', ['2']],
  ])('an export as of %s contains the rows with valid_from <= T < valid_to', async (asOf, values) => {
    expect(await of(asOf)).toEqual(values)
  })

  test('an invalid `--as-of` is refused', async () => {
    for (const text of ['yesterday', '2025-07-01T10:00:00.Z', '2025-02-30', '2025-07-01T10:00:00.5x'])
      expect(await run('export', '--indicator', '800', '--as-of', text)).toMatchObject({
        code: 2,
        err: expect.stringMatching(/as-of/),
      })
  })
})

describe('days of an export', () => {
  test('a day begins at local midnight of each series', async () => {
    const range = ['--from', '2024-12-31', '--to', '2025-01-01', '--format', 'ndjson']
    const { out } = await run('export', '--indicator', '600', '700', ...range)
    const local = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).at_local)
    expect(local).toEqual(['2024-12-31T23:00:00+01:00', '2024-12-31T19:00:00-05:00'])
  })
})

test.each<[string, string[], RegExp]>([
  ['an indicator', ['--indicator', '600', '4242'], /indicator 4242 are stored\.\n.*discover/],
  [
    'an offer indicator',
    ['--indicator', '700', '--kind', 'offer_indicator'],
    /offer indicator 700 are stored\.\n.*discover/,
  ],
  ['a geo', ['--indicator', '600', '--geo', '9'], /geo 9 are stored.*\n.*discover/],
])('an export of %s that was never stored exits with 2', async (_, args, message) => {
  expect(await run('export', ...args, '--output', 'never.csv')).toMatchObject({
    code: 2,
    err: expect.stringMatching(message),
  })
  expect(readdirSync(dir)).not.toContain('never.csv')
})

describe('CSV for spreadsheets', () => {
  test('--safe escapes cells that spreadsheets treat as formulas, but not numbers', async () => {
    const sql = `select '=1+1' as "=a", '+1' b, '-1' c, '@x' d, char(9) || 'x' e, char(13) f, -1.5 g, -2 h, 'a=b' i, '=a,"b"' j, null k, '' l`
    expect((await run('export', '--sql', sql, '--safe', '--quiet')).out).toBe(
      `"'=a",b,c,d,e,f,g,h,i,j,k,l\n"'=1+1","'+1","'-1","'@x","'\tx","'\r",-1.5,-2,a=b,"'=a,""b""",,""\n`,
    )
    expect((await run('query', sql, '--format', 'csv', '--safe')).out).toContain(`"'=1+1"`)
    expect((await run('query', sql, '--safe')).code).toBe(2)
  })

  test('--excel writes CSV for Spanish locales', async () => {
    const done = await run('export', '--indicator', '600', '--wide', '--excel', '--output', 'excel.csv')
    expect(done.code).toBe(0)
    const text = readFileSync(join(dir, 'excel.csv'), 'utf8')
    expect(text.startsWith('\uFEFFat_utc;at_local;at_offset_h;600_3 (€/MWh);')).toBe(true)
    expect(text).toMatch(/^2025-01-01 01:00;2025-01-01 02:00;1;0,1;/m)
    expect((await run('export', '--indicator', '600', '--excel', '--output', 'long.csv')).code).toBe(0)
    expect((await run('export', '--indicator', '600', '--excel', '--format', 'ndjson')).code).toBe(2)
    expect(csvCell('a;b', { excel: true })).toBe('"a;b"')
  })

  test('--excel writes timestamps as dates, with the offset of local times in an extra column', async () => {
    const times = [
      ['2024-10-27T02:00:00+01:00', 'from_local'],
      ['2024-10-27T02:00:30-04:30', 'to_local'],
      ['2024-11-25T12:10:39.561Z', 'fetched_at'],
      ['2024-11-25', 'local_date'],
      ['at 2024-11-25T12:10:39Z', 'text'],
    ]
    const sql = `select ${times.map(([value, name]) => `'${value}' as ${name}`).join(', ')}, null as last_local`
    expect((await run('query', sql, '--format', 'csv', '--excel')).out).toBe(
      `\uFEFFfrom_local;from_offset_h;to_local;to_offset_h;fetched_at;local_date;text;last_local
2024-10-27 02:00;1;2024-10-27 02:00:30;-4,5;2024-11-25 12:10:39;2024-11-25;at 2024-11-25T12:10:39Z;
`,
    )
  })

  test('--excel keeps the offset of local times in columns of any name', async () => {
    const sql = `select null as hora, '2025-10-26T02:00:00' as at_local, 'x' as hora_offset_h
      union all select '2025-10-26T02:00:00+02:00', null, null
      union all select '2025-10-26T02:00:00+01:00', '2025-10-26T02:00:00.5', null`
    expect((await run('query', sql, '--format', 'csv', '--excel')).out).toBe(
      `\uFEFFhora;hora_offset_h;at_local;hora_offset_h_2
;;2025-10-26 02:00;x
2025-10-26 02:00;2;;
2025-10-26 02:00;1;2025-10-26 02:00;
`,
    )
    const none = await run('query', 'select 1 as a, 2 as b where 1 = 0', '--format', 'csv', '--excel')
    expect(none.out).toBe('\uFEFFa;b\n')
  })

  test('an offset that first appears in a late row remains in its timestamp with --excel', async () => {
    const sql = `with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)
      select i, iif(i = 20000, '2025-10-26T02:00:00+02:00', null) as hora from n`
    const { out } = await run('query', sql, '--format', 'csv', '--excel')
    expect(out.slice(0, 11)).toBe('\uFEFFi;hora\n1;\n')
    expect(out.slice(-33)).toBe('\n20000;2025-10-26T02:00:00+02:00\n')
  })
})

describe('workbooks', () => {
  /** Reads the cells of each sheet: dates as ISO texts in the clock that Excel shows. */
  async function readSheets(file: string): Promise<Record<string, unknown[][]>> {
    const { read, utils, SSF } = await import('@e965/xlsx')
    const book = read(readFileSync(join(dir, file)), { cellNF: true, cellFormula: true })
    const toCell = (cell: CellObject): unknown => {
      expect(cell.f).toBeUndefined()
      if (cell.t !== 'n' || !SSF.is_date(String(cell.z ?? ''))) return cell.v
      return SSF.format('yyyy-mm-dd hh:mm:ss', cell.v as number)
    }
    return Object.fromEntries(
      book.SheetNames.map((name) => {
        const sheet = book.Sheets[name]!
        const { e } = utils.decode_range(sheet['!ref']!)
        const rows = Array.from({ length: e.r + 1 }, (_, r) =>
          Array.from({ length: e.c + 1 }, (_, c) => {
            const cell = sheet[utils.encode_cell({ r, c })] as CellObject | undefined
            return cell ? toCell(cell) : null
          }),
        )
        return [name, rows]
      }),
    )
  }

  test('a workbook has a sheet per series, with dates in both zones and units in the header', async () => {
    const done = await run('export', '--indicator', '600', '700', '--output', 'book.xlsx')
    expect(done).toMatchObject({ code: 0, err: expect.stringMatching(/^12 rows in book\.xlsx\.$/m) })
    const sheets = await readSheets('book.xlsx')
    expect(Object.keys(sheets)).toEqual([
      '600_3 He said "a, b" and =1+1;',
      '600_3_hour_sum He said "a, b" a',
      '600_0_geo_sum_of_1_2 He said "a',
      '600_0_geo_sum_of_1_2_3 He said',
      '600_3_geo_sum_country He said "',
      '700_3 indicator 700, geo 3',
    ])
    const [first, hourly] = Object.values(sheets)
    expect(first!.slice(0, 4)).toEqual([
      ['at_utc', 'at_local', 'at_offset_h', 'step_s', 'value (€/MWh)'],
      ['2024-12-31 22:00:00', '2024-12-31 23:00:00', 1, 3600, null],
      ['2024-12-31 23:00:00', '2025-01-01 00:00:00', 1, 3600, 1e-320],
      ['2025-01-01 00:00:00', '2025-01-01 01:00:00', 1, 3600, 2 ** 53 + 2],
    ])
    expect(hourly![0]!.at(-1)).toBe('value (sum of €/MWh)')
    expect(sheets['700_3 indicator 700, geo 3']![0]).toEqual(['at_utc', 'at_local', 'at_offset_h', 'step_s', 'value'])
    expect(sheets['700_3 indicator 700, geo 3']![1]![1]).toBe('2024-12-31 19:00:00')
  })

  test('a workbook with --wide has one sheet with the columns of the CSV file', async () => {
    expect((await run('export', '--indicator', '600', '--wide', '--output', 'wide.xlsx')).code).toBe(0)
    const { values } = await readSheets('wide.xlsx')
    const [head] = readCsv((await run('export', '--indicator', '600', '--wide', '--excel')).out.slice(1), ';')
    expect(values![0]).toEqual(head)
    expect(values!.length).toBe(6)
    expect(values![3]).toEqual(['2025-01-01 00:00:00', '2025-01-01 01:00:00', 1, 2 ** 53 + 2, 2, 3, 4, 5])
  })

  test('texts of a statement remain texts in a workbook, and dates become dates', async () => {
    const sql = `select '=1+1' as a, char(1) || ' <&> ' as b, '_x0041_' as c, 9007199254740993 as d, 9e999 as e, '2025-02-30' as f,
      '2025-02-28' as g, '1875-01-01' as h, '2025-01-01T10:15:00Z' as i, '007' as j, x'00ff' as k, '' as l, null as "="`
    expect((await run('export', '--sql', sql, '--output', 'texts.xlsx')).code).toBe(0)
    expect((await readSheets('texts.xlsx')).rows).toEqual([
      ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', '='],
      [
        ...['=1+1', '\u0001 <&> ', '_x0041_', '9007199254740993', 'Infinity', '2025-02-30', '2025-02-28 00:00:00'],
        ...['1875-01-01', '2025-01-01 10:15:00', '007', 'AP8=', null, null],
      ],
    ])
  })

  test.each<[string, string, RegExp]>([
    ['more rows than a sheet', 'select i from n limit 1048576', /1,048,576 rows.*\.csv/s],
    ['more cells than memory', 'select i, i, i, i, i from n limit 450000', /2,000,000 cells.*\.csv/s],
    [
      'more characters than memory',
      'select hex(zeroblob(15000)) || i as body from n limit 2000',
      /50,000,000 characters.*\.csv/s,
    ],
    ['a longer text than a cell', "select hex(zeroblob(16384)) || 'x' as body", /body.*32,767 characters/s],
  ])('a workbook that would need %s is refused', async (_, sql, message) => {
    const n = 'with recursive n(i) as (select 1 union all select i + 1 from n)'
    const done = await run('export', '--sql', `${n} ${sql}`, '--output', 'large.xlsx')
    expect(done).toMatchObject({ code: 2, err: expect.stringMatching(message) })
    expect(readdirSync(dir).filter((name) => name.includes('large'))).toEqual([])
  })

  test('sheet names follow the rules of Excel', () => {
    expect(sheetNames(["'a/b'", 'A:B', 'History', '', 'x'.repeat(40), `${'x'.repeat(39)}y`, "'"])).toEqual([
      'a b',
      'A B (2)',
      'History (2)',
      'sheet',
      'x'.repeat(31),
      `${'x'.repeat(27)} (2)`,
      'sheet (2)',
    ])
  })
})

describe('the extension of --output', () => {
  const rows = ['export', '--indicator', '600', '--quiet']
  /** First bytes of a file of each format. */
  const BEGINS = {
    csv: 'series_id,kind,',
    tsv: 'series_id\tkind\t',
    ndjson: '{"series_id":',
    parquet: 'PAR1',
    xlsx: 'PK',
  }

  test.each(Object.entries(BEGINS))('a .%s file gets that format without --format', async (form, begin) => {
    for (const file of [`named.${form}`, `NAMED.${form.toUpperCase()}`]) {
      expect(await run(...rows, '--output', file)).toMatchObject({ code: 0, err: '' })
      expect(readFileSync(join(dir, file), 'latin1').slice(0, begin.length)).toBe(begin)
    }
    expect((await run(...rows, '--output', `again.${form}`, '--format', form)).code).toBe(0)
  })

  test('a query is written in the format of the file extension', async () => {
    expect((await run('export', '--sql', 'select 1 as a', '--output', 'one.ndjson')).code).toBe(0)
    expect(readFileSync(join(dir, 'one.ndjson'), 'utf8')).toBe('{"a":1}\n')
  })

  test.each(['xls', 'json', 'gz', 'csv.gz', 'txt', 'db'])(
    '.%s is refused with the legal extensions',
    async (extension) => {
      for (const more of [[], ['--format', 'csv']]) {
        const done = await run(...rows, '--output', `bad.${extension}`, ...more)
        expect(done).toMatchObject({ code: 2, err: expect.stringContaining(`bad.${extension}`) })
        expect(done.err).toContain('.csv, .tsv, .ndjson, .parquet, .xlsx')
      }
      expect(readdirSync(dir)).not.toContain(`bad.${extension}`)
    },
  )

  test.each([
    ['parquet', 'csv'],
    ['csv', 'parquet'],
    ['ndjson', 'tsv'],
  ])('a .%s file with --format %s is refused', async (extension, form) => {
    const done = await run(...rows, '--output', `both.${extension}`, '--format', form)
    expect(done).toMatchObject({ code: 2, err: expect.stringContaining(`--format ${form}`) })
    expect(readdirSync(dir)).not.toContain(`both.${extension}`)
  })

  test('a file name without an extension gets the format of --format, or CSV', async () => {
    expect((await run(...rows, '--output', 'bare')).code).toBe(0)
    expect(readFileSync(join(dir, 'bare'), 'utf8')).toMatch(/^series_id,/)
    expect((await run(...rows, '--output', '.hidden', '--format', 'tsv')).code).toBe(0)
    expect(readFileSync(join(dir, '.hidden'), 'utf8')).toMatch(/^series_id\t/)
    expect((await run(...rows, '--output', './-', '--format', 'ndjson')).code).toBe(0)
    expect((await run(...rows)).out).toMatch(/^series_id,/)
  })

  test('--excel is refused with a file that is not CSV', async () => {
    const done = await run(...rows, '--excel', '--output', 'sheet.parquet')
    expect(done).toMatchObject({ code: 2, err: expect.stringContaining('--excel') })
  })
})

test('duplicate names get a suffix that no other name has', () => {
  expect(uniqueNames(['a', 'a', 'a_2', 'a', 'b'])).toEqual(['a', 'a_3', 'a_2', 'a_4', 'b'])
})

test('only the table format is truncated, with a warning', async () => {
  const sql = 'with recursive n(i) as (select 1 union all select i + 1 from n where i < 1500) select i from n'
  for (const form of ['csv', 'tsv', 'ndjson']) {
    const done = await run('query', sql, '--format', form)
    expect(done.out.trim().split('\n').length).toBeGreaterThanOrEqual(1500)
    expect(done.err).toBe('')
  }
  expect(JSON.parse((await run('query', sql, '--json')).out)).toHaveLength(1500)
  const cut = await run('query', sql)
  expect(cut.out.trim().split('\n')).toHaveLength(1002)
  expect(cut.err).toMatch(/first 1000 rows/)
  expect((await run('query', sql, '--format', 'csv', '--limit', '2')).out).toBe('i\n1\n2\n')
})

test('export writes a whole file or none, for current and for past states', async () => {
  const emulator = await emulate()
  const dir = jobFolder()
  await runCommand(dir, ['sync', 'job.yaml'], serviceAt(emulator.url, emulator.key))
  const more = ['export', '--indicator', '1739', '--from', '2025-01-01', '--to', '2025-01-03']
  const { err } = await runCommand(dir, [...more, '--output', 'a.csv'])
  expect(err).toBe('48 rows in a.csv.\n')
  const lines = readFileSync(join(dir, 'a.csv'), 'utf8').trim().split('\n')
  expect(lines).toHaveLength(49)
  expect(lines[1]).toMatch(/^\d+,indicator,1739,.*,3,España,2024-12-31T23:00:00Z,2025-01-01T00:00:00\+01:00,3600,/)
  const ndjson = await runCommand(dir, [...more, '--format', 'ndjson', '--geo', '3'])
  expect(
    ndjson.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).step_s),
  ).toHaveLength(48)
  expect((await runCommand(dir, [...more, '--as-of', '2020-01-01', '--quiet'])).out.trim().split('\n')).toHaveLength(1)
  expect((await runCommand(dir, [...more, '--as-of', '+1d', '--quiet'])).out.trim().split('\n')).toHaveLength(49)
  expect((await runCommand(dir, [...more, '--output', 'none/a.csv'])).code).toBe(2)
  expect(readdirSync(dir).filter((name) => name.includes('part'))).toEqual([])
})
