import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { type ProxySettings, readProxySettings } from '../../src/fetch/proxies.ts'

/** How a test proxy behaves. */
interface ProxyOptions {
  /** The port on this machine of each host that it knows, such as `api.example:443`. Others get status 502. */
  readonly hosts?: Readonly<Record<string, number>>
  /** The user and password that it requires: `USER:PASSWORD`. */
  readonly login?: string
  /** Handles CONNECT instead. */
  readonly onConnect?: (socket: Socket) => void
}

/** An HTTP proxy for a test: it opens tunnels, and forwards requests in plain HTTP. */
export async function serveProxy({ hosts = {}, login, onConnect }: ProxyOptions = {}) {
  /** The first lines of all requests. */
  const seen: string[] = []
  /** All bytes from clients, headers and contents of tunnels. */
  const received: Buffer[] = []
  const sockets = new Set<Socket>()
  const expected = login === undefined ? undefined : `Basic ${Buffer.from(login).toString('base64')}`
  const statusFor = (message: IncomingMessage, host: string): number => {
    seen.push(`${message.method} ${message.url}`)
    if (expected !== undefined && message.headers['proxy-authorization'] !== expected) return 407
    return host in hosts ? 200 : 502
  }
  const forward = (message: IncomingMessage, response: ServerResponse): void => {
    const { hostname, port, pathname, search } = new URL(message.url!)
    const host = `${hostname}:${port || 80}`
    const status = statusFor(message, host)
    if (status !== 200) return void response.writeHead(status).end()
    const { 'proxy-authorization': _, ...headers } = message.headers
    const options = { port: hosts[host]!, path: pathname + search, method: message.method!, headers }
    const upstream = request({ host: '127.0.0.1', ...options }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(response)
    })
    message.pipe(upstream.on('error', () => response.destroy()))
  }
  const server = createServer(forward)
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('data', (data) => received.push(data))
  })
  server.on('connect', (message, socket: Socket) => {
    const status = statusFor(message, message.url!)
    if (onConnect) return onConnect(socket)
    if (status !== 200) return void socket.end(`HTTP/1.1 ${status} No\r\nContent-Length: 0\r\n\r\n`)
    const upstream = connect(hosts[message.url!]!, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      socket.pipe(upstream)
      upstream.pipe(socket)
    })
    sockets.add(upstream)
    upstream.on('error', () => socket.destroy())
    socket.on('close', () => upstream.destroy())
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const close = (): void => {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
  onTestFinished(close)
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    seen,
    close,
    received: () => Buffer.concat(received).toString('latin1'),
  }
}

/** The settings of proxies by variables. */
export const proxiesOf = (variables: Readonly<Record<string, string>>): ProxySettings =>
  readProxySettings((name) => (variables[name] ? { value: variables[name], from: `variable ${name}` } : undefined))
