import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readOwnTable } from '../../src/reports/ownTables/readOwnTable.ts'
import { tempFolder } from '../support/kit.ts'

function read(content: string | Uint8Array, decimal?: '.' | ',') {
  const path = join(tempFolder(), 'own.csv')
  writeFileSync(path, content)
  const { columns, rows } = readOwnTable({ name: 'own', path, decimal })
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
  expect(read('only\r1\r2').rows).toEqual([[1n], [2n]])
})

test('a file that is not UTF-8 is read in the encoding of Excel', () => {
  expect(read(Buffer.from('a\xf1o;precio \x80\n2024;1,5\n', 'latin1'))).toEqual({
    types: { año: 'integer', 'precio €': 'real' },
    rows: [[2024n, 1.5]],
  })
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
  ['words among numbers', 'x;y\n1,5;\nn/a;\n', 'text', ['1,5', 'n/a']],
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
  ['a line with too many cells', 'x,y\n1,2\n"a\nb",1,5\n', /line 3: the line has 3 cells, but the first one has 2/],
  ['a quote without end', 'x,y\n1,"2\n', /line 2, cell 2: the quotes are wrong/],
  ['an empty file', '', /line 1: the file is empty/],
])('%s is refused with its line and column', (_, text, message) => {
  expect(() => read(text)).toThrow(message)
})

test('--decimal tells the meaning of a number with two', () => {
  expect(read('x;a\n1.234;1\n', ',').rows).toEqual([[1234n, 1n]])
  expect(read('x;a\n1.234;1\n', '.').rows).toEqual([[1.234, 1n]])
  expect(() => read('x;a\n1.5;1\n', ',')).toThrow(/line 2, column x: 1\.5 does not have a decimal comma/)
})

test('a folder and a missing file are refused', () => {
  const readPath = (file: string) => () => readOwnTable({ name: 'own', path: file })
  expect(readPath(tempFolder())).toThrow(/not a file/)
  expect(readPath('/missing/own.csv')).toThrow(/ENOENT/)
})
