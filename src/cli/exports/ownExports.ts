import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { parquetMetadata } from 'hyparquet'
import { headOf } from '../../base/files/target.ts'
import { SERIES_COLUMN_NAMES } from '../../products/export.ts'

/** A longer header is not one of this program. */
const HEADER_BYTES = 1 << 20

/** Columns with which long exports begin, as they were and as they are. */
const LONG_HEADERS = [
  SERIES_COLUMN_NAMES,
  ['indicator_id', 'indicator_name', 'time_trunc', 'time_agg', 'geo_id', 'geo_name'],
]
const TIME_HEADERS = [['at_utc', 'at_local'], ['at_utc'], ['at_local']]
/** A column of a wide export. */
const WIDE = /^(offer_)?\d+_\d+(_[a-z0-9]+)*$/

const startsWith = (names: readonly string[], with_: readonly string[]): boolean =>
  with_.every((name, i) => names[i] === name)

/** Whether columns are those of an export of values; a statement may have any columns. */
function isOurHeader(names: readonly string[]): boolean {
  for (const times of TIME_HEADERS) {
    if (LONG_HEADERS.some((long) => names.join() === [...long, ...times, 'step_s', 'value'].join())) return true
    if (startsWith(names, times) && names.length > times.length && names.slice(times.length).every((n) => WIDE.test(n)))
      return true
  }
  return false
}

/** The first line of a text file; null when it has none that is short enough. */
function firstLine(file: string): string | null {
  const text = headOf(file, HEADER_BYTES)
    .toString('utf8')
    .replace(/^\uFEFF/, '')
  const end = text.indexOf('\n')
  return end === -1 ? null : text.slice(0, end).replace(/\r$/, '')
}

/** The names of a header; none of ours needs quotes. */
const headerNames = (line: string): string[] => line.split(line.includes(';') ? ';' : ',')

function jsonKeys(line: string): string[] {
  try {
    const parsed: unknown = JSON.parse(line)
    return parsed && typeof parsed === 'object' ? Object.keys(parsed) : []
  } catch {
    return []
  }
}

/** The program that made a Parquet file, as the file names it; empty when it is not a Parquet file. */
function makerOf(file: string): string {
  const { size } = statSync(file)
  if (size < 12 || headOf(file, 4).toString('latin1') !== 'PAR1') return ''
  const handle = openSync(file, 'r')
  try {
    const end = Buffer.alloc(8)
    readSync(handle, end, 0, 8, size - 8)
    const length = end.readUInt32LE(0) + 8
    if (end.toString('latin1', 4) !== 'PAR1' || length > size) return ''
    const footer = new Uint8Array(length)
    readSync(handle, footer, 0, length, size - length)
    return parquetMetadata(footer.buffer).created_by ?? ''
  } catch {
    return ''
  } finally {
    closeSync(handle)
  }
}

/** How a file of each form is known to be an export of this program. An empty one is an export without rows. */
export const IS_OWN_EXPORT = {
  csv: (file) => isOurHeader(headerNames(firstLine(file) ?? '')),
  tsv: (file) => firstLine(file)?.includes('\t') === true && isOurHeader(firstLine(file)!.split('\t')),
  ndjson: (file) => statSync(file).size === 0 || isOurHeader(jsonKeys(firstLine(file) ?? '')),
  parquet: (file) => makerOf(file).startsWith('indicator-sync '),
} as const satisfies Record<string, (file: string) => boolean>
