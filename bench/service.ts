/* A service whose answers are ready: it costs the other core as little as can be. `node service.ts br|plain`; prints its address. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync, constants } from 'node:zlib'
import { bodyOf } from './answers.ts'

const packs = process.argv[2] === 'br'
const ready = new Map<string, Buffer>()

/** Values of one window are the same for every indicator where nothing is packed: the head alone differs. */
function answer(id: number, from: number, to: number): Buffer[] {
  const key = packs ? `${id} ${from} ${to}` : `${from} ${to}`
  let body = ready.get(key)
  if (!body) {
    const { head, rows } = bodyOf(id, from, to)
    body = packs
      ? brotliCompressSync(head + rows, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } })
      : Buffer.from(rows)
    ready.set(key, body)
  }
  return packs ? [body] : [Buffer.from(bodyOf(id, from, from).head), body]
}

const server = createServer((request, response) => {
  const url = new URL(request.url!, 'http://localhost')
  const id = Number(/\d+$/.exec(url.pathname)?.[0])
  const instant = (name: string): number => Date.parse(url.searchParams.get(name)!) / 1000
  const pieces = answer(id, instant('start_date'), instant('end_date') + 1)
  response.writeHead(200, {
    'Content-Type': 'application/json; charset=utf-8',
    ...(packs ? { 'Content-Encoding': 'br' } : {}),
    'Content-Length': pieces.reduce((sum, { length }) => sum + length, 0),
  })
  for (const piece of pieces) response.write(piece)
  response.end()
})
server.listen(0, '127.0.0.1', () =>
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`),
)
process.on('SIGTERM', () => process.exit(0))
