import type { LookupFunction, Socket } from 'node:net'
import { Agent, buildConnector, type Dispatcher } from 'undici'
import { DeadlineError } from './deadlines.ts'
import { lookupPublic, refusePrivateName } from './files/publicLookup.ts'
import { findProxy, type HttpProxy, type ProxySettings } from './proxies.ts'
import { openTunnel, toProxyError } from './tunnel.ts'

/** Milliseconds to connect. With retries, an unreachable service is detected within a minute. */
const CONNECT_MS = 10_000

/** How connections are made. */
export interface AgentOptions {
  /** Milliseconds until the headers of a response must arrive. */
  readonly timeoutMs: number
  /** The maximum number of connections to a host. */
  readonly connections: number
  /** Ends connections in the making. */
  readonly signal: AbortSignal
  /** Default: no proxy. */
  readonly proxies?: ProxySettings | undefined
  /** Refuses hosts in private networks. Default: allows them. */
  readonly isPublicOnly?: boolean
}

type Done = (error: Error | null, socket?: Socket) => void
/** Connects to a host. `onSocket` receives each socket of the connection in the making. */
type Connect = (options: buildConnector.Options, done: Done, onSocket: (socket: Socket) => void) => void

/** Connects to a host itself. The result may be encrypted, and lead through an open tunnel. */
function createDirect(timeout: number, more: { readonly lookup?: LookupFunction; readonly allowH2?: false }): Connect {
  const connect = buildConnector({ timeout, ...more })
  return (options, done, onSocket) =>
    onSocket(connect(options, (...[error, socket]) => done(error, socket ?? undefined)) as unknown as Socket)
}

/** Connects to an https host through a tunnel of its proxy, if it has one. `forwarders`: proxies that are hosts of requests. */
function createConnect(
  { timeoutMs, proxies, isPublicOnly = false }: AgentOptions,
  forwarders: ReadonlyMap<string, HttpProxy>,
): Connect {
  const timeout = Math.min(timeoutMs, CONNECT_MS)
  const connect = createDirect(timeout, isPublicOnly ? { lookup: lookupPublic } : {})
  if (!proxies) return connect
  // A proxy may be in a private network. Requests to it are in HTTP/1.1.
  const direct = createDirect(timeout, { allowH2: false })
  const connectToProxy = (proxy: HttpProxy, done: Done, onSocket: (socket: Socket) => void): void => {
    const { hostname, host, protocol, port } = new URL(proxy.origin)
    const options = { hostname: hostname.replace(/^\[(.*)\]$/, '$1'), host, protocol, port }
    direct(options, (error, socket) => done(error && toProxyError(error, proxy), socket), onSocket)
  }
  return (options, done, onSocket) => {
    const target = new URL(`${options.protocol}//${options.host}`)
    const forwarder = forwarders.get(target.origin)
    if (forwarder) return connectToProxy(forwarder, done, onSocket)
    const proxy = findProxy(target, proxies)
    if (!proxy) return connect(options, done, onSocket)
    const onConnected: Done = (error, socket) => {
      if (!socket) return done(error)
      const host = `${target.hostname}:${target.port || 443}`
      // Fires before the request timeout, so that a connect failure is not blamed on the service.
      openTunnel(socket, host, proxy, Math.min(timeoutMs / 2, CONNECT_MS), (failed) =>
        failed ? done(failed) : connect({ ...options, httpSocket: socket }, done, onSocket),
      )
    }
    return connectToProxy(proxy, onConnected, onSocket)
  }
}

/** Sends requests to http hosts to their proxies instead. Refuses private names that a proxy would resolve. */
const forward =
  (
    proxies: ProxySettings,
    isPublicOnly: boolean,
    forwarders: Map<string, HttpProxy>,
  ): Dispatcher.DispatcherComposeInterceptor =>
  (dispatch) =>
  (options, handler) => {
    const target = new URL(options.origin!)
    const proxy = findProxy(target, proxies)
    if (proxy && isPublicOnly) refusePrivateName(target)
    if (!proxy || target.protocol === 'https:') return dispatch(options, handler)
    forwarders.set(proxy.origin, proxy)
    const headers = { ...(options.headers as Record<string, string>), Host: target.host, ...proxy.headers }
    return dispatch({ ...options, origin: proxy.origin, path: `${target.origin}${options.path}`, headers }, handler)
  }

/** Creates connections that stay open between requests. It never follows redirects, so that only one host gets the key. */
export function createAgent(options: AgentOptions): Dispatcher {
  const { connections, signal, proxies, isPublicOnly = false } = options
  const forwarders = new Map<string, HttpProxy>()
  const connect = createConnect(options, forwarders)
  const agent = new Agent({
    connections,
    // A connection in the making carries no request, so it ends with the run, even during the handshake.
    connect(target, done) {
      let current: Socket | undefined
      const end = (): void => void current?.destroy(new DeadlineError('STOPPED', 'stopped by a signal'))
      signal.addEventListener('abort', end, { once: true })
      const onDone: Done = (error, socket) => {
        signal.removeEventListener('abort', end)
        if (socket) done(null, socket)
        else done(error!, null)
      }
      connect(target, onDone, (socket) => {
        current = socket
        if (signal.aborted) end()
      })
    },
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: 64 * 1024,
  })
  return proxies ? agent.compose(forward(proxies, isPublicOnly, forwarders)) : agent
}
