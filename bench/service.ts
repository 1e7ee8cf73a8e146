/* A service that uses little processor time: `node service.ts ready|fresh`; prints its address. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { writeBody } from './responses.ts'

/** Whether compressed responses are kept. A long backfill would have too many; then only their rows are kept. */
const keepsResponses = process.argv[2] === 'ready'
const rowsByWindow = new Map<string, string>()
const compressed = new Map<string, Buffer>()

function remember<T>(map: Map<string, T>, key: string, make: () => T): T {
  let value = map.get(key)
  if (value === undefined) {
    value = make()
    map.set(key, value)
  }
  return value
}

/** Returns a response in an encoding that the client accepts. */
function respond(id: number, from: number, to: number, encoding: 'br' | 'gzip'): Buffer {
  const compress = (): Buffer => {
    // The rows of one window are the same for every indicator.
    const rows = remember(rowsByWindow, `${from} ${to}`, () => writeBody(id, from, to).rows)
    const body = writeBody(id, from, from).head + rows
    if (encoding === 'gzip') return gzipSync(body)
    return brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } })
  }
  return keepsResponses ? remember(compressed, `${id} ${from} ${to} ${encoding}`, compress) : compress()
}

const server = createServer((request, response) => {
  const url = new URL(request.url!, 'http://localhost')
  const id = Number(/\d+$/.exec(url.pathname)?.[0])
  const instant = (name: string): number => Date.parse(url.searchParams.get(name)!) / 1000
  const encoding = /\bbr\b/.test(String(request.headers['accept-encoding'])) ? 'br' : 'gzip'
  const body = respond(id, instant('start_date'), instant('end_date') + 1, encoding)
  response.writeHead(200, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Encoding': encoding,
    'Content-Length': body.length,
  })
  response.end(body)
})
server.listen(0, '127.0.0.1', () =>
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`),
)
process.on('SIGTERM', () => process.exit(0))
