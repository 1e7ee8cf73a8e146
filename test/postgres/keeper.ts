import { startServer } from './server.ts'

/** Keeps a server as long as the process that started it lives, however that ends: then nobody holds its input any more. */
const over = new Promise<void>((resolve) => {
  process.stdin.once('end', resolve)
  process.stdin.once('error', () => resolve())
  process.stdin.resume()
})
const server = await startServer()
process.stdout.on('error', () => undefined)
process.stdout.write(`${server.url}\n`)
await over
await server.close()
