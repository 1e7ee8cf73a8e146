import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { addressOf, type DownloadOptions, download, isOwn, parseBytes } from '../../src/fetch/download.ts'
import { createAgent, LIMITS } from '../../src/fetch/http.ts'
import { type Script, serve, tempFolder } from '../kit.ts'

const KEY = '0123456789abcdef'.repeat(4)
const BODY = Buffer.from('An edition.\n'.repeat(5000))
const SUM = createHash('sha256').update(BODY).digest('hex')

async function setUp(script: Script, more: Partial<DownloadOptions> = {}) {
  const server = await serve(script)
  const options: DownloadOptions = {
    baseUrl: server.url,
    key: KEY,
    userAgent: 'test',
    folder: join(tempFolder(), 'archives'),
    maxBytes: 1e6,
    dispatcher: createAgent(LIMITS, 1),
    signal: new AbortController().signal,
    ...more,
  }
  return { ...server, options }
}
const files = (folder: string): string[] =>
  (readdirSync(folder, { recursive: true, withFileTypes: true }) as { isFile(): boolean; name: string }[])
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)

describe('a file of an archive', () => {
  test('lies where its checksum says, under a name that nobody chose', async () => {
    const { options, calls } = await setUp((_, response) => {
      response.writeHead(200, {
        'Content-Type': 'text/csv',
        'Content-Disposition': 'attachment; filename="../../etc/passwd"',
      })
      response.end(BODY)
    })
    const done = await download('/archives/1/download?date=x', options)
    expect(done).toEqual({
      sha256: SUM,
      bytes: BODY.length,
      contentType: 'text/csv',
      fileName: 'passwd',
      path: `${SUM.slice(0, 2)}/${SUM}`,
    })
    expect(readFileSync(join(options.folder, done.path)).equals(BODY)).toBe(true)
    expect(files(options.folder)).toEqual([SUM])
    expect(calls[0]!.headers['x-api-key']).toBe(KEY)
    await download('/archives/2/download', options)
    expect(files(options.folder)).toEqual([SUM])
  })

  test('the key stays with the service, wherever a redirect leads', async () => {
    const storage = await serve((_, response) => response.end(BODY))
    const { options } = await setUp((_, response) => {
      response.writeHead(307, { Location: `${storage.url}/file?signature=1` })
      response.end()
    })
    await download('/archives/1/download', options)
    expect(storage.calls).toHaveLength(1)
    expect(JSON.stringify(storage.calls[0]!.rawHeaders)).not.toContain(KEY)
    const { options: other } = await setUp((_, response) => response.end(BODY))
    await download(`${storage.url}/direct`, other)
    expect(JSON.stringify(storage.calls.map(({ rawHeaders }) => rawHeaders))).not.toContain(KEY)
  })

  test('is gone on with where it broke off, and begun anew when it has changed', async () => {
    let version = '"one"'
    const { options, calls } = await setUp((request, response, call) => {
      const [, from] = /bytes=(\d+)-/.exec(request.headers.range ?? '') ?? []
      const same = request.headers['if-range'] === version
      if (call === 1 || call === 3) {
        response.writeHead(200, { ETag: version, 'Content-Length': BODY.length })
        response.write(BODY.subarray(0, 20_000), () => setTimeout(() => response.destroy(), 50))
        return
      }
      const begin = from && same ? Number(from) : 0
      response.writeHead(begin > 0 ? 206 : 200, { ETag: version, 'Content-Length': BODY.length - begin })
      response.end(BODY.subarray(begin))
    })
    await expect(download('/a', options)).rejects.toThrow()
    expect((await download('/a', options)).sha256).toBe(SUM)
    expect(calls[1]!.headers.range).toMatch(/^bytes=\d{4,}-$/)
    await expect(download('/b', options)).rejects.toThrow()
    version = '"two"'
    expect((await download('/b', options)).sha256).toBe(SUM)
    expect(files(options.folder)).toEqual([SUM])
  })

  test.each<[string, Script, RegExp]>([
    [
      'that says it is too large',
      (_, response) => response.writeHead(200, { 'Content-Length': 9e9 }).flushHeaders(),
      /9000000000 bytes/,
    ],
    [
      'that becomes too large',
      (_, response) => {
        response.writeHead(200)
        response.end(Buffer.alloc(2e6))
      },
      /over 1000000 bytes/,
    ],
    ['that is not there', (_, response) => response.writeHead(404).end(), /status 404/],
    [
      'that leads round in circles',
      (_, response) => response.writeHead(302, { Location: '/again' }).end(),
      /leads on and on/,
    ],
    [
      'that leads to a file of ours',
      (_, response) => response.writeHead(302, { Location: 'file:///etc/passwd' }).end(),
      /address that is none/,
    ],
  ])('%s is refused, and leaves nothing behind', async (_, script, message) => {
    const { options } = await setUp(script)
    await expect(download('/x', options)).rejects.toThrow(message)
    if (existsSync(options.folder)) expect(files(options.folder)).toEqual([])
  })

  test('addresses: what is relative is the service’s, and nothing but HTTP is followed', () => {
    expect(addressOf('/a?b=1', 'https://api.example/x').href).toBe('https://api.example/x/a?b=1')
    expect(isOwn('/a', 'https://api.example')).toBe(true)
    expect(isOwn('//evil.example/a', 'https://api.example')).toBe(false)
    expect(isOwn('https://api.example.evil/a', 'https://api.example')).toBe(false)
    for (const url of ['file:///etc/passwd', 'ftp://x/y', '', '//host/x'])
      expect(() => addressOf(url, 'https://a.b'), url).toThrow(/no address/)
  })

  test('sizes as people write them', () => {
    expect(['500kB', '100MB', '2GB', '17', '1.5M'].map(parseBytes)).toEqual([500e3, 100e6, 2e9, 17, 1.5e6])
    expect(() => parseBytes('much')).toThrow(/no size/)
  })
})
