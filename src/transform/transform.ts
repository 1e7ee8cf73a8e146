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
import { transformSeries, valueRules } from './transformSeries.ts'
import { transformWidgets } from './transformWidgets.ts'
import type { ParsedValues } from './values/collectValues.ts'
import { scanValues } from './values/scan.ts'

const LISTS: Readonly<Record<Exclude<Shape, 'series'>, (body: JsonObject, planned: PlannedRequest) => Rows>> = {
  catalogue: transformCatalogue,
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
  if (BOM.every((byte, i) => body[i] === byte)) return readBody(body.subarray(BOM.length), planned)
  const isSeries = declaredRoute(planned).shape === 'series'
  const scanned = isSeries ? scanValues(body, valueRules(planned)) : null
  if (scanned)
    try {
      return transformJson(scanned.rest, planned, scanned.values)
    } catch (error) {
      // Its paths and positions are those of the rest, not of the body.
      if (!(error instanceof SchemaError)) throw error
    }
  return transformJson(body, planned, null)
}

/** Transforms a reply by `JSON.parse`. `scanned`: the values that were taken out of it before. */
export function transformJson(body: Buffer, planned: PlannedRequest, scanned: ParsedValues | null): Rows {
  const { root, shape } = declaredRoute(planned)
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
  const rows = shape === 'series' ? transformSeries(parsed, planned, scanned) : LISTS[shape](parsed, planned)
  const repeating = rejects.done()
  return repeating.rejected === 0 ? rows : { ...rows, ...joinRejects(rows, repeating) }
}
