import { createServer, type Server } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { brotliCompressSync, constants } from 'node:zlib'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { type Context, Hono } from 'hono'
import type { StatusCode } from 'hono/utils/http-status'
import { ROUTE_NAMES, type RouteName, routeOf } from '../service/routes.ts'
import { isDecodable } from '../util/listen.ts'
import type { Instant } from '../util/time/instant.ts'
import { isArchive } from './bodies/archivesBody.ts'
import { type Faults, spoil } from './faults.ts'
import { type EmulatedResponse, FORBIDDEN, isKey, NOT_FOUND, respond } from './responses.ts'
import { STORAGE_PATH, storageResponse, storageUrl } from './storage.ts'
import type { World } from './world/world.ts'

/** A request with its response. */
export interface RequestLogEntry {
  /** The service's clock at the response. */
  readonly at: Instant
  /** The HTTP method. */
  readonly method: string
  /** Path and query as received. */
  readonly url: string
  /** Null for a path without a route. */
  readonly route: RouteName | null
  /** The HTTP status of the response. */
  readonly status: number
  /** Bytes of the body as sent. */
  readonly bytes: number
  /** Milliseconds from the request to the response. */
  readonly ms: number
  /** The body before compression, if bodies are kept. */
  readonly body?: string
}

/** The settings of a server. */
export interface ServerSettings {
  readonly key: string
  readonly latencyMs: number
  readonly keepBodies: boolean
  /** The faults to inject. */
  readonly faults: Faults
  readonly world: () => World
  readonly note: (entry: RequestLogEntry) => void
}

const RESPONSE_HEADERS = {
  'Content-Type': 'application/json; charset=utf-8',
  Vary: 'Accept-Encoding',
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': 'GET,POST,PUT,DELETE,HEAD',
  'Access-Control-Allow-Headers': 'Content-Type, Authorization, x-api-key, x-amz-date',
} as const

/** How long an idle connection stays open: longer than a client waits between two requests. */
const KEEP_ALIVE_MS = 72_000

const UNREADABLE: EmulatedResponse = { status: 400, body: { status: 400, message: 'Bad request' } }
const BROKEN: EmulatedResponse = { status: 500, body: { status: 500, message: 'Internal server error' } }

interface Environment {
  readonly Bindings: HttpBindings
  readonly Variables: { began: number }
}

/** A response ready to be sent. Texts are compressed if the client accepts that. */
interface ReadyResponse {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string | Uint8Array<ArrayBuffer> | ReadableStream
}

const asText = ({ status, body }: EmulatedResponse) => ({
  status,
  body: typeof body === 'string' ? body : JSON.stringify(body),
})

const takesBrotli = (codings = ''): boolean =>
  codings.split(',').some((coding) => /^\s*br\s*(;|$)/.test(coding) && !/q=0(\.0*)?\s*$/.test(coding))

const compressed = (text: string): Uint8Array<ArrayBuffer> =>
  brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } })

/** Builds a server with the declared routes. It does not listen yet. */
export function buildEmulatorServer({ key, latencyMs, keepBodies, faults, world, note }: ServerSettings): Server {
  const app = new Hono<Environment>()

  function send(c: Context<Environment>, route: RouteName | null, sent: ReadyResponse): Response {
    const { status = 200, headers, body } = sent
    const isCompressed = typeof body === 'string' && takesBrotli(c.req.header('accept-encoding'))
    const payload = isCompressed ? compressed(body) : body
    note({
      at: world().now,
      method: c.req.method,
      url: c.env.incoming.url!,
      route,
      status,
      bytes: payload instanceof ReadableStream ? 0 : Buffer.byteLength(payload),
      ms: performance.now() - c.get('began'),
      ...(keepBodies && typeof body === 'string' ? { body } : {}),
    })
    return c.newResponse(status === 304 ? null : payload, status as StatusCode, {
      ...RESPONSE_HEADERS,
      ...headers,
      ...(isCompressed ? { 'Content-Encoding': 'br' } : {}),
    })
  }

  app.use(async (c, next) => {
    c.set('began', performance.now())
    return isDecodable(c.env.incoming.url!) ? next() : send(c, null, asText(UNREADABLE))
  })
  for (const route of ROUTE_NAMES)
    app.get(routeOf(route).path.replaceAll(/\{(\w+)\}/g, ':$1'), async (c) => {
      if (latencyMs > 0) await wait(latencyMs)
      const slots: Readonly<Record<string, string>> = c.req.param()
      const fault = faults.next(route, slots.id)
      const search = new URL(c.req.url).searchParams
      const incoming = { route, slots, search, key: c.req.header('x-api-key'), accept: c.req.header('accept') }
      const good = asText(respond(incoming, key, world()))
      if (!fault || good.status !== 200) return send(c, route, good)
      const spoiled = await spoil(fault, good.body)
      if (spoiled) return send(c, route, spoiled)
      c.env.outgoing.destroy()
      return RESPONSE_ALREADY_SENT
    })
  for (const path of ['/archives/:id/download', '/archives/:id/download_json'])
    app.get(path, (c) => {
      const id = c.req.param('id') ?? ''
      if (!isKey(c.req.header('x-api-key'), key)) return send(c, null, asText(FORBIDDEN))
      if (!isArchive(id)) return send(c, null, asText(NOT_FOUND))
      const location = storageUrl(c.req.header('host') ?? '', id)
      return send(c, null, { status: 307, headers: { Location: location }, body: '' })
    })
  app.get(`${STORAGE_PATH}/:id`, (c) =>
    send(c, null, {
      ...storageResponse(c.req.param('id'), c.req.header('x-api-key')),
      headers: { 'Content-Type': 'text/plain' },
    }),
  )
  app.notFound((c) => send(c, null, asText(NOT_FOUND)))
  app.onError((_error, c) => send(c, null, asText(BROKEN)))
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false })
  return createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, listener)
}
