import { type ContentRoute, type RouteName, routeOf } from '../service/routes.ts'
import { archivesBody, archivesJsonBody } from './bodies/archivesBody.ts'
import { contentBody } from './bodies/contentBody.ts'
import { catalogueBody, seriesBody } from './bodies/seriesBody.ts'
import { widgetBody, widgetsBody } from './bodies/widgetBody.ts'
import { isIllegal, isPath, type ParsedQuery, RequestTooLargeError, readQuery } from './parseQuery.ts'
import { INDICATORS, OFFERS } from './world/indicators.ts'
import { scriptedSource } from './world/scripted.ts'
import { worldSource } from './world/valueSource.ts'
import type { World } from './world/world.ts'

/** A response before it is serialized: a status with an object, or with JSON text. */
export interface EmulatedResponse {
  readonly status: number
  readonly body: object | string
}

/** A request of a known route, without HTTP. */
export interface IncomingRequest {
  readonly route: RouteName
  /** The parts of the path, by name. */
  readonly slots: Slots
  readonly search: URLSearchParams
  readonly key: string | undefined
  readonly accept: string | undefined
}

type Slots = Readonly<Record<string, string>>
type Write = (slots: Slots, query: ParsedQuery, world: World) => object | string | undefined

const refusal = (status: number, message: string): EmulatedResponse => ({ status, body: { status, message } })
/** The response for an unknown path or item. */
export const NOT_FOUND = refusal(404, 'Not found')
/** The response to a wrong key. */
export const FORBIDDEN: EmulatedResponse = { status: 403, body: { Status: 403, message: 'Forbidden' } }

/** The response of the gateway if the service takes too long. */
const TIMED_OUT: EmulatedResponse = { status: 504, body: { message: 'Endpoint request timed out' } }

const seriesWriter =
  (table: typeof INDICATORS, route: 'indicator' | 'offer_indicator'): Write =>
  (slots, query, world) => {
    const id = Number(slots.id)
    const script = world.scripts.find((row) => row.id === id && (row.kind ?? 'indicator') === route)
    const indicator = table.find((row) => row.id === id)
    const source = script ? scriptedSource(script, world) : indicator && worldSource(indicator, world)
    return source && seriesBody(source, query, world, route === 'indicator')
  }
const contentWriter =
  (route: ContentRoute): Write =>
  (_slots, query, world) =>
    contentBody(route, query, world)

const WRITE: Readonly<Record<RouteName, Write>> = {
  indicators: (_slots, query, world) => catalogueBody(query, world),
  indicator: seriesWriter(INDICATORS, 'indicator'),
  offer_indicator: seriesWriter(OFFERS, 'offer_indicator'),
  documentations: contentWriter('documentations'),
  static_pages: contentWriter('static_pages'),
  glossaries: contentWriter('glossaries'),
  news: contentWriter('news'),
  archives: (_slots, query, world) => archivesBody(query, world),
  archives_json: (_slots, query, world) => archivesJsonBody(query, world),
  widgets: (_slots, query) => widgetsBody(query),
  widget: ({ id = '' }, query, world) => widgetBody(id, query, world),
}

/** Every route accepts both versions, and requests without a version. */
function isAcceptable(accept = ''): boolean {
  const versions = [...accept.matchAll(/vnd\.[\w.-]+-v(\d+)/g)].map(([, version]) => version)
  return versions.length === 0 || versions.includes('1') || versions.includes('2')
}

/** Whether a request has the key, bare or in quotes. */
export const isKey = (sent: string | undefined, key: string): boolean => sent === key || sent === `"${key}"`

/** Responds to a request: checks the key, then the version, the path and the parameters. */
export function respond(
  { route, slots, search, key: sentKey, accept }: IncomingRequest,
  key: string,
  world: World,
): EmulatedResponse {
  if (!isKey(sentKey, key)) return FORBIDDEN
  if (!isAcceptable(accept)) return refusal(406, `${routeOf(route).path} has no such version`)
  if (!isPath(route, slots)) return NOT_FOUND
  const query = readQuery(route, search)
  if (isIllegal(query)) return refusal(400, query.reason)
  try {
    const body = WRITE[route](slots, query, world)
    return body === undefined ? NOT_FOUND : { status: 200, body }
  } catch (error) {
    if (error instanceof RequestTooLargeError) return TIMED_OUT
    throw error
  }
}
