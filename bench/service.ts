/* A service that costs the other core little: `node service.ts ready|fresh`; prints its address. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { bodyOf } from './answers.ts'

/** Packed answers are kept, and cost nothing when they are asked again; or they would be too many, and their rows are. */
const keepsPacked = process.argv[2] === 'ready'
const rowsOf = new Map<string, string>()
const packedOf = new Map<string, Buffer>()

function remember<T>(map: Map<string, T>, key: string, make: () => T): T {
  let value = map.get(key)
  if (value === undefined) {
    value = make()
    map.set(key, value)
  }
  return value
}

/** An answer packed as it is accepted: not everybody unpacks brotli. */
function answer(id: number, from: number, to: number, encoding: 'br' | 'gzip'): Buffer {
  const pack = (): Buffer => {
    // The rows of one window are the same for every indicator.
    const rows = remember(rowsOf, `${from} ${to}`, () => bodyOf(id, from, to).rows)
    const body = bodyOf(id, from, from).head + rows
    if (encoding === 'gzip') return gzipSync(body)
    return brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } })
  }
  return keepsPacked ? remember(packedOf, `${id} ${from} ${to} ${encoding}`, pack) : pack()
}

const server = createServer((request, response) => {
  const url = new URL(request.url!, 'http://localhost')
  const id = Number(/\d+$/.exec(url.pathname)?.[0])
  const instant = (name: string): number => Date.parse(url.searchParams.get(name)!) / 1000
  const encoding = /\bbr\b/.test(String(request.headers['accept-encoding'])) ? 'br' : 'gzip'
  const body = answer(id, instant('start_date'), instant('end_date') + 1, encoding)
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
