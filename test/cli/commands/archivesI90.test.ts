import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runSource } from '../../support/command.ts'
import {
  clockHours,
  coverOf,
  hourQuarters,
  makeWorkbook,
  numbers,
  restrictions,
  UNIT,
  zipOf,
} from '../../support/i90Workbooks.ts'
import { emulate, runCommand, runJob, tempFolder, tempStore } from '../../support/kit.ts'

/** When the workbooks of October are published. */
const NOW = Date.parse('2026-02-04T12:00:00Z')
const DAYS = 'archives: [{ window: { from: 2025-10-26, to: 2025-10-28 } }]'

/** Creates a database with listed archives and a downloaded file of the first edition of I90DIA. */
async function storeWith(bytes: Uint8Array) {
  const store = await tempStore()
  await runJob(store, await emulate({ now: NOW / 1000 }), DAYS, { now: NOW })
  const folder = tempFolder()
  /** Replaces the file, as a download does. */
  const put = async (name: string, content: Uint8Array, date = '2025-10-26') => {
    const path = `${name} ${date}`
    writeFileSync(join(folder, path), content)
    const edition = store.kysely.selectFrom('archive_publications').select('url').where('name', '=', name)
    const { url } = await edition.where('date', '=', date).executeTakeFirstOrThrow()
    const sha256 = createHash('sha256').update(content).digest('hex')
    const row = { url: url!, path, sha256, bytes: content.length, fetched_at: '2025-11-04T12:00:00.000Z' }
    const insert = store.kysely.insertInto('archive_file').values(row)
    await insert.onConflict((conflict) => conflict.column('url').doUpdateSet(row)).execute()
  }
  await put('I90DIA', bytes)
  const run = (...args: string[]) => runCommand(tempFolder(), [...args, '--database', store.address])
  const load = async (...args: string[]) => {
    const { code, out } = await run('archives', 'load', '--output', folder, '--json', ...args)
    return { code, ...JSON.parse(out) }
  }
  const rows = async (sql: string) => JSON.parse((await run('query', sql, '--format', 'json')).out)
  const printed = () => run('archives', 'load', '--output', folder)
  return { put, run, load, rows, printed, folder, address: store.address }
}

/** A day of 25 hours with hours, quarter-hours, prices of two measures, and a sheet without periods. */
const AUTUMN = {
  I90DIA00: coverOf('26/10/2025', '24/01/2026'),
  I90DIA02: [
    [null],
    ['P48'],
    [null],
    [UNIT, 'Tipo', 'Cuarto de Hora del dia', 'Total', ...hourQuarters(25)],
    ['UP1', 'x', null, 1, ...numbers(100)],
  ],
  I90DIA03: restrictions(clockHours([0, 1, 2, 2, ...numbers(21).map((n) => n + 2)])),
  I90DIA30: [
    [null],
    [null],
    ['Sentido', 'Hora', ...numbers(25).flatMap((n) => [n, null])],
    [null, null, ...numbers(25).flatMap(() => ['MW', '€/MWh'])],
    ['Bajar', null, ...numbers(25).flatMap((n) => [n === 3 ? null : n, n === 4 ? null : n / 10])],
  ],
  I90DIA99: [['Sin datos']],
}
const FILE = 'I90DIA_20251026.xls'
const zipped = (sheets: Parameters<typeof makeWorkbook>[0]) => zipOf({ [FILE]: makeWorkbook(sheets) })

test('archives load reads the sheets of an I90 workbook, names those that it does not understand, and keeps them', async () => {
  const { load, rows, printed, run } = await storeWith(zipped(AUTUMN))
  const first = await printed()
  expect(first).toMatchObject({ code: 0, err: '' })
  // Five rows with values, for each measure, and twelve others.
  expect(first.out).toMatch(
    /^Loaded 17 rows of 1 file; 0 editions already loaded\.\n1 sheet not understood, whose cells are in archive_row:\n- I90DIA \d{4}-\d\d-\d\d: I90DIA_20251026\.xls, sheet I90DIA99: none of its first 6 rows names periods\n/,
  )
  expect(await load()).toMatchObject({ code: 0, rows: 0, stored: 1, sheets: [] })

  const select = 'select sheet, unit, direction, at_utc, period, step_s, measure, value from'
  expect(await rows(`${select} archive_i90_02 where period in (1, 100) order by period`)).toEqual([
    {
      sheet: '02',
      unit: 'UP1',
      direction: null,
      at_utc: '2025-10-25T22:00:00Z',
      period: 1,
      step_s: 900,
      measure: null,
      value: 1,
    },
    {
      sheet: '02',
      unit: 'UP1',
      direction: null,
      at_utc: '2025-10-26T22:45:00Z',
      period: 100,
      step_s: 900,
      measure: null,
      value: 100,
    },
  ])
  // The hour from two to three occurs twice.
  expect(
    await rows(`${select} archive_i90_03 where unit = 'UP2' and period in (3, 4, 25) order by period`),
  ).toMatchObject([
    { direction: 'Bajar', at_utc: '2025-10-26T00:00:00Z', step_s: 3600, value: 203 },
    { direction: 'Bajar', at_utc: '2025-10-26T01:00:00Z', step_s: 3600, value: 204 },
    { direction: 'Bajar', at_utc: '2025-10-26T22:00:00Z', step_s: 3600, value: 225 },
  ])
  expect(
    await rows(
      "select redispatch, offer_type, labels, local_date from archive_i90_03 where unit = 'UP1' and period = 1",
    ),
  ).toEqual([
    {
      redispatch: 'RTD',
      offer_type: '1',
      labels: '{"Redespacho":"RTD","Tipo":"x","Sentido":"Subir","Tipo Oferta":1,"Total":1}',
      local_date: '2025-10-26',
    },
  ])
  // Empty cells have no row.
  expect(
    await rows('select period, measure, value from archive_i90_30 where period in (3, 4) order by period'),
  ).toEqual([
    { period: 3, measure: '€/MWh', value: 0.3 },
    { period: 4, measure: 'MW', value: 4 },
  ])
  expect(await rows('select sheet, count(*) as n from archive_i90 group by sheet order by sheet')).toEqual([
    { sheet: '02', n: 100 },
    { sheet: '03', n: 50 },
    { sheet: '30', n: 48 },
  ])
  expect(
    await rows(
      "select file, line, columns from archive_row where layout = 'i90_other' and line < 5 and file like '%9'",
    ),
  ).toEqual([{ file: `${FILE}/I90DIA99`, line: 1, columns: '{"A":"Sin datos"}' }])

  // The rows survive a replay.
  const into = join(tempFolder(), 'again.db')
  expect((await run('replay', '--output', into)).code).toBe(0)
  const again = await runCommand(tempFolder(), [
    'query',
    'select count(*) from archive_i90',
    '--format',
    'csv',
    '--database',
    into,
  ])
  expect(again.out).toMatch(/\n198\n$/)
})

test('a newer I90 workbook replaces the rows of its edition, a broken one does not', async () => {
  const { put, load, rows } = await storeWith(zipped(AUTUMN))
  await load()
  expect(await load('--refresh')).toMatchObject({ code: 0, rows: 17 })
  const counts = 'select count(*) as n, count(distinct sheet) as sheets from archive_i90'
  expect(await rows(counts)).toEqual([{ n: 198, sheets: 3 }])
  await put('I90DIA', zipped({ I90DIA03: AUTUMN.I90DIA03 }))
  expect(await load()).toMatchObject({ code: 0, files: 1, sheets: [] })
  expect(await rows(counts)).toEqual([{ n: 50, sheets: 1 }])
  // A damaged ZIP changes nothing. It is named by every load.
  await put('I90DIA', zipped(AUTUMN).slice(0, 500))
  for (let i = 0; i < 2; i++) expect(await load()).toMatchObject({ code: 1, rows: 0, failed: [{ line: null }] })
  expect(await rows(counts)).toEqual([{ n: 50, sheets: 1 }])
})

test('a text in place of a number is named by every load, its sheet is kept, and the others are loaded', async () => {
  const [, , header, row] = restrictions(numbers(25))
  const { load, rows, printed } = await storeWith(
    zipped({ I90DIA03: AUTUMN.I90DIA03, I90DIA08: [header!, row!.map((cell) => (cell === 103 ? 'n/a' : cell))] }),
  )
  for (let i = 0; i < 2; i++)
    expect(await load()).toMatchObject({
      code: 1,
      files: 1,
      failed: [
        {
          file: expect.stringMatching(/I90DIA_20251026\.xls, sheet I90DIA08$/),
          line: 2,
          reason: 'column J has "n/a" instead of a number',
        },
      ],
    })
  expect((await printed()).out).toMatch(/Cannot load 1 file:\n- I90DIA .*, sheet I90DIA08, line 2: column J has/)
  expect(await rows('select distinct sheet from archive_i90')).toEqual([{ sheet: '03' }])
  expect(await rows("select line from archive_row where file like '%/I90DIA08'")).toEqual([{ line: 1 }, { line: 2 }])
})

test('a workbook of another day than its edition is named with both days and not loaded', async () => {
  const { put, load, rows } = await storeWith(zipped(AUTUMN))
  await put('I90DIA', zipped(AUTUMN), '2025-10-27')
  for (let i = 0; i < 2; i++)
    expect(await load()).toMatchObject({
      code: 1,
      rows: i === 0 ? 17 : 0,
      stored: i,
      sheets: i === 0 ? [expect.stringContaining('I90DIA99')] : [],
      failed: [
        {
          file: `I90DIA 2025-10-27: ${FILE}`,
          line: null,
          reason: 'it is of 2025-10-26, but the edition is of 2025-10-27',
        },
      ],
    })
  expect(await rows('select date, count(*) as n from archive_i90_row group by date')).toEqual([
    { date: '2025-10-26', n: 5 },
  ])
  expect(await rows('select distinct date from archive_row')).toEqual([{ date: '2025-10-26' }])
  expect(await rows("select count(*) as n from archive_i90_03 where unit = 'UP1'")).toEqual([{ n: 25 }])
})

test('of two workbooks of one day, the first is loaded and the other is named', async () => {
  const files = { [FILE]: makeWorkbook(AUTUMN), [`${FILE}x`]: makeWorkbook(AUTUMN, 'xlsx') }
  const { load, rows } = await storeWith(zipOf(files))
  expect(await load()).toMatchObject({
    code: 1,
    rows: 17,
    failed: [{ file: `I90DIA 2025-10-26: ${FILE}x`, line: null, reason: `${FILE} is of the same day` }],
  })
  expect(await rows("select count(*) as n from archive_i90_03 where unit = 'UP1'")).toEqual([{ n: 25 }])
})

/** A module that hides the optional package from a process. */
const HIDE_PACKAGE = `data:text/javascript,${encodeURIComponent(`
  import Module from 'node:module'
  const resolve = Module._resolveFilename
  Module._resolveFilename = (name, ...more) => {
    if (name !== '@e965/xlsx') return resolve.call(Module, name, ...more)
    throw Object.assign(new Error('Cannot find module'), { code: 'MODULE_NOT_FOUND' })
  }`)}`

test('without the optional package, an I90 workbook is named with the command that installs it, and other files load', async () => {
  const { put, load, rows, folder, address } = await storeWith(zipped(AUTUMN))
  await put('C2_liquicomun', zipOf({ C2_a_20240201_20240229: 'x;\n2024;11;09;12;10;17;\n29/02/2024;1;0.5;\n' }))
  const { code, out } = await runSource(
    tempFolder(),
    ['archives', 'load', '--output', folder, '--json', '--database', address],
    { NODE_OPTIONS: `--import=${HIDE_PACKAGE}` },
  )
  expect(code).toBe(1)
  expect(JSON.parse(out)).toMatchObject({
    rows: 1,
    files: 1,
    failed: [
      {
        file: expect.stringMatching(/^I90DIA \S+: I90DIA_20251026\.xls$/),
        reason: 'workbooks need the package @e965/xlsx; install it: npm install @e965/xlsx',
      },
    ],
  })
  expect(await rows('select concept from archive_settlement')).toEqual([{ concept: 'a' }])
  // It is loaded once the package is there.
  expect(await load()).toMatchObject({ code: 0, rows: 17, stored: 1 })
})
