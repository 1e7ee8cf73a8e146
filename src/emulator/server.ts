import { setTimeout as wait } from 'node:timers/promises'
import { brotliCompressSync, constants } from 'node:zlib'
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import type { Instant } from '../base/time/instant.ts'
import { ROUTE_NAMES, type RouteName, routeOf } from '../services/routes.ts'
import { answer, type EmulatedAnswer, NOT_FOUND } from './answers.ts'
import { type Faults, spoil } from './faults.ts'
import type { World } from './world/world.ts'

/** A request that was answered. */
export interface RequestLogEntry {
  /** The service's clock when it was answered. */
  readonly at: Instant
  readonly method: string
  /** Path and query as received. */
  readonly url: string
  /** Null for a path without a route. */
  readonly route: RouteName | null
  readonly status: number
  /** Bytes of the body as sent. */
  readonly bytes: number
  /** Milliseconds from its coming to its answer. */
  readonly ms: number
  /** The body before it was packed, where bodies are kept. */
  readonly body?: string
}

/** The settings of a server. */
export interface ServerSettings {
  readonly key: string
  readonly latencyMs: number
  readonly keepBodies: boolean
  /** The fault that a request meets, if any. */
  readonly faults: Faults
  readonly world: () => World
  readonly note: (entry: RequestLogEntry) => void
}

const ANSWER_HEADERS = {
  'Content-Type': 'application/json; charset=utf-8',
  Vary: 'Accept-Encoding',
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': 'GET,POST,PUT,DELETE,HEAD',
  'Access-Control-Allow-Headers': 'Content-Type, Authorization, x-api-key, x-amz-date',
} as const

const UNREADABLE: EmulatedAnswer = { status: 400, body: { status: 400, message: 'Bad request' } }
const BROKEN: EmulatedAnswer = { status: 500, body: { status: 500, message: 'Internal server error' } }

const sendEmulated = (reply: FastifyReply, { status, body }: EmulatedAnswer): FastifyReply =>
  reply
    .status(status)
    .headers(ANSWER_HEADERS)
    .send(typeof body === 'string' ? body : JSON.stringify(body))

const headerOf = (request: FastifyRequest, name: string): string | undefined => {
  const value = request.headers[name]
  return typeof value === 'string' ? value : undefined
}

const takesBrotli = (request: FastifyRequest): boolean =>
  (headerOf(request, 'accept-encoding') ?? '')
    .split(',')
    .some((coding) => /^\s*br\s*(;|$)/.test(coding) && !/q=0(\.0*)?\s*$/.test(coding))

const routeAt = (request: FastifyRequest): RouteName | null =>
  (request.routeOptions.config as { readonly route?: RouteName }).route ?? null

/** Builds a server of all routes that does not listen yet. Its router is made from the declared routes. */
export function buildEmulatorServer({
  key,
  latencyMs,
  keepBodies,
  faults,
  world,
  note,
}: ServerSettings): FastifyInstance {
  const app = fastify({
    forceCloseConnections: true,
    routerOptions: { maxParamLength: 200 },
    // An address that cannot be decoded has no route.
    frameworkErrors: (_error, _request, reply) => sendEmulated(reply, UNREADABLE),
  })
  app.addHook('onSend', async (request, reply, payload) => {
    const packed =
      typeof payload === 'string' && takesBrotli(request)
        ? brotliCompressSync(payload, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } })
        : payload
    if (packed !== payload) reply.header('Content-Encoding', 'br')
    note({
      at: world().now,
      method: request.method,
      url: request.url,
      route: routeAt(request),
      status: reply.statusCode,
      bytes: typeof packed === 'string' || Buffer.isBuffer(packed) ? Buffer.byteLength(packed) : 0,
      ms: reply.elapsedTime,
      ...(keepBodies && typeof payload === 'string' ? { body: payload } : {}),
    })
    return packed
  })
  for (const route of ROUTE_NAMES)
    app.get(routeOf(route).path.replaceAll(/\{(\w+)\}/g, ':$1'), { config: { route } }, async (request, reply) => {
      if (latencyMs > 0) await wait(latencyMs)
      const incoming = {
        route,
        slots: request.params as Record<string, string>,
        search: new URL(request.url, 'http://localhost').searchParams,
        key: headerOf(request, 'x-api-key'),
        accept: headerOf(request, 'accept'),
      }
      const fault = faults.next(route, incoming.slots.id)
      const { status, body } = answer(incoming, key, world())
      if (!fault || status !== 200) return sendEmulated(reply, { status, body })
      return spoil(fault, typeof body === 'string' ? body : JSON.stringify(body), reply)
    })
  app.setNotFoundHandler((_request, reply) => sendEmulated(reply, NOT_FOUND))
  app.setErrorHandler((_error, _request, reply) => sendEmulated(reply, BROKEN))
  return app
}
