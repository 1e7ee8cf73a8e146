import * as xlsx from '@e965/xlsx'
import { describe, expect, test } from 'vitest'
import { type ArchiveFile, readArchive } from '../../src/transform/readArchive.ts'
import {
  clockHours,
  coverOf,
  hourQuarters,
  makeChangedXlsx,
  makeFullWorkbook,
  makeWorkbook,
  numbers,
  restrictions,
  UNIT,
  zipOf,
  zipOfCopies,
} from '../support/i90Workbooks.ts'

type Cell = string | number | null

async function read(bytes: Uint8Array, name = 'I90DIA'): Promise<ArchiveFile[]> {
  const files: ArchiveFile[] = []
  for await (const file of readArchive(name, Buffer.from(bytes), 'Europe/Madrid')) files.push(file)
  return files
}

const NAMES = { normal: '20250703', spring: '20250330', autumn: '20251026' }
const STARTS = { normal: '2025-07-02T22:00:00Z', spring: '2025-03-29T23:00:00Z', autumn: '2025-10-25T22:00:00Z' }
type Day = keyof typeof NAMES

/** Reads a sheet of a workbook of a day. */
async function readSheet(cells: readonly (readonly Cell[])[], day: Day = 'normal', sheet = 'I90DIA03') {
  const book = makeWorkbook({ [sheet]: cells })
  const [file] = await read(zipOf({ [`I90DIA_${NAMES[day]}.xls`]: book }))
  const { rows, i90Rows = [], misfit, fault } = file!
  const values = i90Rows.map(({ measure, period_values: list }) => [measure, JSON.parse(list) as Cell[]] as const)
  return { rows, i90Rows, misfit, fault, values, stepS: i90Rows[0]?.step_s }
}

/** A sheet of one unit with a header, and a value that increases by one in every column of the periods. */
const sheetOf = (header: readonly Cell[], count = header.length, above = 2): readonly (readonly Cell[])[] => [
  ...numbers(above).map((i) => [i === 1 ? 'I90DIA' : null]),
  [UNIT, 'Sentido', 'Hora', 'Total', ...header],
  ['UP1', 'Subir', null, 7, ...numbers(count)],
]
const one = (cells: readonly Cell[]) => [['', [...cells]]]
const quarterGaps = (hours: number): Cell[] => numbers(hours).flatMap((hour) => [hour, null, null, null])
const mixedQuarters = (hours: number): Cell[] =>
  numbers(hours).flatMap((hour) => [`${hour}`, `${hour}-2`, `${hour}-3`, `${hour}-4`])

describe('the periods of a header', () => {
  test.each<[form: string, header: (hours: number) => Cell[], stepS: number]>([
    ['hours as numbers', numbers, 3600],
    ['hours as texts', (hours) => numbers(hours).map(String), 3600],
    ['quarter-hours as numbers', (hours) => numbers(4 * hours), 900],
    ['hours with their quarters', hourQuarters, 900],
    ['hours with their later quarters', mixedQuarters, 900],
    ['hours with three empty cells', quarterGaps, 900],
  ])('periods of %s are read on days of 23, 24 and 25 hours', async (_form, header, stepS) => {
    for (const [day, hours] of [
      ['normal', 24],
      ['spring', 23],
      ['autumn', 25],
    ] as const) {
      const count = (hours * 3600) / stepS
      const read = await readSheet(sheetOf(header(hours), count), day)
      expect(read).toMatchObject({ stepS, misfit: undefined, fault: undefined })
      expect(read.values).toEqual(one(numbers(count)))
      expect(read.i90Rows[0]!.at).toBe(Date.parse(STARTS[day]) / 1000)
    }
  })

  test('hours of the clock are read on days of 23, 24 and 25 hours', async () => {
    expect((await readSheet(sheetOf(clockHours()))).values).toEqual(one(numbers(24)))
    const spring = clockHours([0, 1, ...numbers(21).map((n) => n + 2)])
    expect((await readSheet(sheetOf(spring), 'spring')).values).toEqual(one(numbers(23)))
    const autumn = clockHours([0, 1, 2, 2, ...numbers(21).map((n) => n + 2)])
    expect((await readSheet(sheetOf(autumn), 'autumn')).values).toEqual(one(numbers(25)))
  })

  test('periods that the day lacks are left out if they have no values', async () => {
    // The hour that the clock skips, of a sheet that always has 24.
    const skipped: Cell[] = numbers(24).map((n) => (n === 3 ? null : n))
    const [head, blank, header, row] = sheetOf(clockHours()) as [Cell[], Cell[], Cell[], Cell[]]
    const spring = await readSheet([head, blank, header, [...row.slice(0, 4), ...skipped]], 'spring')
    expect(spring.values).toEqual(one(skipped.filter((cell) => cell !== null)))
    // The hour 25 of a sheet that always has 25.
    expect((await readSheet(sheetOf(numbers(25), 24))).values).toEqual(one(numbers(24)))
    expect((await readSheet(sheetOf(numbers(100), 96))).values).toEqual(one(numbers(96)))
  })

  test('periods of a part of the day are where their names say', async () => {
    const nulls = (count: number) => Array.from({ length: count }, () => null)
    const clock = await readSheet(sheetOf(clockHours([12, 13])))
    expect(clock).toMatchObject({ stepS: 3600, values: [['', [...nulls(12), 1, 2, ...nulls(10)]]] })
    const quarters = await readSheet(sheetOf(['2-3', '2-4', '3-1']))
    expect(quarters).toMatchObject({ stepS: 900, values: [['', [...nulls(6), 1, 2, 3, ...nulls(87)]]] })
  })

  test.each([0, 1, 2, 3])('periods are found in a header after %d rows', async (above) => {
    const { i90Rows, rows, misfit } = await readSheet(sheetOf(numbers(96), 96, above))
    expect(misfit).toBeUndefined()
    expect(i90Rows).toMatchObject([{ line: above + 2, unit: 'UP1', labels: '{"Sentido":"Subir","Total":7}' }])
    expect(rows!.at(-1)).toMatchObject({ line: above + 1, layout: 'i90_other' })
  })
})

describe('two rows of a header', () => {
  const measured = (periods: readonly Cell[], measures: readonly string[], each: number) => [
    ['I90DIA10'],
    [null],
    ['Redespacho', UNIT, 'Sentido', 'Hora', 'Total', null, ...periods],
    [null, null, null, null, ...measures.slice(0, 2), ...numbers(each).flatMap(() => measures)],
    ['RTR', 'UP1', 'Bajar', null, 5, 6, ...numbers(each * measures.length)],
  ]
  const odd = numbers(24).map((n) => 2 * n - 1)

  test('measures are read below hours whose other cells are empty', async () => {
    const cells = measured(
      numbers(24).flatMap((n) => [n, null]),
      ['MW', '€/MWh'],
      24,
    )
    const { values, i90Rows, stepS } = await readSheet(cells, 'normal', 'I90DIA10')
    expect([stepS, values]).toEqual([
      3600,
      [
        ['MW', odd],
        ['€/MWh', odd.map((n) => n + 1)],
      ],
    ])
    expect(i90Rows[0]).toMatchObject({ sheet: '10', line: 5, unit: 'UP1' })
    expect(JSON.parse(i90Rows[0]!.labels)).toEqual({
      Redespacho: 'RTR',
      Sentido: 'Bajar',
      'Total MW': 5,
      'Total €/MWh': 6,
    })
  })

  test('measures are read below hours that are repeated', async () => {
    const cells = measured(
      clockHours().flatMap((hour) => [hour, hour]),
      ['Energía', 'Precio'],
      24,
    )
    expect((await readSheet(cells)).values).toEqual([
      ['Energía', odd],
      ['Precio', odd.map((n) => n + 1)],
    ])
  })

  test('measures are read below each quarter-hour', async () => {
    const quarters = numbers(96).flatMap((n) => [n, null])
    const { stepS, values } = await readSheet(measured(quarters, ['MW', '€/MWh'], 96))
    expect(stepS).toBe(900)
    expect(values.map(([measure, list]) => [measure, list.length, list[95]])).toEqual([
      ['MW', 96, 191],
      ['€/MWh', 96, 192],
    ])
  })

  test('measures are read below hours with three empty quarters', async () => {
    const gaps = numbers(24).flatMap((n) => [n, ...numbers(7).map(() => null)])
    const { stepS, values } = await readSheet(measured(gaps, ['MW', '€/MWh'], 96))
    expect(stepS).toBe(900)
    expect(values[1]![1].slice(0, 3)).toEqual([2, 4, 6])
  })

  test('names of labels are read in the lower row of a header', async () => {
    const { i90Rows, values } = await readSheet([
      ['I90DIA30'],
      [null],
      [null, null, null, ...numbers(24).flatMap((n) => [n, null])],
      [UNIT, 'Sentido', 'Hora', ...numbers(24).flatMap(() => ['MW', '€/MWh'])],
      ['UP1', 'Subir', null, ...numbers(48)],
    ])
    expect(i90Rows[0]).toMatchObject({ unit: 'UP1', labels: '{"Sentido":"Subir"}' })
    expect(values[0]![1]).toEqual(odd)
    const plain = await readSheet([
      [null, null, ...numbers(24)],
      [UNIT, 'Sentido'],
      ['UP1', 'Subir', ...numbers(24)],
    ])
    expect(plain.i90Rows).toMatchObject([{ unit: 'UP1', labels: '{"Sentido":"Subir"}' }])
  })
})

describe('the cells of a sheet', () => {
  test('all cells are kept: values, labels by name, and rows without values as received', async () => {
    const { i90Rows, rows } = await readSheet([
      ['I90DIA03', null, 'Fecha'],
      [null],
      ['SENTIDO', 'Tipo  oferta', 'Tipo', 'Tipo', null, UNIT, ...numbers(24)],
      ['Subir', 1, 'a', 'b', 'c', 'UP1', 1.5, null, 0, ...numbers(20).map(() => null), '-2,5'],
      ['Bajar', 2, null, null, null, 'UP2'],
      ['Nota: provisional'],
    ])
    expect(i90Rows).toHaveLength(1)
    expect(JSON.parse(i90Rows[0]!.labels)).toEqual({
      Sentido: 'Subir',
      'Tipo Oferta': 1,
      Tipo: 'a',
      'Tipo (D)': 'b',
      E: 'c',
    })
    expect(JSON.parse(i90Rows[0]!.period_values)).toEqual([1.5, null, 0, ...numbers(20).map(() => null), -2.5])
    expect(rows!.map(({ file, line, columns }) => [file, line, line === 3 ? null : JSON.parse(columns)])).toEqual([
      ['I90DIA_20250703.xls/I90DIA03', 1, { A: 'I90DIA03', C: 'Fecha' }],
      ['I90DIA_20250703.xls/I90DIA03', 3, null],
      ['I90DIA_20250703.xls/I90DIA03', 5, { A: 'Bajar', B: 2, F: 'UP2' }],
      ['I90DIA_20250703.xls/I90DIA03', 6, { A: 'Nota: provisional' }],
    ])
  })

  test('values have no unit or direction if the sheet has none', async () => {
    const cells = [['I90DIA11'], [null], ['Sesión', 'Hora', ...numbers(24)], [2, null, ...numbers(24)]]
    expect((await readSheet(cells, 'normal', 'I90DIA11')).i90Rows).toMatchObject([
      { unit: null, labels: '{"Sesión":2}' },
    ])
  })

  test('cells are kept without characters that a database refuses', async () => {
    const { i90Rows } = await readSheet([
      [UNIT, 'Sentido', ...numbers(24)],
      ['U\0P', 'a\ud800', ...numbers(24)],
    ])
    expect(i90Rows).toMatchObject([{ unit: 'UP', labels: '{"Sentido":"a\ufffd"}' }])
  })
})

describe('a row of texts below the header', () => {
  const blanks = numbers(24).map(() => 'N/D')

  test('the row below a header is a unit without numbers if it names one, and its sheet is named and kept', async () => {
    const [head, blank, header, first, second] = restrictions(clockHours()) as Cell[][]
    const { fault, i90Rows, rows } = await readSheet([
      head!,
      blank!,
      header!,
      [...first!.slice(0, 7), ...blanks],
      second!,
    ])
    expect(fault).toEqual({ line: 4, reason: 'column H has "N/D" instead of a number' })
    expect([i90Rows, rows!.length]).toEqual([[], 4])
  })

  test('the row below a header is a direction without prices if the sheet has no units', async () => {
    const { fault, i90Rows } = await readSheet([
      ['Sentido', 'Hora', ...numbers(24)],
      ['Bajar', null, ...blanks],
      ['Subir', null, ...numbers(24)],
    ])
    expect(fault).toEqual({ line: 2, reason: 'column C has "N/D" instead of a number' })
    expect(i90Rows).toEqual([])
  })

  test('the row below a header has measures if it has no other cells than those of periods and totals', async () => {
    const { values } = await readSheet([
      [UNIT, 'Total', ...numbers(24)],
      [null, 'MWh', ...numbers(24).map(() => 'MWh')],
      ['UP1', 300, ...numbers(24)],
    ])
    expect(values).toEqual([['MWh', numbers(24)]])
  })
})

describe('a sheet that is not understood', () => {
  const wide = (header: readonly Cell[], day: Day = 'normal') => readSheet(sheetOf(header), day)
  test.each<[what: string, header: Cell[], day: Day, reason: RegExp]>([
    ['without periods', ['a', 'b'], 'normal', /^none of its first 6 rows names periods$/],
    ['with disordered hours', ['01-02', '00-01'], 'normal', /^period 1 is out of order$/],
    [
      'with disordered numbers',
      [2, 1, ...numbers(24).slice(2)],
      'normal',
      /^its periods are not numbered from 1 on: 2$/,
    ],
    ['with a part of the hours', numbers(12), 'normal', /^it has 12 of 24 periods$/],
    ['with a part of the quarter-hours', numbers(50), 'normal', /^it has 50 of 96 periods$/],
    ['with irregular gaps', ['00-01', null, '01-02', '02-03', null], 'normal', /different numbers of columns/],
    ['with two columns for each hour', ['00-01', null, '01-02', null], 'normal', /^each of its periods has 2 columns$/],
    ['with unknown quarters', ['1-1', '1-5'], 'normal', /^01-05 is neither an hour nor a quarter-hour$/],
    ['with more periods than the day', numbers(25), 'normal', /^it has a period 25, but the day has 24$/],
    ['with more periods than a short day', numbers(24), 'spring', /^it has 24 periods, but the day has 23$/],
    ['with fewer periods than a long day', clockHours(), 'autumn', /^it has 24 of 25 periods$/],
    ['with disordered hours of a long day', clockHours([5, 1]), 'autumn', /^period 2 is out of order$/],
    ['with gaps between quarter-hours', quarterGaps(40), 'normal', /several columns each/],
  ])('a sheet %s is named and kept', async (_what, header, day, reason) => {
    const { misfit, i90Rows, rows } = await wide(header, day)
    expect(misfit).toMatch(reason)
    expect(i90Rows).toEqual([])
    expect(rows!.map(({ line }) => line)).toEqual([1, 3, 4])
    expect(JSON.parse(rows![2]!.columns)).toMatchObject({ A: 'UP1', B: 'Subir', D: 7, E: 1 })
  })

  test('a sheet with another name than I90DIA and two digits is not understood', async () => {
    const { misfit, rows } = await readSheet(sheetOf(numbers(24)), 'normal', 'Hoja1')
    expect([misfit, rows!.length]).toEqual(['its name is not I90DIA and two digits', 3])
  })

  test('a sheet with a measure or unit that no index can store is named and kept', async () => {
    const long = 'x'.repeat(201)
    const measured = [
      [UNIT, ...numbers(24)],
      [null, ...numbers(24).map(() => long)],
      ['UP1', ...numbers(24)],
    ]
    expect(await readSheet(measured)).toMatchObject({ misfit: 'its measures are too long', i90Rows: [] })
    const unit = [
      [UNIT, ...numbers(24)],
      [long, ...numbers(24)],
    ]
    const fault = { line: 2, reason: 'its unit has more than 200 characters' }
    expect(await readSheet(unit)).toMatchObject({ fault, i90Rows: [], rows: [{ line: 1 }, { line: 2 }] })
  })

  test('a sheet with labels too long to store with each row is named and kept', async () => {
    const [head, blank, header, row] = sheetOf(clockHours())
    const { misfit, i90Rows } = await readSheet([
      head!,
      blank!,
      [...numbers(4).map((i) => `${i}`.repeat(255)), ...header!.slice(4)],
      row!,
    ])
    expect([misfit, i90Rows]).toEqual(['the names of its labels are too long', []])
  })

  test('a sheet with measures that differ is named and kept', async () => {
    const two = numbers(24).flatMap((n) => [n, null])
    const measures: string[] = two.map((_, i) => (i % 2 === 0 ? 'MW' : '€'))
    measures[3] = 'x'
    const cells = [
      [UNIT, ...two],
      [null, ...measures],
      ['UP1', ...two],
    ]
    expect(await readSheet(cells)).toMatchObject({ misfit: 'its periods have different measures', i90Rows: [] })
  })

  test('a sheet with a text in place of a number is named with its cell and kept', async () => {
    const cells = sheetOf(numbers(24)).map((row) => row.map((cell) => (cell === 5 ? 'n/a' : cell)))
    const { fault, i90Rows, rows } = await readSheet([...cells.slice(0, 2), sheetOf(numbers(24))[2]!, cells[3]!])
    expect(fault).toEqual({ line: 4, reason: 'column I has "n/a" instead of a number' })
    expect([i90Rows, rows!.length]).toEqual([[], 3])
  })

  test('a sheet with a number larger than any number is named with its cell and kept', async () => {
    const cells = sheetOf(clockHours()).with(3, ['UP1', 'x', null, 7, 1, '9'.repeat(400), ...numbers(22)])
    const [file] = await read(zipOf({ 'I90DIA_20250703.xlsx': makeWorkbook({ I90DIA03: cells }, 'xlsx') }))
    expect(file!.fault).toEqual({
      line: 4,
      reason: expect.stringMatching(/^column F has "9{20,}…? instead of a number$/),
    })
    expect([file!.i90Rows, file!.rows!.length]).toEqual([[], 3])
  })
})

describe('a workbook', () => {
  const book = (date = '03/07/2025', bookType?: 'xlsx') =>
    makeWorkbook({ I90DIA00: coverOf(date, '01/10/2025'), I90DIA03: restrictions(numbers(24)) }, bookType)
  const summary = (files: readonly ArchiveFile[]) =>
    files.map(({ file, sheet, i90Rows, fault, misfit }) => [
      file,
      sheet ?? null,
      i90Rows?.[0]?.local_date ?? null,
      fault?.reason ?? misfit ?? null,
    ])
  const sheets = (file: string, date = '2025-07-03') => [
    [file, 'I90DIA00', null, null],
    [file, 'I90DIA03', date, null],
  ]

  test.each(['biff8', 'xlsx'] as const)(
    'a workbook is read as %s in a ZIP, in a ZIP of days, and without a ZIP',
    async (type) => {
      const file = type === 'xlsx' ? 'I90DIA_20250703.xlsx' : 'I90DIA_20250703.xls'
      const bytes = book('03/07/2025', type === 'xlsx' ? type : undefined)
      expect(summary(await read(zipOf({ [file]: bytes })))).toEqual(sheets(file))
      const days = zipOf({
        'I90DIA_20250703.zip': zipOf({ [file]: bytes, 'readme.txt': 'x' }),
        'I90DIA_20250704.zip': zipOf({ 'I90DIA_20250704.xls': book('04/07/2025') }),
      })
      expect(summary(await read(days))).toEqual([
        ...sheets(file),
        ['I90DIA_20250703.zip/readme.txt', null, null, null],
        ...sheets('I90DIA_20250704.xls', '2025-07-04'),
      ])
      // Its day is on the cover.
      expect(summary(await read(bytes))).toEqual(sheets('I90DIA'))
    },
  )

  test('a workbook has its day in its name, and another one on the cover is named', async () => {
    expect(summary(await read(zipOf({ 'I90DIA_20250703.xls': book('2025-07-04') })))).toEqual([
      [
        'I90DIA_20250703.xls',
        'I90DIA00',
        null,
        'its date is 2025-07-04, but the file is of 2025-07-03, which was taken',
      ],
      ['I90DIA_20250703.xls', 'I90DIA03', '2025-07-03', null],
    ])
    const number = makeWorkbook({
      I90DIA00: [[null], [null], [null], [null], [null], [45_841, null, 45_931]],
      I90DIA03: restrictions(numbers(24)),
    })
    expect(summary(await read(number))).toEqual(sheets('I90DIA'))
    const none = makeWorkbook({ I90DIA03: restrictions(numbers(24)) })
    expect(summary(await read(none))).toEqual([
      ['I90DIA', null, null, 'neither its name nor its cover has the date of its data'],
    ])
  })

  test.each<[what: string, bytes: Uint8Array, reason: RegExp]>([
    ['has other contents', Buffer.from('1;2;3'), /^it is not a workbook$/],
    ['is cut off', book().subarray(0, 600), /^the workbook is damaged: /],
    ['is a damaged XLSX', zipOf({ 'xl/workbook.xml': 'x' }), /^the workbook is damaged: /],
    ['is another ZIP', zipOf({ 'a.txt': 'x' }), /^it is not a workbook$/],
    ['is too large', Buffer.alloc(32_000_001, 'x'), /^it has 32000001 bytes \(limit 32000000\)$/],
    [
      'is too large unpacked',
      zipOf({ 'xl/workbook.xml': 'x', a: Buffer.alloc(20_000_000), b: Buffer.alloc(20_000_000) }),
      /^the workbook has 40000001 bytes unpacked \(limit 32000000, as it is read into memory\)$/,
    ],
    [
      'is compressed too much',
      zipOf({ 'xl/workbook.xml': 'x', a: Buffer.alloc(20_000_000) }),
      /^it is compressed to less than 1\/500 of its 20000000 bytes$/,
    ],
    ['has too many cells', makeFullWorkbook(2_000_001), /^the workbook has 2000001 cells \(limit 2000000, /],
    ['has a distant column', makeWorkbook({ I90DIA03: [numbers(1_001)] }, 'xlsx'), /more than 1000 columns$/],
  ])('a workbook that %s is named, and the next one is read', async (_what, bytes, reason) => {
    const files = await read(zipOf({ 'I90DIA_20250702.xls': bytes, 'I90DIA_20250703.xls': book() }))
    expect(summary(files)).toEqual([
      ['I90DIA_20250702.xls', null, null, expect.stringMatching(reason)],
      ...sheets('I90DIA_20250703.xls'),
    ])
  })

  const GOOD = { I90DIA00: coverOf('03/07/2025', '01/10/2025'), I90DIA03: restrictions(numbers(24)) }
  /** A workbook with more rows in its second sheet, and other texts. */
  const withRows = (rows: string, changeText = (text: string) => text) =>
    makeChangedXlsx(GOOD, (path, text) => {
      if (path === 'xl/sharedStrings.xml') return changeText(text)
      return path.endsWith('sheet2.xml') ? text.replace('</sheetData>', `${rows}</sheetData>`) : text
    })
  const rowsOf = (count: number, cell: string) =>
    numbers(count)
      .map((i) => `<row r="${i + 10}">${cell}</row>`)
      .join('')
  /** Texts that a ZIP does not compress too much. */
  const noise = (length: number) =>
    numbers(Math.ceil(length / 6))
      .map((i) => (i * 7919 + 60_466_176).toString(36).slice(0, 6))
      .join('')
      .slice(0, length)
  const firstText = (to: string) => (text: string) => text.replace(/<si>.*?<\/si>/, `<si><t>${to}</t></si>`)
  const shared = '<c t="s"><v>0</v></c>'

  test.each<[what: string, bytes: () => Uint8Array, reason: RegExp]>([
    [
      'has 90,000 cells of one long text',
      () => withRows(rowsOf(90_000, shared), firstText(noise(30_000))),
      /^the texts of its cells have more than 20000000 characters$/,
    ],
    [
      'has a text that no workbook program stores',
      () => withRows(rowsOf(1, shared), firstText(noise(32_768))),
      /^a cell has 32768 characters \(limit 32767\)$/,
    ],
    [
      'has too many cells',
      () => withRows(rowsOf(2_000, '<c><v>1</v></c>'.repeat(1_000))),
      /^the workbook has 20\d{5} cells \(limit 2000000, as it is read into memory\)$/,
    ],
    [
      'has one large part for many sheets',
      () =>
        makeChangedXlsx(
          { ...GOOD, ...Object.fromEntries(numbers(60).map((i) => [`S${i}`, [['x']]])) },
          (path, text) => {
            if (path.endsWith('sheet2.xml'))
              return text.replace('</sheetData>', `${rowsOf(500, '<c><v>1</v></c>'.repeat(500))}</sheetData>`)
            return path.endsWith('workbook.xml.rels')
              ? text.replace(/worksheets\/sheet\d+\.xml/g, 'worksheets/sheet2.xml')
              : text
          },
        ),
      /^the workbook has 2\d{6} cells \(limit 2000000, /,
    ],
    [
      'has a link over all cells',
      () =>
        makeChangedXlsx(GOOD, (path, text) =>
          path.endsWith('sheet2.xml')
            ? text.replace(
                '</sheetData>',
                '</sheetData><hyperlinks><hyperlink ref="A1:XFD1048576" location="a"/></hyperlinks>',
              )
            : text,
        ),
      /^the workbook has 171\d{8} cells /,
    ],
    [
      'has too many sheets',
      () => makeWorkbook(Object.fromEntries(numbers(101).map((i) => [`S${i}`, [['x']]])), 'xlsx'),
      /^the workbook has 101 sheets \(limit 100\)$/,
    ],
    [
      'is also a workbook of another format',
      () => makeChangedXlsx(GOOD, (_path, text) => text, { 'META-INF/manifest.xml': '<x/>' }),
      /^it is not a workbook$/,
    ],
    [
      'refers to a text that it does not have',
      () => withRows(rowsOf(1, '<c t="s"><v>999999</v></c>')),
      /^sheet I90DIA03 is damaged: its part is missing or refers to a text that does not exist$/,
    ],
    [
      'has values after an empty row 100,001',
      () => withRows('<row r="100002"><c r="A100002"><v>1</v></c></row>'),
      /^sheet I90DIA03 has more than 100000 rows$/,
    ],
    [
      'has a row with a number of four billion',
      () => withRows('<row r="4294967294"><c r="A4294967294"><v>1</v></c></row>'),
      /^sheet I90DIA03 has more than 100000 rows$/,
    ],
  ])('a workbook that %s is refused before its rows take too much memory', async (_what, bytes, reason) => {
    const files = await read(zipOf({ 'I90DIA_20250702.xlsx': bytes(), 'I90DIA_20250703.xls': book() }))
    expect(summary(files)).toEqual([
      ['I90DIA_20250702.xlsx', null, null, expect.stringMatching(reason)],
      ...sheets('I90DIA_20250703.xls'),
    ])
  })

  test('a workbook of one large sheet among many is read sheet by sheet, with the same rows', async () => {
    const many = { ...GOOD, ...Object.fromEntries(numbers(60).map((i) => [`S${i}`, [[`x${i}`]]])) }
    const bytes = makeChangedXlsx(many, (path, text) =>
      path.endsWith('sheet5.xml')
        ? text.replace('</sheetData>', `${rowsOf(100, '<c><v>1</v></c>'.repeat(400))}</sheetData>`)
        : text,
    )
    const files = await read(zipOf({ 'I90DIA_20250703.xlsx': bytes }))
    expect(files).toHaveLength(62)
    expect(files[1]!.i90Rows).toHaveLength(2)
    expect(files[4]!.rows).toHaveLength(101)
    expect(files[61]!.rows!.map(({ columns }) => columns)).toEqual(['{"A":"x60"}'])
  })

  test('a workbook as XLS with one text in many cells, with a link over all cells, or as another format is named', async () => {
    const record = (code: number, ...content: readonly (number | string)[]) => {
      const bytes = Buffer.concat(
        content.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from([part % 256, part >> 8]))),
      )
      return Buffer.concat([Buffer.from([code % 256, code >> 8, bytes.length % 256, bytes.length >> 8]), bytes])
    }
    const wrap = (stream: string, content: Buffer) => {
      const file = xlsx.CFB.utils.cfb_new()
      xlsx.CFB.utils.cfb_add(file, stream, content)
      return xlsx.CFB.write(file, { type: 'buffer' }) as Buffer
    }
    const written = xlsx.CFB.read(makeWorkbook({ I90DIA03: [['x']] }), { type: 'buffer' })
    const content = Buffer.from(xlsx.CFB.find(written, 'Workbook')!.content)
    /** Puts records before the last one, which ends the sheet. */
    const withRecords = (...records: readonly Buffer[]) =>
      wrap('Workbook', Buffer.concat([content.subarray(0, -4), ...records, content.subarray(-4)]))
    const text = 't'.repeat(8_000)
    const texts = [record(0xfc, 1, 0, 1, 0, text.length, '\0', text)]
    for (const row of numbers(2_600)) texts.push(record(0xfd, row, 0, 0, 0, 0))
    const named = await read(
      zipOf({
        'I90DIA_20250701.xls': withRecords(...texts),
        'I90DIA_20250702.xls': withRecords(record(0x01b8, 0, 65_535, 0, 65_535)),
        'I90DIA_20250703.xls': wrap('PerfectOffice_MAIN', Buffer.from('x')),
      }),
    )
    expect(named.map(({ fault }) => fault?.reason)).toEqual([
      'the texts of its cells have more than 20000000 characters',
      'the workbook has 4294967297 cells (limit 2000000, as it is read into memory)',
      'it is not a workbook',
    ])
  })

  test('a workbook in an inner ZIP with too many bytes is named, and the next one is read', async () => {
    const inner = zipOfCopies(
      numbers(7).map((i) => `I90DIA_2025060${i}.xls`),
      Buffer.alloc(30_000_000),
    )
    const days = zipOf({ 'I90DIA_202506.zip': inner, 'I90DIA_20250703.zip': zipOf({ 'I90DIA_20250703.xls': book() }) })
    expect(summary(await read(days))).toEqual([
      ['I90DIA_202506.zip', null, null, 'the files of the ZIP have 210000000 bytes (limit 200000000)'],
      ...sheets('I90DIA_20250703.xls'),
    ])
  })

  test('a workbook in a damaged inner ZIP is named, and the next one is read', async () => {
    const days = zipOf({ 'I90DIA_20250702.zip': 'x', 'I90DIA_20250703.zip': zipOf({ 'I90DIA_20250703.xls': book() }) })
    expect(summary(await read(days))).toEqual([
      ['I90DIA_20250702.zip', null, null, expect.stringMatching(/^the ZIP is damaged: /)],
      ...sheets('I90DIA_20250703.xls'),
    ])
  })
})
