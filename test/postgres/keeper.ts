import { startServer } from './server.ts'

/** Keeps a server while the parent process lives: the closed input signals its end. */
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
