import { isAscii } from 'node:buffer'
import { routeOf, type Shape } from '../api/routes.ts'
import { release } from '../base/bytes.ts'
import { ShapeError } from '../base/errors.ts'
import { isObject, type JsonObject } from '../base/json.ts'
import { decompress, type Packed, restore } from '../base/pack.ts'
import type { Ask } from '../job/ask.ts'
import type { Rows } from '../tables/rows.ts'
import { transformArchives } from './archives.ts'
import { transformCatalogue } from './catalogue.ts'
import { scanColumns } from './columns.ts'
import { transformContents } from './contents.ts'
import { scan } from './scan.ts'
import { transformSeries } from './series.ts'
import { transformWidgets } from './widgets.ts'

const BY_SHAPE: Readonly<Record<Shape, (body: JsonObject, ask: Ask) => Rows>> = {
  catalogue: transformCatalogue,
  series: transformSeries,
  content: transformContents,
  archives: transformArchives,
  widgets: transformWidgets,
}

/** Reply → rows and rejects. Throws ShapeError when no row at all can be made of the body. */
export function transform(body: Buffer, ask: Ask): Rows {
  try {
    return read(body, ask)
  } catch (error) {
    // The stack is the one thing that a small body can exhaust.
    if (error instanceof RangeError)
      throw new ShapeError('The body is nested too deeply to be read.', { path: '$', cause: error })
    throw error
  }
}

/** The same of a body of `size` bytes as it lies on the tape. */
export function transformPacked(packed: Packed, size: number, ask: Ask): Rows {
  const arranged = decompress(packed)
  if (arranged.form === 'columns' && routeOf(ask.route).shape === 'series') {
    const scanned = scanColumns(arranged.bytes, ask.window)
    if (scanned) return transformSeries(scanned.rest, ask, scanned.values)
  }
  const body = restore(arranged, size)
  try {
    return transform(body, ask)
  } finally {
    release(body)
  }
}

function read(body: Buffer, ask: Ask): Rows {
  const { root, shape } = routeOf(ask.route)
  if (shape === 'series') {
    const scanned = scan(body, ask.window)
    if (scanned) return transformSeries(scanned.rest, ask, scanned.values)
  }
  let parsed: unknown
  try {
    // Bytes are text faster as Latin-1, and every byte below 128 means the same in it.
    parsed = JSON.parse(isAscii(body) ? body.toString('latin1') : body.toString('utf8'))
  } catch (error) {
    throw new ShapeError(`The body is no JSON: ${(error as Error).message}.`, { path: '$', cause: error })
  }
  // A listing may come without its envelope.
  if (Array.isArray(parsed) && shape !== 'series') parsed = { [root]: parsed }
  if (!isObject(parsed)) throw new ShapeError('The body is no JSON object.', { path: '$' })
  if (!(root in parsed) && typeof parsed.message === 'string')
    throw new ShapeError(`The service answered with a message: ${parsed.message}`, { path: '$.message' })
  return BY_SHAPE[shape](parsed, ask)
}
