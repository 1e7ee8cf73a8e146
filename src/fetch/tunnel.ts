import { request } from 'node:http'
import type { Socket } from 'node:net'
import { DeadlineError } from './deadlines.ts'
import type { HttpProxy } from './proxies.ts'

/** The proxy failed, with a code for `classifyError`. The message has neither user nor password. */
export class ProxyError extends Error {
  readonly code: 'PROXY_UNREACHABLE' | 'PROXY_LOGIN' | 'PROXY_REFUSED' | 'PROXY_GATEWAY'
  constructor({ origin, from }: HttpProxy, code: ProxyError['code'], reason: string, cause?: unknown) {
    super(`proxy ${origin} from ${from}: ${reason}`, cause === undefined ? undefined : { cause })
    this.code = code
  }
}

/** Turns an error of the connection to a proxy into one that names it. A stopped run stays a stopped run. */
export function toProxyError(error: Error, proxy: HttpProxy): Error {
  if (error instanceof DeadlineError || error instanceof ProxyError) return error
  const first = (error instanceof AggregateError ? error.errors[0] : error) as NodeJS.ErrnoException
  return new ProxyError(proxy, 'PROXY_UNREACHABLE', first.code ?? first.message, error)
}

/** The error of a response to CONNECT. */
function createStatusError(proxy: HttpProxy, status: number): ProxyError {
  const refused = status >= 500 ? 'PROXY_GATEWAY' : 'PROXY_REFUSED'
  const code = status === 407 ? 'PROXY_LOGIN' : refused
  return new ProxyError(proxy, code, `status ${status}`)
}

/** Makes a proxy connect to a host (`HOST:PORT`) over an open connection, which from then on leads to that host. */
export function openTunnel(
  socket: Socket,
  host: string,
  proxy: HttpProxy,
  timeoutMs: number,
  done: (error: Error | null) => void,
): void {
  const connect = request({
    method: 'CONNECT',
    path: host,
    // Without this header, Node adds `Connection: close`.
    headers: { Host: host, Connection: 'keep-alive', ...proxy.headers },
    createConnection: () => socket,
  })
  const timer = setTimeout(() => {
    socket.destroy(new ProxyError(proxy, 'PROXY_UNREACHABLE', `no response within ${timeoutMs / 1000} s`))
  }, timeoutMs)
  const end = (error: Error | null): void => {
    clearTimeout(timer)
    connect.off('error', end).on('error', () => undefined)
    if (error) socket.destroy()
    done(error && toProxyError(error, proxy))
  }
  connect.once('connect', ({ statusCode = 0 }, _socket, head) => {
    if (head.length > 0) socket.unshift(head)
    end(statusCode >= 200 && statusCode < 300 ? null : createStatusError(proxy, statusCode))
  })
  connect.once('error', end)
  connect.end()
}
