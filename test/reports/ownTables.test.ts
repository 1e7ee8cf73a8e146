import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { ReadingRules } from '../../src/reports/ownTables/guessTypes.ts'
import { readOwnTable } from '../../src/reports/ownTables/readOwnTable.ts'
import { tempFolder } from '../support/kit.ts'

function read(content: string | Uint8Array, rules: ReadingRules = {}) {
  const path = join(tempFolder(), 'own.csv')
  writeFileSync(path, content)
  const { columns, rows } = readOwnTable({ name: 'own', path, ...rules })
  return { types: Object.fromEntries(columns.map(({ name, type }) => [name, type])), rows }
}

test('commas, semicolons and tabs separate cells, with or without quotes, byte order mark and sep=', () => {
  const rows = [
    ['x;y', 'a "b"'],
    ['line\nbreak', null],
    ['', 'z'],
  ]
  for (const separator of [',', ';', '\t']) {
    const text = ['one', 'two', '"x;y"', '"a ""b"""', '"line\nbreak"', '', '""', 'z']
      .map((cell, i) => cell + (i % 2 === 0 ? separator : '\r\n'))
      .join('')
    expect(read(text).rows).toEqual(rows)
    expect(read(`\uFEFF${text}\n\n`).rows).toEqual(rows)
    expect(read(`sep=${separator}\r\n${text}`)).toEqual({ types: { one: 'text', two: 'text' }, rows })
  }
  expect(read('a,a,\n1,2,').types).toEqual({ a: 'integer', a_2: 'integer', column_3: 'text' })
  expect(read('d;D;d\n1;2;3').types).toEqual({ d: 'integer', D_2: 'integer', d_3: 'integer' })
  expect(read('a;b\r\n1;2\r\n;\r\n;;\r\n').rows).toEqual([[1n, 2n]])
  expect(read('only\r1\r2').rows).toEqual([[1n], [2n]])
})

test('a file that is not UTF-8 is read in the encoding of Excel', () => {
  expect(read(Buffer.from('a\xf1o;precio \x80\n2024;1,5\n', 'latin1'))).toEqual({
    types: { año: 'integer', 'precio €': 'real' },
    rows: [[2024n, 1.5]],
  })
})

test('UTF-16 is read by its byte order mark', () => {
  const text = '\uFEFFaño\tcoste\r\n2024\t1,5\r\n'
  const expected = { types: { año: 'integer', coste: 'real' }, rows: [[2024n, 1.5]] }
  expect(read(Buffer.from(text, 'utf16le'))).toEqual(expected)
  expect(read(Buffer.from(text, 'utf16le').swap16())).toEqual(expected)
})

test.each<[string, string | Uint8Array, RegExp]>([
  ['a workbook', Buffer.from('PK\x03\x04\0\0'), /own\.csv is a workbook or an archive, not CSV/],
  ['an old workbook', Buffer.from('\xd0\xcf\x11\xe0\xa1', 'latin1'), /is a workbook, not CSV/],
  ['a database', 'SQLite format 3\0', /is an SQLite database, not CSV/],
  ['a Parquet file', 'PAR1\0', /is a Parquet file/],
  ['UTF-16 without its mark', Buffer.from('a;b\n', 'utf16le'), /is not text/],
  ['a file of 32.1 MiB', Buffer.alloc(32.1 * 2 ** 20, 'a\n'), /own\.csv: it has 32\.1 MiB; at most 32 MiB fit/],
  [
    'a file of too many cells',
    'a,b\n'.repeat(500_001),
    /line 500001: the file has 1\.9 MiB and more than 1,000,000 cells/,
  ],
  ['a file of too many columns', 'a,'.repeat(1000), /own\.csv, line 1: the file has 1,001 columns; at most 1,000 fit/],
])('%s is refused by name', (_, content, message) => {
  expect(() => read(content)).toThrow(message)
})

test.each<[string, string, string, unknown[]]>([
  ['whole numbers', 'x\n12\n-7\n', 'integer', [12n, -7n]],
  ['numbers of 64 bits', 'x\n9223372036854775807\n', 'integer', [9223372036854775807n]],
  ['decimal points', 'x,y\n1.5,\n2,\n1e3,\n', 'real', [1.5, 2, 1000]],
  ['decimal commas', 'x;y\n1,5;\n-2;\n', 'real', [1.5, -2]],
  ['decimal commas with thousands', 'x;y\n1.234,5;\n1.234;\n', 'real', [1234.5, 1234]],
  ['decimal points with thousands', 'x;y\n1,234.5;\n1,234;\n', 'real', [1234.5, 1234]],
  ['several groups of thousands', 'x;y\n1.234.567;\n1.234;\n', 'integer', [1234567n, 1234n]],
  ['three decimals after a zero', 'x;y\n0,123;\n', 'real', [0.123]],
  ['three decimals between commas', 'x,y\n1.234,\n', 'real', [1.234]],
  ['three decimals beside a column that tells the mark', 'x;y\n1,234;0,5\n', 'real', [1.234]],
  ['thousands beside a column that tells the mark', 'x;y\n1.234;0,5\n', 'integer', [1234n]],
  ['codes with leading zeros', 'x\n007\n12\n', 'text', ['007', '12']],
  ['codes with leading zeros and letters', 'x\n007\nA12\n', 'text', ['007', 'A12']],
  [
    'missing numbers',
    'x;y\n1,5;\nn/a;\nN/D;\n-;\n#N/A;\n ;\n""; \n2;1\n',
    'real',
    [1.5, null, null, null, null, null, 2],
  ],
  ['missing days', 'x;y\n2025-10-01;\n-;1\n', 'date', ['2025-10-01', null]],
  ['words for missing values only', 'x;y\nNA;1\n-;2\n', 'text', ['NA', '-']],
  ['quoted numbers among words', 'x;y\n"12";1\nA1;2\n', 'text', ['12', 'A1']],
  ['numbers of a file in quotes', '"x";"y"\n"1,5";"a"\n', 'real', [1.5]],
  ['numbers that are equal with both marks', 'x;y\n1e5;\n12;\n', 'integer', [100000n, 12n]],
  [
    'days among local times',
    'x\n2025-10-01\n2025-10-01 00:15\n',
    'time',
    ['2025-10-01T00:00:00', '2025-10-01T00:15:00'],
  ],
  ['days', 'x\n2025-10-01\n\n2025-10-02\n', 'date', ['2025-10-01', '2025-10-02']],
  ['days of a Spanish Excel', 'x;y\n1/10/2025;\n31/10/2025;\n', 'date', ['2025-10-01', '2025-10-31']],
  ['days and clocks of a Spanish Excel', 'x;y\n31/10/2025 0:15;\n', 'time', ['2025-10-31T00:15:00']],
  ['local times', 'x\n2025-10-01 00:15\n', 'time', ['2025-10-01T00:15:00']],
  ['instants', 'x\n2025-10-01T00:15Z\n', 'instant', ['2025-10-01T00:15:00Z']],
  ['local times with offset', 'x\n2025-10-01T00:15:00+02:00\n', 'instant', ['2025-10-01T00:15:00+02:00']],
])('%s are recognized', (_, text, type, values) => {
  const { types, rows } = read(text)
  expect(types.x).toBe(type)
  expect(rows.map(([x]) => x)).toEqual(values)
})

test.each<[string, string, RegExp]>([
  ['a number of two meanings', 'a;x\n1;1.234\n', /own\.csv, line 2, column x: 1\.234 may be 1\.234 or 1234\./],
  ['a decimal comma of two meanings', 'x;a\n\n1,234;1\n', /line 3, column x: 1,234 may be 1234 or 1\.234\./],
  [
    'two decimal marks in a column',
    'x;a\n1,5;\n2.5;\n',
    /line 3, column x: 2\.5 has a decimal point, but 1,5 in line 2/,
  ],
  ['a number between columns with two marks', 'x;a;b\n1.234;0,5;0.5\n', /line 2, column x/],
  ['days of two meanings', 'x;a\n01/02/2025;\n', /line 2, column x: 01\/02\/2025 may begin/],
  ['a word among numbers', 'x;y\n1,5;\nabc;\n', /line 3, column x: "abc" is no number, unlike 1,5 in line 2/],
  ['a number among words', 'x;y\nabc;\n1,5;\n', /line 2, column x: "abc" is no number, unlike 1,5 in line 3/],
  ['a word among numbers in a quoted file', '"x"\n"1"\n"abc"\n', /line 3, column x: "abc" is no number/],
  ['an impossible day', 'x\n2026-02-31\n', /line 2, column x: 2026-02-31 is no day of the calendar/],
  ['an impossible shown day', 'x;y\n31/01/2026;\n31/02/2026;\n', /line 3, column x: 31\/02\/2026 is no day/],
  ['a shown day without a month', 'x;y\n45/13/2026;\n', /line 2, column x: 45\/13\/2026 is no day/],
  ['an impossible clock', 'x\n2026-02-01 25:99\n', /line 2, column x: 2026-02-01 25:99 is no time/],
  ['an impossible shown clock', 'x;y\n31/01/2026 24:00;\n', /line 2, column x: 31\/01\/2026 24:00 is no time/],
  ['an impossible offset', 'x\n2026-02-01T00:00+99:00\n', /line 2, column x: .* is no time/],
  ['two forms of days', 'x\n2026-02-01\n13/02/2026\n', /line 3, column x: "13\/02\/2026" is no ISO day/],
  ['two orders of days', 'x;y\n13/02/2026;\n02/13/2026;\n', /line 3, column x: 02\/13\/2026 begins with the month/],
  ['times with offsets and without', 'x\n2026-02-01T00:00Z\n2026-02-01T00:00\n', /line 3, column x: .* has no offset/],
  ['a number among days', 'x\n2026-02-01\n46054\n', /line 3, column x: "46054" is no ISO day/],
  ['a year of two digits', 'x;y\n13/02/26;\n', /line 2, column x: 13\/02\/26 has a year of two digits/],
  ['a line with too many cells', 'x,y\n1,2\n"a\nb",1,5\n', /line 3: the line has 3 cells, but the first one has 2/],
  ['a quote without end', 'x,y\n1,"2\n', /line 2, cell 2: the quotes are wrong/],
  ['an empty file', '', /line 1: the file is empty/],
])('%s is refused with its line and column', (_, text, message) => {
  expect(() => read(text)).toThrow(message)
})

test('--decimal tells the meaning of a number with two', () => {
  expect(read('x;a\n1.234;1\n', { decimal: ',' }).rows).toEqual([[1234n, 1n]])
  expect(read('x;a\n1.234;1\n', { decimal: '.' }).rows).toEqual([[1.234, 1n]])
  expect(() => read('x;a\n1.5;1\n', { decimal: ',' })).toThrow(/line 2, column x: 1\.5 does not have a decimal comma/)
})

test('--dates tells the order of days with two meanings', () => {
  const text = 'x;a\n01/02/2026;\n02/02/2026;\n'
  expect(read(text, { dates: 'dmy' }).rows.flat()).toEqual(['2026-02-01', null, '2026-02-02', null])
  expect(read(text, { dates: 'mdy' }).rows.flat()).toEqual(['2026-01-02', null, '2026-02-02', null])
  expect(() => read('x;a\n13/02/2026;\n', { dates: 'mdy' })).toThrow(/13\/02\/2026 is no day of the calendar/)
})

test('a folder and a missing file are refused', () => {
  const readPath = (file: string) => () => readOwnTable({ name: 'own', path: file })
  expect(readPath(tempFolder())).toThrow(/not a file/)
  expect(readPath('/missing/own.csv')).toThrow(/ENOENT/)
})

test.each([',', ';'])('codes such as E5 are texts: %s', (separator) => {
  const { types, rows } = read(`fuel${separator}n\nE5${separator}1.5\nE10${separator}2\n`)
  expect(types).toEqual({ fuel: 'text', n: 'real' })
  expect(rows).toEqual([
    ['E5', 1.5],
    ['E10', 2],
  ])
})

test('a cell may be as long as the file', () => {
  const long = 'x'.repeat(20_000_000)
  expect(read(`a,b\n"${long}",1`).rows).toEqual([[long, 1n]])
})
