import { crc32, deflateRawSync } from 'node:zlib'
import * as xlsx from '@e965/xlsx'
import { strFromU8, strToU8, unzipSync, Zip, type ZipInputFile, zipSync } from 'fflate'

type Cells = readonly (readonly (string | number | Date | null)[])[]

/** Makes a workbook of sheets: rows of cells, in which null is an empty cell. */
export function makeWorkbook(sheets: Readonly<Record<string, Cells>>, bookType: 'biff8' | 'xlsx' = 'biff8'): Buffer {
  const book = xlsx.utils.book_new()
  for (const [name, cells] of Object.entries(sheets))
    xlsx.utils.book_append_sheet(book, xlsx.utils.aoa_to_sheet(cells as unknown[][]), name)
  return xlsx.write(book, { type: 'buffer', bookType }) as Buffer
}

/** Makes an XLS file with many cells, as a hostile one may have: each record has up to 1,000 numbers of six bytes. */
export function makeFullWorkbook(cells: number): Buffer {
  const records = Array.from({ length: Math.ceil(cells / 1_000) }, (_, i) => {
    const record = Buffer.alloc(10 + 6 * Math.min(1_000, cells - i * 1_000))
    // Noise, because a ZIP may not compress it too much.
    for (let at = 10; at < record.length; at += 64) record[at] = (i * at) % 251
    record.writeUInt16LE(0xbd, 0)
    record.writeUInt16LE(record.length - 4, 2)
    return record
  })
  const file = xlsx.CFB.utils.cfb_new()
  xlsx.CFB.utils.cfb_add(file, 'Workbook', Buffer.concat(records))
  return xlsx.CFB.write(file, { type: 'buffer' }) as Buffer
}

/** Makes an XLSX file and changes its parts: their content by path. */
export function makeChangedXlsx(
  sheets: Readonly<Record<string, Cells>>,
  change: (path: string, text: string) => string,
  more: Readonly<Record<string, string>> = {},
): Uint8Array {
  const book = xlsx.utils.book_new()
  for (const [name, cells] of Object.entries(sheets))
    xlsx.utils.book_append_sheet(book, xlsx.utils.aoa_to_sheet(cells as unknown[][]), name)
  const parts = unzipSync(xlsx.write(book, { type: 'buffer', bookType: 'xlsx', bookSST: true }) as Buffer)
  const changed = Object.entries(parts).map(([path, bytes]) => [path, change(path, strFromU8(bytes))] as const)
  return zipOf({ ...Object.fromEntries(changed), ...more })
}

/** The numbers of periods from 1. */
export const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1)
/** Hours of the clock: `00-01` to `23-24`. */
export const clockHours = (hours: readonly number[] = numbers(24).map((n) => n - 1)): string[] =>
  hours.map((hour) => [hour, hour + 1].map((n) => String(n).padStart(2, '0')).join('-'))
/** Quarter-hours of the hours: `1-1`, `1-2` … */
export const hourQuarters = (hours: number): string[] =>
  numbers(hours).flatMap((hour) => numbers(4).map((quarter) => `${hour}-${quarter}`))

export const UNIT = 'Unidad de Programación'
const title = (name: string): (string | null)[][] => [[name], [null]]

/** The cover of a workbook of a day, as in the known ones. */
export const coverOf = (date: string, published: string): Cells => [
  ...[1, 2, 3].map(() => ['I90']),
  [date, null, published],
  ...[5, 6, 7, 8, 9].map(() => [null]),
  ['I90DIA03', 'Restricciones técnicas'],
]

/** A sheet of hours with a direction, whose header is in the third row. Values are 100 × row + period. */
export const restrictions = (periods: readonly (string | number)[], rows = 2): Cells => [
  ...title('I90DIA03'),
  ['Redespacho', 'Tipo', 'Sentido', UNIT, 'Tipo Oferta', 'Hora', 'Total', ...periods],
  ...numbers(rows).map((row) => [
    'RTD',
    'x',
    row % 2 === 1 ? 'Subir' : 'Bajar',
    `UP${row}`,
    row,
    null,
    1,
    ...periods.map((_, i) => 100 * row + i + 1),
  ]),
]

/** A ZIP as the service sends it. */
export const zipOf = (files: Readonly<Record<string, Uint8Array | string>>): Uint8Array =>
  zipSync(
    Object.fromEntries(
      Object.entries(files).map(([name, bytes]) => [name, typeof bytes === 'string' ? strToU8(bytes) : bytes]),
    ),
  )

/** A ZIP of many files with the same content, which is compressed only once. */
export function zipOfCopies(names: readonly string[], bytes: Uint8Array): Uint8Array {
  const parts: Uint8Array[] = []
  const zip = new Zip((_error, part) => parts.push(part))
  const compressed = deflateRawSync(bytes)
  const form = { size: bytes.length, crc: crc32(bytes), compression: 8 }
  for (const filename of names) {
    const file: ZipInputFile = { filename, ...form }
    zip.add(file)
    file.ondata!(null, compressed, true)
  }
  zip.end()
  return Buffer.concat(parts)
}
