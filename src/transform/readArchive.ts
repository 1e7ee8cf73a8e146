import type { archive_row } from '../db/tables/content.ts'
import type { RowOf } from '../db/tables/declare.ts'
import { FileError, JSON_LAYOUTS, TEXT_LAYOUTS, type TextLayout } from '../service/archiveLayouts.ts'
import { isObject, refuseDeep } from '../util/json.ts'
import { isZip, listZip, ZipError, type ZippedFile } from '../util/zip.ts'
import { measureBody, refuseFlood } from './flood.ts'

type Row = Omit<RowOf<typeof archive_row>, 'kind' | 'id' | 'date'>

/** A file of an archive: its rows, or why it cannot be loaded, or neither if it has no known layout. */
export interface ArchiveFile {
  readonly file: string
  readonly rows?: readonly Row[]
  readonly fault?: { readonly line: number | null; readonly reason: string }
}

/** Limits of an archive. A settlement has 30 MB in several hundred files of at most 3,000 lines, compressed to a tenth. */
const MAX_BYTES = 200_000_000
const MAX_FILE_BYTES = 32_000_000
const MAX_RATIO = 500
/** A smaller file is never refused for its ratio. */
const HARMLESS_BYTES = 1_000_000
const MAX_ROWS = 2_000_000
/** Of a text, or rows of JSON. */
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

/** Reads a file, and turns an error of it into its fault. */
async function readFile(file: string, getBytes: () => Buffer | Promise<Buffer>): Promise<ArchiveFile> {
  try {
    const rows = readRows(file, await getBytes())
    return rows === null ? { file } : { file, rows }
  } catch (error) {
    const line = error instanceof FileError ? error.line : null
    return { file, fault: { line, reason: (error as Error).message } }
  }
}

/** Unpacks a file of a ZIP. */
async function unpack({ bytes, packedBytes, read }: ZippedFile): Promise<Buffer> {
  refuseLarge(bytes)
  if (bytes > HARMLESS_BYTES && bytes > packedBytes * MAX_RATIO)
    throw new FileError(`it is compressed to less than 1/${MAX_RATIO} of its ${bytes} bytes`)
  const pieces: Buffer[] = []
  for await (const piece of read()) pieces.push(piece)
  return Buffer.concat(pieces)
}

/** Unpacks the only file of a name. Rows are stored by the name without folders. */
function unpackOnly([file, ...others]: readonly ZippedFile[]): Promise<Buffer> {
  if (others.length === 0) return unpack(file!)
  throw new FileError(`the ZIP has it in several folders: ${[file!, ...others].map(({ path }) => path).join(', ')}`)
}

/** Whether the content of a file in a ZIP may be rows, judged by its name. */
const mayHaveRows = ({ path, isRegular }: ZippedFile): boolean =>
  isRegular && path.length <= MAX_NAME_LENGTH && (isJsonName(path) || textLayout(baseName(path)) !== undefined)

/** Reads the files of a ZIP, one after the other. Throws ZipError if it is damaged or too large. */
async function* readZip(bytes: Buffer): AsyncGenerator<ArchiveFile> {
  const files = (await listZip(bytes)).filter(({ path }) => !path.endsWith('/'))
  if (files.length === 0) throw new ZipError('the ZIP has no files')
  const known = files.filter(mayHaveRows)
  const total = known.reduce((sum, file) => sum + file.bytes, 0)
  if (total > MAX_BYTES) throw new ZipError(`the files of the ZIP have ${total} bytes (limit ${MAX_BYTES})`)
  let rows = 0
  for (const [file, same] of Map.groupBy(known, ({ path }) => baseName(path))) {
    const read = await readFile(file, () => unpackOnly(same))
    rows += read.rows?.length ?? 0
    if (rows > MAX_ROWS) throw new ZipError(`the files of the ZIP have more than ${MAX_ROWS} rows`)
    yield read
  }
  for (const file of files) if (!mayHaveRows(file)) yield { file: baseName(file.path) }
}

/** Reads a downloaded archive: the file, or the files in a ZIP. `name`: its name at the service. Throws ZipError. */
export async function* readArchive(name: string, bytes: Buffer): AsyncGenerator<ArchiveFile> {
  if (isZip(bytes)) yield* readZip(bytes)
  else yield await readFile(name, () => bytes)
}
