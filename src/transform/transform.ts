import type { Rows } from '../db/tables/rows.ts'
import { declaredRoute, type PlannedRequest } from '../job/plannedRequest.ts'
import type { Shape } from '../service/routes.ts'
import { SchemaError } from '../util/errors.ts'
import { isObject, type JsonObject, parseJson } from '../util/json.ts'
import { oneLine } from '../util/text.ts'
import { transformArchives } from './archives.ts'
import { transformCatalogue } from './catalogue.ts'
import { transformContents } from './contents.ts'
import { bounded, refuseFlood } from './flood.ts'
import { transformSeries } from './series.ts'
import { scan } from './values/scan.ts'
import { transformWidgets } from './widgets.ts'

const BY_SHAPE: Readonly<Record<Shape, (body: JsonObject, planned: PlannedRequest) => Rows>> = {
  catalogue: transformCatalogue,
  series: transformSeries,
  content: transformContents,
  archives: transformArchives,
  widgets: transformWidgets,
}

/** Reply → rows and rejects. Throws SchemaError when no row at all can be made of the body. */
export function transform(body: Buffer, planned: PlannedRequest): Rows {
  try {
    return readBody(body, planned)
  } catch (error) {
    if (error instanceof RangeError)
      throw new SchemaError('The body is nested too deeply.', { path: '$', cause: error })
    throw error
  }
}

/** Kinds of bodies that are not JSON, by their first bytes. */
const SIGNATURES: readonly { readonly bytes: readonly number[]; readonly says: string }[] = [
  { bytes: [0xff, 0xfe], says: 'UTF-16 instead of UTF-8' },
  { bytes: [0xfe, 0xff], says: 'UTF-16 instead of UTF-8' },
  { bytes: [0x7b, 0], says: 'UTF-16 instead of UTF-8' },
  { bytes: [0, 0x7b], says: 'UTF-16 instead of UTF-8' },
  { bytes: [0x50, 0x4b, 3, 4], says: 'a ZIP file' },
  { bytes: [0x1f, 0x8b], says: 'gzip data without a Content-Encoding header' },
  { bytes: [0x28, 0xb5, 0x2f, 0xfd], says: 'zstd data without a Content-Encoding header' },
  { bytes: [0x25, 0x50, 0x44, 0x46], says: 'a PDF file' },
]

/** The error for a body that is not JSON: what it is, or the parser's message, in one line. */
function notJson(body: Buffer, error: unknown): SchemaError {
  const signature = SIGNATURES.find(({ bytes }) => bytes.every((byte, i) => body[i] === byte))
  const message = oneLine((error as Error).message)
  return new SchemaError(`The body is not JSON: ${signature ? `it is ${signature.says}` : message}.`, {
    path: '$',
    cause: error,
  })
}

/** The byte order mark that some programs put before UTF-8. */
const BOM = [0xef, 0xbb, 0xbf]

function readBody(body: Buffer, planned: PlannedRequest): Rows {
  const { root, shape } = declaredRoute(planned)
  if (BOM.every((byte, i) => body[i] === byte)) return readBody(body.subarray(BOM.length), planned)
  if (shape === 'series') {
    const scanned = scan(body, planned.window, root)
    if (scanned) return transformSeries(scanned.rest, planned, scanned.values)
  }
  refuseFlood(body)
  let parsed: unknown
  try {
    parsed = parseJson(body)
  } catch (error) {
    throw notJson(body, error)
  }
  // A listing may come without its envelope.
  if (Array.isArray(parsed) && shape !== 'series') parsed = { [root]: parsed }
  if (!isObject(parsed)) throw new SchemaError('The body is not a JSON object.', { path: '$' })
  if (!(root in parsed) && typeof parsed.message === 'string')
    throw new SchemaError(`The service sent a message instead of data: ${oneLine(parsed.message).slice(0, 500)}`, {
      path: '$.message',
    })
  return bounded(BY_SHAPE[shape](parsed, planned))
}
