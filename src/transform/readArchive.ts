import {
  FileError,
  I90_ARCHIVE,
  I90_FILE,
  I90_ZIP,
  JSON_LAYOUTS,
  TEXT_LAYOUTS,
  type TextLayout,
} from '../service/archiveLayouts.ts'
import { findNotFile, MAX_MESSAGE_BYTES } from '../service/notFile.ts'
import { isObject, refuseDeep } from '../util/json.ts'
import { countPartCells, isXls, readWorkbook } from '../util/workbook.ts'
import { isZip, listZip, ZipError, type ZippedFile } from '../util/zip.ts'
import { measureBody, refuseFlood } from './flood.ts'
import { readI90 } from './i90/readI90.ts'
import type { ReadSheet, OtherRow as Row } from './i90/readSheet.ts'

/** A file of an archive: its rows, or why it cannot be loaded, or neither if it has no known layout. A workbook: each of its sheets. */
export interface ArchiveFile extends Partial<ReadSheet> {
  readonly file: string
  /** The sheet of a workbook. */
  readonly sheet?: string
  /** The local day of a workbook. */
  readonly day?: string
}

/** Limits of an archive. A settlement has 30 MB in several hundred files of at most 3,000 lines, compressed to a tenth. */
const MAX_BYTES = 200_000_000
const MAX_FILE_BYTES = 32_000_000
const MAX_RATIO = 500
/** A smaller file is never refused for its ratio. */
const HARMLESS_BYTES = 1_000_000
const MAX_ROWS = 2_000_000
/** The maximum number of lines of a text, or of rows of JSON. */
const MAX_LINES = 100_000
const MAX_LINE_BYTES = 10_000
const MAX_NAME_LENGTH = 200

const baseName = (path: string): string => path.split('/').at(-1)!
const textLayout = (file: string) => TEXT_LAYOUTS.find(({ files }) => files.test(file))
const isJsonName = (file: string): boolean => /\.json$/i.test(file)

/** Decodes a text, which is Latin-1 if it is not UTF-8. */
function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return new TextDecoder('latin1').decode(bytes)
  }
}

/** Throws FileError before a file takes too much memory. */
function refuseLarge(bytes: number): void {
  if (bytes > MAX_FILE_BYTES) throw new FileError(`it has ${bytes} bytes (limit ${MAX_FILE_BYTES})`)
}

/** Reads JSON with a known list of rows; null for any other content. Throws FileError if a row is not valid. */
function readJson(file: string, bytes: Buffer): readonly Row[] | null {
  refuseFlood(measureBody(bytes))
  let body: unknown
  try {
    body = JSON.parse(decode(bytes))
  } catch {
    return null
  }
  refuseDeep(body)
  for (const { name: layout, root, findFault } of JSON_LAYOUTS) {
    const items = isObject(body) ? body[root] : undefined
    if (!Array.isArray(items)) continue
    if (items.length > MAX_LINES) throw new FileError(`it has more than ${MAX_LINES} rows`)
    return items.map((item, i) => {
      const fault = findFault(item)
      if (fault !== null) throw new FileError(fault, i + 1)
      return { file, line: i + 1, layout, columns: JSON.stringify(item) }
    })
  }
  return null
}

/** Divides a text into lines. Throws FileError if it or a line is too long. */
function splitLines(bytes: Buffer): readonly string[] {
  const lines: string[] = []
  for (let from = 0; from < bytes.length; ) {
    const line = lines.length + 1
    const at = bytes.indexOf(10, from)
    const to = at === -1 ? bytes.length : at
    if (line > MAX_LINES) throw new FileError(`it has more than ${MAX_LINES} lines`)
    if (to - from > MAX_LINE_BYTES) throw new FileError(`the line has more than ${MAX_LINE_BYTES} bytes`, line)
    lines.push(decode(bytes.subarray(from, to)))
    from = to + 1
  }
  return lines
}

/** The cells of a line, without quotes and without empty ones at the end. */
function toCells(line: string): readonly string[] {
  const cells = line.split(';').map((cell) => cell.trim().replace(/^"(.*)"$/, '$1'))
  return cells.slice(0, cells.findLastIndex((cell) => cell !== '') + 1)
}

/** Reads a text; null if its lines have another layout. Throws FileError if a line is not valid. */
function readText(file: string, bytes: Buffer, layout: TextLayout): readonly Row[] | null {
  const { name, headLines, endLine, isLike, check } = layout
  // No text has zero bytes; nested archives do.
  if (bytes.includes(0)) return null
  const lines = splitLines(bytes)
    .map((text, i) => ({ line: i + 1, cells: toCells(text) }))
    .filter(({ line, cells }) => line > headLines && cells.length > 0)
  const end = lines.findIndex(({ cells }) => cells.length === 1 && cells[0] === endLine)
  const late = end === -1 ? undefined : lines[end + 1]
  if (late) throw new FileError(`it follows the last line, ${endLine}`, late.line)
  const rows = end === -1 ? lines : lines.slice(0, end)
  const [first] = rows
  if (first ? !isLike(first.cells) : end === -1) return null
  return check(rows, file).map(({ line, cells }) => ({ file, line, layout: name, columns: JSON.stringify(cells) }))
}

/** Reads the rows of a file; null without a known layout. */
function readRows(file: string, bytes: Buffer): readonly Row[] | null {
  const layout = textLayout(file)
  // Workbooks and PDF may be large, so only what may be JSON is decoded.
  const mayBeJson = bytes.toString('utf8', 0, 64).trimStart().startsWith('{')
  if (!layout && !mayBeJson) return null
  refuseLarge(bytes.length)
  return layout ? readText(file, bytes, layout) : readJson(file, bytes)
}

/** A file with the reason why it cannot be loaded. */
function toFaulty(file: string, error: unknown): ArchiveFile {
  const line = error instanceof FileError ? error.line : null
  return { file, fault: { line, reason: (error as Error).message } }
}

/** Reads a file, and turns an error of it into its fault. */
async function readFile(file: string, getBytes: () => Buffer | Promise<Buffer>): Promise<ArchiveFile> {
  try {
    const rows = readRows(file, await getBytes())
    return rows === null ? { file } : { file, rows }
  } catch (error) {
    return toFaulty(file, error)
  }
}

/** Throws FileError if a file of a ZIP is too large. */
function refusePacked({ bytes, packedBytes }: ZippedFile): void {
  refuseLarge(bytes)
  if (bytes > HARMLESS_BYTES && bytes > packedBytes * MAX_RATIO)
    throw new FileError(`it is compressed to less than 1/${MAX_RATIO} of its ${bytes} bytes`)
}

/** Unpacks a file of a ZIP. */
async function unpack(zipped: ZippedFile): Promise<Buffer> {
  refusePacked(zipped)
  const { read } = zipped
  const pieces: Buffer[] = []
  for await (const piece of read()) pieces.push(piece)
  return Buffer.concat(pieces)
}

/** Unpacks the only file of a name. Rows are stored by the name without folders. */
function unpackOnly([file, ...others]: readonly ZippedFile[]): Promise<Buffer> {
  if (others.length === 0) return unpack(file!)
  throw new FileError(`the ZIP has it in several folders: ${[file!, ...others].map(({ path }) => path).join(', ')}`)
}

/** The file that every workbook of the ZIP format (XLSX) has. */
const XLSX_FILE = 'xl/workbook.xml'

/** Throws FileError if a workbook is too large. */
function refuseLargeBook(bytes: number, form: string): void {
  if (bytes > MAX_FILE_BYTES)
    throw new FileError(`the workbook has ${bytes} bytes ${form} (limit ${MAX_FILE_BYTES}, as it is read into memory)`)
}

/** Files that make the package read a ZIP as another format (ODS, UOC, Numbers), in which one cell may stand for millions. */
const OTHER_BOOK = /(?:^|\/)(?:manifest\.xml|objectdata\.xml|document\.iwa|index\.zip)$/i

/**
 * Throws if the file is not a workbook, or too large. The parts of an XLSX file are unpacked, so that their sizes are certain.
 * Returns the number of cells in the largest of them; 0 for XLS.
 */
async function checkWorkbook(bytes: Buffer): Promise<number> {
  refuseLargeBook(bytes.length, 'on disk')
  if (isXls(bytes)) return 0
  const parts = isZip(bytes) ? await listZip(bytes) : []
  const isOther = parts.some(({ path }) => OTHER_BOOK.test(path.replaceAll('\0', '')))
  if (isOther || !parts.some(({ path }) => path === XLSX_FILE)) throw new FileError('it is not a workbook')
  refuseLargeBook(
    parts.reduce((sum, part) => sum + part.bytes, 0),
    'unpacked',
  )
  let largest = 0
  for (const part of parts) largest = Math.max(largest, countPartCells(part.path, await unpack(part)))
  return largest
}

/** Reads the sheets of an I90 workbook, and turns an error of it into its fault. */
async function* readBook(file: string, getBytes: () => Promise<Buffer>, timeZone: string): AsyncGenerator<ArchiveFile> {
  try {
    const bytes = await getBytes()
    const largestCells = await checkWorkbook(bytes)
    const sheets = await readWorkbook(bytes, MAX_LINES, largestCells)
    for (const { name, ...sheet } of readI90(file, sheets, timeZone)) yield { file, sheet: name, ...sheet }
  } catch (error) {
    yield toFaulty(file, error)
  }
}

/** How the content of a file in a ZIP is read, judged by its name; null if it has no known layout. */
function formOf({ path, isRegular }: ZippedFile): 'rows' | 'workbook' | 'zip' | null {
  if (!isRegular || path.length > MAX_NAME_LENGTH) return null
  const file = baseName(path)
  if (I90_FILE.test(file)) return 'workbook'
  if (I90_ZIP.test(file)) return 'zip'
  return isJsonName(path) || textLayout(file) ? 'rows' : null
}

/** Throws ZipError if the files of a ZIP are too large together. */
function refuseTotal(files: readonly ZippedFile[]): void {
  const total = files.reduce((sum, file) => sum + file.bytes, 0)
  if (total > MAX_BYTES) throw new ZipError(`the files of the ZIP have ${total} bytes (limit ${MAX_BYTES})`)
}

/** Reads the I90 workbooks in a ZIP that lies in another one. */
async function* readInnerZip(file: string, bytes: Buffer, timeZone: string): AsyncGenerator<ArchiveFile> {
  const files = await listZip(bytes)
  const books = files.filter((inner) => formOf(inner) === 'workbook')
  refuseTotal(books)
  for (const [name, same] of Map.groupBy(books, ({ path }) => baseName(path)))
    yield* readBook(name, () => unpackOnly(same), timeZone)
  for (const inner of files) if (!books.includes(inner)) yield { file: `${file}/${baseName(inner.path)}` }
}

/** Reads a file of a ZIP. */
async function* readZipped(file: string, same: readonly ZippedFile[], timeZone: string): AsyncGenerator<ArchiveFile> {
  const form = formOf(same[0]!)
  if (form === 'rows') yield await readFile(file, () => unpackOnly(same))
  else if (form === 'workbook') yield* readBook(file, () => unpackOnly(same), timeZone)
  else
    try {
      yield* readInnerZip(file, await unpackOnly(same), timeZone)
    } catch (error) {
      yield toFaulty(file, error)
    }
}

/** Reads the files of a ZIP, one after the other. Throws ZipError if it is damaged or too large. */
async function* readZip(files: readonly ZippedFile[], timeZone: string): AsyncGenerator<ArchiveFile> {
  if (files.length === 0) throw new ZipError('the ZIP has no files')
  const known = files.filter((file) => formOf(file) !== null)
  refuseTotal(known)
  let rows = 0
  const stored = new Set<string>()
  for (const [file, same] of Map.groupBy(known, ({ path }) => baseName(path)))
    for await (const read of readZipped(file, same, timeZone)) {
      rows += (read.rows?.length ?? 0) + (read.i90Rows?.length ?? 0)
      if (rows > MAX_ROWS) throw new ZipError(`the files of the ZIP have more than ${MAX_ROWS} rows`)
      const key = `${read.file}/${read.sheet ?? ''}`
      if (stored.has(key)) throw new ZipError(`the ZIP has ${key} twice`)
      stored.add(key)
      yield read
    }
  for (const file of files) if (formOf(file) === null) yield { file: baseName(file.path) }
}

/**
 * Reads a downloaded archive: the file, or the files in a ZIP. `name`: its name at the service. `timeZone`: the zone of its days.
 * Throws ZipError.
 */
export async function* readArchive(name: string, bytes: Buffer, timeZone: string): AsyncGenerator<ArchiveFile> {
  const files = isZip(bytes) ? (await listZip(bytes)).filter(({ path }) => !path.endsWith('/')) : null
  const isXlsx = files?.some(({ path }) => path === XLSX_FILE)
  if (I90_ARCHIVE.test(name) && (isXlsx || isXls(bytes))) yield* readBook(name, async () => bytes, timeZone)
  else if (files) yield* readZip(files, timeZone)
  else
    yield await readFile(name, () => {
      const reason = findNotFile(bytes.length, bytes.toString('utf8', 0, MAX_MESSAGE_BYTES))
      if (reason !== null) throw new FileError(reason)
      return bytes
    })
}
