import type { Rows } from '../db/tables/rows.ts'
import { declaredRoute, type PlannedRequest } from '../job/plannedRequest.ts'
import type { Shape } from '../service/routes.ts'
import { SchemaError } from '../util/errors.ts'
import { isObject, type JsonObject, parseJson } from '../util/json.ts'
import { oneLine } from '../util/text.ts'
import { measureBody, refuseFlood } from './flood.ts'
import { collectRejects, joinRejects } from './rejects.ts'
import { replaceRepeating } from './repeatedKeys.ts'
import { transformArchives } from './transformArchives.ts'
import { transformCatalogue } from './transformCatalogue.ts'
import { transformContents } from './transformContents.ts'
import { transformSeries } from './transformSeries.ts'
import { transformWidgets } from './transformWidgets.ts'

const BY_SHAPE: Readonly<Record<Shape, (body: JsonObject, planned: PlannedRequest) => Rows>> = {
  catalogue: transformCatalogue,
  series: transformSeries,
  content: transformContents,
  archives: transformArchives,
  widgets: transformWidgets,
}

/** Transforms a reply into rows and rejects. Throws SchemaError if the body has no rows at all. */
export function transform(body: Buffer, planned: PlannedRequest): Rows {
  try {
    return readBody(body, planned)
  } catch (error) {
    if (error instanceof RangeError)
      throw new SchemaError('The body is nested too deeply.', { path: '$', cause: error })
    throw error
  }
}

/** The byte order mark of UTF-8. */
const BOM = [0xef, 0xbb, 0xbf]

function readBody(body: Buffer, planned: PlannedRequest): Rows {
  const { root, shape } = declaredRoute(planned)
  if (BOM.every((byte, i) => body[i] === byte)) return readBody(body.subarray(BOM.length), planned)
  const size = measureBody(body)
  refuseFlood(size)
  let parsed: unknown
  try {
    parsed = parseJson(body)
  } catch (error) {
    throw new SchemaError(`The body is not JSON: ${oneLine((error as Error).message)}.`, { path: '$', cause: error })
  }
  const rejects = collectRejects()
  if (isObject(parsed) || Array.isArray(parsed)) replaceRepeating(body, size, parsed, rejects)
  // A listing may come without its envelope.
  if (Array.isArray(parsed) && shape !== 'series') parsed = { [root]: parsed }
  if (!isObject(parsed)) throw new SchemaError('The body is not a JSON object.', { path: '$' })
  if (!(root in parsed) && typeof parsed.message === 'string')
    throw new SchemaError(`The service sent a message instead of data: ${oneLine(parsed.message).slice(0, 500)}`, {
      path: '$.message',
    })
  const rows = BY_SHAPE[shape](parsed, planned)
  const repeating = rejects.done()
  return repeating.rejected === 0 ? rows : { ...rows, ...joinRejects(rows, repeating) }
}
