import { once } from 'node:events'
import { mkdirSync, truncateSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { tempFolder } from '../support/kit.ts'

/** The used part of `@20minutes/s3rver`. */
interface Server {
  callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>
  readonly store: {
    existsObject(bucket: string, key: string): Promise<boolean>
    getMetadata(bucket: string, key: string): Promise<{ readonly etag: string }>
  }
  readonly logger: { close(): void; readonly exceptions: { unhandle(): void } }
}
type Make = new (options: Record<string, unknown>) => Server

/**
 * The only key pair of the server. It signs listing paths differently from the client, so that signatures are checked
 * only by `npm run test:storage`.
 */
const KEY = 'S3RVER'

/** Settings of the storage that a test can change. */
interface Storage {
  readonly env: Record<string, string>
  readonly access: { readonly endpoint: string; readonly credentials: { accessKeyId: string; secretAccessKey: string } }
  /** Returns the path of an object on disk. */
  readonly fileOf: (key: string) => string
  /** Requests so far, and the number after which all are refused. */
  requests: number
  limit: number
  /** Number of the next read responses to break off. */
  cuts: number
  /** Damages the object of a write, which is confirmed in any case. */
  damage: ((key: string) => 'drop' | 'cut' | undefined) | null
}

/**
 * Starts a storage with the bucket `market`. The server ignores conditions, so a proxy checks those of writes. It also
 * overwrites objects that are being read, unlike real storage, so requests run one by one.
 */
export async function storage({ conditions = true } = {}): Promise<Storage> {
  const directory = tempFolder()
  mkdirSync(join(directory, 'market'))
  const S3rver = createRequire(import.meta.url)('@20minutes/s3rver') as Make
  const server = new S3rver({ directory, silent: true, vhostBuckets: false, allowMismatchedSignatures: true })
  const handle = server.callback()
  let last: Promise<unknown> = Promise.resolve()
  const refuse = (response: ServerResponse, status: number, code: string): void => {
    response.writeHead(status, { 'Content-Type': 'application/xml' })
    response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>No.</Message></Error>`)
  }
  /** Whether an object satisfies the condition of a write. */
  const holds = async ({ url, headers }: IncomingMessage): Promise<boolean> => {
    const [, bucket, ...names] = new URL(url!, 'http://x').pathname.split('/').map(decodeURIComponent)
    const there = await server.store.existsObject(bucket!, names.join('/'))
    if (headers['if-none-match'] === '*') return !there
    return there && (await server.store.getMetadata(bucket!, names.join('/'))).etag === headers['if-match']
  }
  const put = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const asks = request.headers['if-match'] ?? request.headers['if-none-match']
    if (conditions && asks !== undefined && !(await holds(request))) return refuse(response, 412, 'PreconditionFailed')
    const key = decodeURIComponent(new URL(request.url!, 'http://x').pathname).replace('/market/', '')
    const damage = own.damage?.(key)
    if (damage === 'drop') {
      await request.resume().toArray()
      response.writeHead(200, { ETag: '"dropped"' }).end()
      return
    }
    await handle(request, response)
    if (damage === 'cut') truncateSync(own.fileOf(key), 10)
  }
  const breakOff = (response: ServerResponse): void => {
    response.writeHead(200, { 'Content-Length': 1000, ETag: '"x"' })
    response.write('{"schema": ', () => response.destroy())
  }
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const sent = once(response, 'close')
    await (request.method === 'PUT' ? put : handle)(request, response)
    await sent
  }
  const http = createServer((request, response) => {
    if (++own.requests > own.limit) return refuse(response, 403, 'AccessDenied')
    if (request.method === 'GET' && own.cuts-- > 0) return breakOff(response)
    last = last.then(() => answer(request, response)).catch(() => refuse(response, 500, 'InternalError'))
  })
  await new Promise<void>((listening) => http.listen(0, '127.0.0.1', listening))
  const endpoint = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  const own: Storage = {
    env: { AWS_ENDPOINT_URL: endpoint, AWS_ACCESS_KEY_ID: KEY, AWS_SECRET_ACCESS_KEY: KEY },
    access: { endpoint, credentials: { accessKeyId: KEY, secretAccessKey: KEY } },
    fileOf: (key) => join(directory, 'market', `${key}._S3rver_object`),
    requests: 0,
    limit: Number.POSITIVE_INFINITY,
    cuts: 0,
    damage: null,
  }
  onTestFinished(() => {
    server.logger.exceptions.unhandle()
    server.logger.close()
    http.closeAllConnections()
    http.close()
  })
  return own
}
