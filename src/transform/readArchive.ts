import { parse } from 'csv-parse/sync'
import { unzipSync } from 'fflate'
import type { archive_row } from '../db/tables/content.ts'
import type { RowOf } from '../db/tables/declare.ts'
import { ARCHIVE_LAYOUTS, type ArchiveLayout } from '../service/archiveLayouts.ts'
import { isObject, type JsonObject } from '../util/json.ts'

type Row = Omit<RowOf<typeof archive_row>, 'kind' | 'id' | 'date'>

/** A file of an archive with its rows; null if it has no known layout. */
export interface ArchiveFileRows {
  readonly file: string
  readonly rows: readonly Row[] | null
}

/** Larger files in a ZIP are skipped. */
const MAX_BYTES = 200_000_000

/** Decodes a text, which is Latin-1 if it is not UTF-8. */
function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return new TextDecoder('latin1').decode(bytes)
  }
}

/** The cells of a row of JSON; those of `keys` come first. */
const toCells = (item: JsonObject, keys: readonly string[]): unknown[] => [
  ...keys.map((key) => item[key]),
  ...Object.entries(item).flatMap(([key, cell]) => (keys.includes(key) ? [] : [cell])),
]

function readJson(file: string, text: string): readonly Row[] | null {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return null
  }
  for (const { name: layout, root = '', keys = [], accepts } of ARCHIVE_LAYOUTS) {
    const items = isObject(body) ? body[root] : undefined
    const isRow = (item: unknown): item is JsonObject =>
      isObject(item) && Object.keys(item).every((key) => /^\w+$/.test(key)) && accepts(toCells(item, keys), file)
    if (Array.isArray(items) && items.every(isRow))
      return items.map((item, i) => ({ file, line: i + 1, layout, columns: JSON.stringify(item) }))
  }
  return null
}

function readText(file: string, text: string, { name: layout, headLines = 0, accepts }: ArchiveLayout): Row[] | null {
  const options = { delimiter: ';', relax_column_count: true, relax_quotes: true, skip_empty_lines: false, trim: true }
  const lines = (parse(text, options) as string[][]).map((cells) =>
    cells.slice(0, cells.findLastIndex((cell) => cell !== '') + 1),
  )
  const rows = lines.flatMap((cells, i) => (i < headLines || cells.length === 0 ? [] : [{ line: i + 1, cells }]))
  return rows.every(({ cells }) => accepts(cells, file))
    ? rows.map(({ line, cells }) => ({ file, line, layout, columns: JSON.stringify(cells) }))
    : null
}

const baseName = (path: string): string => path.split('/').at(-1)!
const textLayout = (path: string) => ARCHIVE_LAYOUTS.find(({ files }) => files?.test(baseName(path)))

function readFile(path: string, bytes: Uint8Array): ArchiveFileRows {
  const [file, layout] = [baseName(path), textLayout(path)]
  if (layout) return { file, rows: readText(file, decode(bytes), layout) }
  // Workbooks and PDF may be large, so only what may be JSON is decoded.
  const mayBeJson = new TextDecoder().decode(bytes.subarray(0, 64)).trimStart().startsWith('{')
  return { file, rows: mayBeJson ? readJson(file, decode(bytes)) : null }
}

/** Reads a downloaded archive: the file, or the files in a ZIP. `name`: its name at the service. Throws if a ZIP is damaged. */
export function* readArchive(name: string, bytes: Uint8Array): Generator<ArchiveFileRows> {
  const isZip = bytes[0] === 0x50 && bytes[1] === 0x4b
  if (!isZip) return yield readFile(name, bytes)
  const skipped: string[] = []
  const files = unzipSync(bytes, {
    filter: ({ name: path, originalSize }) => {
      const isRead = originalSize <= MAX_BYTES && (textLayout(path) !== undefined || /\.json$/i.test(path))
      if (!isRead && !path.endsWith('/')) skipped.push(baseName(path))
      return isRead
    },
  })
  for (const [path, body] of Object.entries(files)) yield readFile(path, body)
  for (const file of skipped) yield { file, rows: null }
}
