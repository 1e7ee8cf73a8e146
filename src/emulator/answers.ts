import { type ContentRoute, type RouteName, routeOf } from '../service/routes.ts'
import { archivesAnswer, archivesJsonAnswer } from './bodies/archives.ts'
import { contentAnswer } from './bodies/contents.ts'
import { catalogueAnswer, seriesAnswer } from './bodies/series.ts'
import { widgetAnswer, widgetsAnswer } from './bodies/widgets.ts'
import { isIllegal, isPath, type ParsedQuery, readQuery, TooMuchError } from './query.ts'
import { INDICATORS, OFFERS } from './world/indicators.ts'
import { scriptedSource } from './world/scripted.ts'
import { worldSource } from './world/valueSource.ts'
import type { World } from './world/world.ts'

/** An answer before it is serialized: a status with an object, or with JSON text. */
export interface EmulatedAnswer {
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

const refusedAnswer = (status: number, message: string): EmulatedAnswer => ({ status, body: { status, message } })
/** The answer where there is nothing. */
export const NOT_FOUND = refusedAnswer(404, 'Not found')
const FORBIDDEN: EmulatedAnswer = { status: 403, body: { Status: 403, message: 'Forbidden' } }

/** The answer of the gateway when the service takes too long. */
const TIMED_OUT: EmulatedAnswer = { status: 504, body: { message: 'Endpoint request timed out' } }

const answerSeries =
  (table: typeof INDICATORS, route: 'indicator' | 'offer_indicator'): Write =>
  (slots, query, world) => {
    const id = Number(slots.id)
    const script = world.scripts.find((row) => row.id === id && (row.kind ?? 'indicator') === route)
    const indicator = table.find((row) => row.id === id)
    const source = script ? scriptedSource(script, world) : indicator && worldSource(indicator, world)
    return source && seriesAnswer(source, query, world, route === 'indicator')
  }
const answerContent =
  (route: ContentRoute): Write =>
  (_slots, query, world) =>
    contentAnswer(route, query, world)

const WRITE: Readonly<Record<RouteName, Write>> = {
  indicators: (_slots, query, world) => catalogueAnswer(query, world),
  indicator: answerSeries(INDICATORS, 'indicator'),
  offer_indicator: answerSeries(OFFERS, 'offer_indicator'),
  documentations: answerContent('documentations'),
  static_pages: answerContent('static_pages'),
  glossaries: answerContent('glossaries'),
  news: answerContent('news'),
  archives: (_slots, query, world) => archivesAnswer(query, world),
  archives_json: (_slots, query, world) => archivesJsonAnswer(query, world),
  widgets: (_slots, query) => widgetsAnswer(query),
  widget: ({ id = '' }, query, world) => widgetAnswer(id, query, world),
}

/** Both versions are tolerated on every route, and so is no version at all; any other is not. */
function isAcceptable(accept = ''): boolean {
  const versions = [...accept.matchAll(/vnd\.[\w.-]+-v(\d+)/g)].map(([, version]) => version)
  return versions.length === 0 || versions.includes('1') || versions.includes('2')
}

/** Answers one request: checks the key, then the version, the path and the parameters. */
export function answer(
  { route, slots, search, key: given, accept }: IncomingRequest,
  key: string,
  world: World,
): EmulatedAnswer {
  if (given !== key && given !== `"${key}"`) return FORBIDDEN
  if (!isAcceptable(accept)) return refusedAnswer(406, `${routeOf(route).path} has no such version`)
  if (!isPath(route, slots)) return NOT_FOUND
  const query = readQuery(route, search)
  if (isIllegal(query)) return refusedAnswer(400, query.reason)
  try {
    const body = WRITE[route](slots, query, world)
    return body === undefined ? NOT_FOUND : { status: 200, body }
  } catch (error) {
    if (error instanceof TooMuchError) return TIMED_OUT
    throw error
  }
}
