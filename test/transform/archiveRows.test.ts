import { strToU8, type Zippable, zipSync } from 'fflate'
import { describe, expect, test } from 'vitest'
import { type ArchiveFile, readArchive } from '../../src/transform/readArchive.ts'

async function readBytes(name: string, bytes: Uint8Array): Promise<ArchiveFile[]> {
  const files: ArchiveFile[] = []
  for await (const file of readArchive(name, Buffer.from(bytes), 'Europe/Madrid')) files.push(file)
  return files
}
const read = (name: string, text: string) => readBytes(name, Buffer.from(text, 'latin1'))
/** Reads a ZIP, with the number of rows or the fault of each file. */
async function readZip(files: Zippable | Uint8Array) {
  const zip = files instanceof Uint8Array ? files : zipSync(files)
  return (await readBytes('C2_liquicomun', zip)).map(({ file, rows, fault }) => [file, fault ?? rows?.length ?? null])
}

const FILE = 'C2_prdvsuqh_20240101_20240131'
const HEAD = 'prdvsuqh;\n2024;02;09;12;10;17;\n'
const QUARTERS = `${HEAD}01/01/2024;1;1;81.3;\n01/01/2024;1;2;-7;\n`
const PVPC_ROW = { Dia: '01/06/2021', Hora: '00-01', PCB: '116,33', CYM: '116,33' }
const pvpc = (...rows: object[]) => JSON.stringify({ PVPC: rows })

describe('rows', () => {
  test('a JSON row is stored unchanged', async () => {
    const rows = [
      { Hora: '00-01', Dia: '01/06/2021', PCB: '116,33', CYM: '116,33', COF2TD: '0,000088' },
      { Hora: '01-02', Dia: '01/06/2021', PCB: '115,95', CYM: '115,95', COF2TD: '' },
    ]
    expect(await read('PVPC', pvpc(...rows))).toEqual([
      {
        file: 'PVPC',
        rows: rows.map((row, i) => ({ file: 'PVPC', line: i + 1, layout: 'pvpc', columns: JSON.stringify(row) })),
      },
    ])
  })

  test('text rows have line numbers and no empty trailing cells', async () => {
    expect(await read(FILE, QUARTERS)).toEqual([
      {
        file: FILE,
        rows: [
          { file: FILE, line: 3, layout: 'settlement', columns: '["01/01/2024","1","1","81.3"]' },
          { file: FILE, line: 4, layout: 'settlement', columns: '["01/01/2024","1","2","-7"]' },
        ],
      },
    ])
  })

  test.each([
    ['with the end line of the operator', `${QUARTERS}*\n`, 2],
    ['with CRLF', `${QUARTERS}*\r\n`.replaceAll('\n', '\r\n'), 2],
    ['without rows', `${HEAD}*\n`, 0],
    ['with quotes', `${HEAD}"01/01/2024";"1";"1";"81.3";\n`, 1],
    ['in Latin-1', `perdid\xe1s;\n;\nL 01;1.5;;\n`, 1],
  ])('a settlement %s is read', async (_what, text, count) => {
    expect((await read(FILE, text))[0]!.rows).toHaveLength(count)
  })

  test('a month with a day of 25 hours has one separator fewer after that day', async () => {
    const hours = (n: number) => Array.from({ length: n }, (_, i) => `${i}.5`).join(';')
    const text = `perd20A;\n2015;01;21;20;16;50;\nS 25;${hours(24)};;\nD 26;${hours(25)};\nL 27;${hours(24)};\n*\n`
    const [{ rows }] = (await read('C3_perd20A_20141001_20141031', text)) as [ArchiveFile]
    expect(rows!.map(({ columns }) => (JSON.parse(columns as string) as string[]).length)).toEqual([25, 26, 25])
  })

  test('a quarter of an hour without a value is not an hour', async () => {
    const [{ rows }] = (await read(FILE, `${QUARTERS}01/01/2024;1;3;;\n`)) as [ArchiveFile]
    expect(rows!.at(-1)!.columns).toBe('["01/01/2024","1","3",""]')
    const empty = `${HEAD}01/01/2024;1;1;;\n01/01/2024;1;2;;\n`
    expect((await read(FILE, empty))[0]!.fault).toEqual({ line: 4, reason: '"01/01/2024 1" is repeated' })
  })
})

test.each([
  ['JSON of another structure', 'PVPC', '{"PVPC":{"Dia":"01/06/2021"}}'],
  ['broken JSON', 'PVPC', '{"PVPC":['],
  ['text under another name', 'C2_prdvsuqh', QUARTERS],
  ['lines of another format', 'C2_segmento_20240101_20240131', 'segmento;\n2024;02;09;\nBALEARES;1;x;\n'],
  ['days of another format', 'C2_baprdeme_20240101_20240131', 'baprdeme;\n2024;02;09;\nL 01;BALEARES;1.5;\n'],
  ['a head only', 'C2_x_20240101_20240131', HEAD],
  ['binary data', 'datos', '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1'],
  ['a nested archive under a known name', FILE, `\x1f\x8b\x08\0${'\xe9'.repeat(20_000)}`],
])('a file with %s has no known layout', async (_what, name, text) => {
  expect(await read(name, text)).toEqual([{ file: name }])
})

test.each([
  ['an invalid price in JSON', 'PVPC', pvpc(PVPC_ROW, { ...PVPC_ROW, PCB: 'n/a' }), 2, /^"n\/a" is not a price$/],
  ['an invalid key in JSON', 'PVPC', pvpc({ ...PVPC_ROW, '\0': '1' }), 1, /is not a valid key$/],
  ['JSON without prices', 'PVPC', pvpc({ Dia: '01/06/2021', Hora: '00-01', COF: '1' }), 1, /none of the prices PCB/],
  [
    'a day that does not exist',
    'PVPC',
    pvpc({ ...PVPC_ROW, Dia: '31/04/2024' }),
    1,
    /^Dia "31\/04\/2024" is not a day$/,
  ],
  ['nested JSON', 'PVPC', `{"PVPC":[${'['.repeat(600)}${']'.repeat(600)}]}`, null, /500 levels/],
  ['very deep JSON', 'PVPC', `{"PVPC":${'['.repeat(3_000_000)}`, null, /more than 2000000 JSON values/],
  ['too many rows of JSON', 'PVPC', `{"PVPC":[${'1,'.repeat(100_000)}1]}`, null, /more than 100000 rows/],
  ['an infinite number', FILE, `${HEAD}01/01/2024;1;${'9'.repeat(400)};\n`, 3, /is not a number$/],
  ['a fractional hour', FILE, `${HEAD}01/01/2024;1.5;7;\n`, 3, /^"1.5" is not an hour or quarter$/],
  ['a text in place of a value', FILE, `${QUARTERS}01/01/2024;1;3;n.d.;\n`, 5, /^"n.d." is not a number$/],
  ['a repeated period', FILE, `${QUARTERS}01/01/2024;1;2;8;\n`, 5, /^"01\/01\/2024 1 2" is repeated$/],
  ['a repeated day', FILE, `${HEAD}L 01;1;\nL 01;1;\n`, 4, /^"L 01" is repeated$/],
  ['a day outside of its range', FILE, `${HEAD}J 01;1;\n`, 3, /^"J 01" is not a day of the file$/],
  ['a row after its end', FILE, `${QUARTERS}*\n01/01/2024;1;3;8;\n`, 6, /^it follows the last line/],
  ['a long line', FILE, `${HEAD}${'1'.repeat(20_000)}`, 3, /^the line has more than 10000 bytes$/],
  ['too many lines', FILE, `${HEAD}${'\n'.repeat(150_000)}`, null, /^it has more than 100000 lines$/],
  ['too many bytes', FILE, `${HEAD}${' '.repeat(33_000_000)}`, null, /^it has 33000031 bytes \(limit 32000000\)$/],
])('a file with %s cannot be loaded', async (_what, name, text, line, reason) => {
  expect(await read(name, text)).toEqual([{ file: name, fault: { line, reason: expect.stringMatching(reason) } }])
})

test.each([
  ['I90DIA', '', 'the response is empty'],
  ['I90DIA', '<!doctype html><html><p>Mantenimiento', 'the response is a web page instead of a file'],
  [
    'C2_liquicomun',
    '<?xml version="1.0"?><Error><Code>AccessDenied</Code>',
    'the response is an error instead of a file',
  ],
  [
    'PVPC',
    '{"message":"No values for specified archive"}',
    'the service sent the message "No values for specified archive" instead of a file',
  ],
])('the file of the edition %s that is %j is named with the reason', async (name, text, reason) => {
  expect(await read(name, text)).toEqual([{ file: name, fault: { line: null, reason } }])
})

describe('a ZIP', () => {
  const good = { [FILE]: strToU8(QUARTERS) }

  test('a ZIP is read file by file, each by its own name', async () => {
    const zip = {
      [`folder/${FILE}`]: strToU8(QUARTERS),
      'I90DIA_20240101.pdf': strToU8('x'),
      'empty/': new Uint8Array(),
    }
    expect(await readZip(zip)).toEqual([
      [FILE, 2],
      ['I90DIA_20240101.pdf', null],
    ])
  })

  test('a symlink, a nested ZIP or a web page in a ZIP has no known layout', async () => {
    const names = ['C2_a_20240101_20240131', 'C2_b_20240101_20240131', 'C2_c_20240101_20240131', 'd.json']
    const [link, nested, page, json] = names as [string, string, string, string]
    const zip = {
      ...good,
      [link]: [strToU8(QUARTERS), { os: 3, attrs: 0o120777 << 16 }],
      [nested]: zipSync(good),
      [page]: strToU8('<!DOCTYPE html>\n<html>\n<p>no</p>\n'),
      [json]: zipSync(good),
    } satisfies Zippable
    expect((await readZip(zip)).sort()).toEqual([[FILE, 2], ...names.map((name) => [name, null])].sort())
  })

  test('two files of one name in two folders of a ZIP do not stop the others', async () => {
    const other = 'C2_other_20240101_20240131'
    const zip = { [`a/${FILE}`]: strToU8(QUARTERS), [`b/${FILE}`]: strToU8(QUARTERS), [other]: strToU8(QUARTERS) }
    expect(await readZip(zip)).toEqual([
      [FILE, { line: null, reason: `the ZIP has it in several folders: a/${FILE}, b/${FILE}` }],
      [other, 2],
    ])
  })

  test('a bomb or a damaged file in a ZIP does not stop the others', async () => {
    const names = ['C2_zeros_20240101_20240131', 'C2_large_20240101_20240131', 'C2_crc_20240101_20240131', FILE]
    const [zeros, large, crc] = names as [string, string, string]
    const zip = Buffer.from(
      zipSync({
        [zeros]: Buffer.alloc(20_000_000, '\n'),
        [large]: Buffer.alloc(40_000_000, '1'),
        [crc]: [strToU8(QUARTERS.replace('81.3', '55.5')), { level: 0 }],
        ...good,
      }),
    )
    zip.write('66.6', zip.indexOf('55.5'))
    expect(await readZip(zip)).toEqual([
      [zeros, { line: null, reason: expect.stringMatching(/compressed to less than 1\/500/) }],
      [large, { line: null, reason: 'it has 40000000 bytes (limit 32000000)' }],
      [crc, { line: null, reason: 'its CRC-32 is wrong' }],
      [FILE, 2],
    ])
  })

  test.each<[string, (entry: number, zip: Buffer) => void]>([
    ['smaller', (entry, zip) => zip.writeUInt32LE(QUARTERS.length - 5, entry + 24)],
    ['larger', (entry, zip) => zip.writeUInt32LE(QUARTERS.length + 5, entry + 24)],
  ])('a file in a ZIP is not loaded if its declared size is %s', async (_what, change) => {
    const zip = Buffer.from(zipSync(good))
    change(zip.indexOf('PK\x01\x02'), zip)
    expect(await readZip(zip)).toEqual([[FILE, { line: null, reason: expect.stringMatching(/bytes/) }]])
  })

  test.each<[string, Uint8Array, RegExp]>([
    ['that is cut', zipSync(good).slice(0, 40), /is damaged/],
    ['without files', zipSync({}), /has no files/],
    ['that leaves its folder', zipSync({ '../x': strToU8('x') }), /invalid relative path/],
    [
      'with two files of one full name',
      Buffer.from(
        zipSync({ ...good, C2_prdvsuqg_20240101_20240131: strToU8(QUARTERS) }).map((byte) =>
          byte === 0x67 ? 0x68 : byte,
        ),
      ),
      /two files named "C2_prdvsuqh_20240101_20240131"/,
    ],
    [
      'that unpacks to too much',
      zipSync(Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`${i}.json`, Buffer.alloc(30_000_000)]))),
      /have 600000000 bytes \(limit 200000000\)/,
    ],
  ])('a ZIP %s is refused', async (_what, zip, reason) => {
    await expect(readZip(zip)).rejects.toThrow(reason)
  })
})
