import type { AddressInfo } from 'node:net'
import { brotliCompressSync, constants } from 'node:zlib'
import { type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import { type ContentRoute, ROUTE_NAMES, type RouteName, routeOf } from '../api/routes.ts'
import type { Instant } from '../base/instant.ts'
import { archivesAnswer, archivesJsonAnswer } from './archives.ts'
import { catalogueAnswer } from './catalogue.ts'
import { contentAnswer } from './contents.ts'
import { INDICATORS, OFFERS } from './indicators.ts'
import { isIllegal, type Query, readQuery } from './query.ts'
import { type SeriesQuery, seriesAnswer } from './series.ts'
import { widgetAnswer, widgetsAnswer } from './widgets.ts'
import type { World } from './world.ts'

/** The key that the embedded service accepts unless it is given another one. */
export const EMULATOR_KEY = '0123456789abcdef'.repeat(4)

/** How an embedded service is set up. */
export interface EmulatorOptions {
  /** The same seed gives the same values. */
  readonly seed?: number
  /** The service's clock: an instant at which it stands still, or a function; the real clock when left out. */
  readonly now?: Instant | (() => Instant)
  /** 0 for any free port. */
  readonly port?: number
  readonly key?: string
  readonly historyRewrittenAt?: Instant
}

/** A request that was answered. */
export interface Served {
  readonly url: string
  readonly route: RouteName | null
  readonly status: number
  readonly key: string | undefined
  readonly accept: string | undefined
}

/** A running embedded service. */
export interface Emulator {
  readonly url: string
  readonly key: string
  /** Every request since it started, in order. */
  readonly served: readonly Served[]
  /** Sets its clock. */
  setNow(now: Instant): void
  close(): Promise<void>
}

/** What an answer is before it is written: a status with an object, or text that is JSON already. */
type Answer = { readonly status: number; readonly body: object | string }

const ok = (body: object | string): Answer => ({ status: 200, body })
const NOT_FOUND: Answer = { status: 404, body: { status: 404, message: 'Not found' } }

function series(table: typeof INDICATORS, id: string, query: Query, world: World, withGeo: boolean): Answer {
  const indicator = table.find((row) => String(row.id) === id)
  return indicator ? ok(seriesAnswer(indicator, query as unknown as SeriesQuery, world, withGeo)) : NOT_FOUND
}

const content =
  (route: ContentRoute) =>
  (_slots: Slots, query: Query, world: World): Answer =>
    ok(contentAnswer(route, query, world))

type Slots = Readonly<Record<string, string>>

/** What each route answers. */
const ANSWERS: Readonly<Record<RouteName, (slots: Slots, query: Query, world: World) => Answer>> = {
  indicators: (_slots, query) => ok(catalogueAnswer(query)),
  indicator: ({ id = '' }, query, world) => series(INDICATORS, id, query, world, true),
  offer_indicator: ({ id = '' }, query, world) => series(OFFERS, id, query, world, false),
  documentations: content('documentations'),
  static_pages: content('static_pages'),
  glossaries: content('glossaries'),
  news: content('news'),
  archives: (_slots, query, world) => ok(archivesAnswer(query, world)),
  archives_json: (_slots, query) => ok(archivesJsonAnswer(query)),
  widgets: (_slots, query) => ok(widgetsAnswer(query)),
  widget: ({ id = '' }, query, world) => {
    const body = widgetAnswer(id, query, world)
    return body ? ok(body) : NOT_FOUND
  },
}

const HEADERS = {
  'Content-Type': 'application/json; charset=utf-8',
  Vary: 'Accept-Encoding',
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': 'GET,POST,PUT,DELETE,HEAD',
  'Access-Control-Allow-Headers': 'Content-Type, Authorization, x-api-key, x-amz-date',
} as const

/** Decides one request: the key first, then the parameters, then the answer. */
function answer(route: RouteName, request: FastifyRequest, key: string, world: World): Answer {
  const given = request.headers['x-api-key']
  if (typeof given !== 'string' || given.replaceAll('"', '') !== key)
    return { status: 403, body: { Status: 403, message: 'Forbidden' } }
  const query = readQuery(route, new URL(request.url, 'http://localhost').searchParams)
  if (isIllegal(query)) return { status: 400, body: { status: 400, message: query.reason } }
  return ANSWERS[route](request.params as Slots, query, world)
}

/** Writes an answer, packed with brotli for clients that take it. */
function write(request: FastifyRequest, reply: FastifyReply, { status, body }: Answer): FastifyReply {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  reply.status(status).headers(HEADERS)
  if (!/\bbr\b/.test(request.headers['accept-encoding'] ?? '')) return reply.send(text)
  const packed = brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } })
  return reply.header('Content-Encoding', 'br').send(packed)
}

/** Starts an embedded copy of the service on this machine's loopback address. Its router comes from the registry of routes. */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const { seed = 1, port = 0, key = EMULATOR_KEY, historyRewrittenAt = Number.POSITIVE_INFINITY } = options
  let now = options.now ?? (() => Math.floor(Date.now() / 1000))
  const served: Served[] = []
  const app = fastify({ forceCloseConnections: true, routerOptions: { maxParamLength: 200 } })
  const note = (request: FastifyRequest, route: RouteName | null, status: number) =>
    served.push({
      url: request.url,
      route,
      status,
      key: request.headers['x-api-key'] as string | undefined,
      accept: request.headers.accept,
    })
  for (const route of ROUTE_NAMES)
    app.get(routeOf(route).path.replaceAll(/\{(\w+)\}/g, ':$1'), async (request, reply) => {
      const world: World = { seed, now: typeof now === 'function' ? now() : now, historyRewrittenAt }
      const decided = answer(route, request, key, world)
      note(request, route, decided.status)
      return write(request, reply, decided)
    })
  app.setNotFoundHandler((request, reply) => {
    note(request, null, 404)
    return write(request, reply, NOT_FOUND)
  })
  await app.listen({ host: '127.0.0.1', port })
  return {
    url: `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`,
    key,
    served,
    setNow: (at) => {
      now = at
    },
    close: () => app.close(),
  }
}
