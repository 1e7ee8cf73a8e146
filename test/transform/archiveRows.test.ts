import { strToU8, zipSync } from 'fflate'
import { expect, test } from 'vitest'
import { readArchive } from '../../src/transform/readArchive.ts'

const read = (name: string, text: string) => [...readArchive(name, Buffer.from(text, 'latin1'))]
const QUARTERS = 'prdvsuqh;\n2024;02;09;12;10;17;\n01/01/2024;1;1;81.3;\n01/01/2024;1;2;-7;\n'

test('a JSON row is stored unchanged', () => {
  const rows = [
    { Hora: '00-01', Dia: '01/06/2021', PCB: '116,33', CYM: '116,33', COF2TD: '0,000088' },
    { Hora: '01-02', Dia: '01/06/2021', PCB: '115,95', CYM: '115,95', COF2TD: '' },
  ]
  expect(read('PVPC', JSON.stringify({ PVPC: rows }))).toEqual([
    {
      file: 'PVPC',
      rows: rows.map((row, i) => ({ file: 'PVPC', line: i + 1, layout: 'pvpc', columns: JSON.stringify(row) })),
    },
  ])
})

test('text rows have line numbers and no empty trailing cells', () => {
  const file = 'C2_prdvsuqh_20240101_20240131'
  expect(read(file, QUARTERS)).toEqual([
    {
      file,
      rows: [
        { file, line: 3, layout: 'settlement', columns: '["01/01/2024","1","1","81.3"]' },
        { file, line: 4, layout: 'settlement', columns: '["01/01/2024","1","2","-7"]' },
      ],
    },
  ])
})

test.each([
  ['JSON of another structure', 'PVPC', '{"PVPC":{"Dia":"01/06/2021"}}'],
  ['an invalid price in JSON', 'PVPC', '{"PVPC":[{"Dia":"01/06/2021","Hora":"00-01","PCB":"n/a"}]}'],
  ['an invalid key in JSON', 'PVPC', '{"PVPC":[{"Dia":"01/06/2021","Hora":"00-01","\\u0000":"1"}]}'],
  ['an infinite number', 'C2_x_20240101_20240131', `x;\n;\n01/01/2024;1;${'9'.repeat(400)};\n`],
  ['a fractional hour', 'C2_x_20240101_20240131', 'x;\n;\n01/01/2024;1.5;7;\n'],
  ['broken JSON', 'PVPC', '{"PVPC":['],
  ['a message as content', 'PVPC', '{"message":"No values for specified archive"}'],
  ['text under another name', 'C2_prdvsuqh', QUARTERS],
  ['lines of another format', 'C2_segmento_20240101_20240131', 'segmento;\n2024;02;09;\nBALEARES;1;x;\n'],
  ['binary data', 'I90DIA', '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1'],
])('a file with %s has no known layout', (_what, name, text) => {
  expect(read(name, text)).toEqual([{ file: name, rows: null }])
})

test('files in a ZIP archive are read by their own names', () => {
  const zip = zipSync({
    'folder/C2_prdvsuqh_20240101_20240131': strToU8(QUARTERS),
    'I90DIA_20240101.xls': strToU8('x'),
    'empty/': new Uint8Array(),
  })
  expect([...readArchive('C2_liquicomun', zip)].map(({ file, rows }) => [file, rows?.length ?? null])).toEqual([
    ['C2_prdvsuqh_20240101_20240131', 2],
    ['I90DIA_20240101.xls', null],
  ])
  expect(() => [...readArchive('C2_liquicomun', zip.slice(0, 40))]).toThrow()
})
