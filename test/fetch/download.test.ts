import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import dns from 'node:dns'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { isIPv6 } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { type Downloaded, type DownloadOptions, download, prepareFolder } from '../../src/fetch/files/download.ts'
import { resolveLink, resolveRedirect } from '../../src/fetch/files/links.ts'
import { lookupPublic } from '../../src/fetch/files/publicLookup.ts'
import { SyncError, TransientError } from '../../src/util/errors.ts'
import { partFileName } from '../../src/util/files/partFiles.ts'
import { type Script, serve, tempFolder } from '../support/kit.ts'
import { testClient } from './testClient.ts'

const KEY = '0123456789abcdef'.repeat(4)
const BODY = Buffer.from('An edition.\n'.repeat(5000))
const SUM = createHash('sha256').update(BODY).digest('hex')

async function setUp(script: Script, more: Partial<DownloadOptions> = {}) {
  const server = await serve(script)
  const client = testClient(server.url, {
    key: KEY,
    limits: { timeoutMs: 600_000, minRate: { bytes: 1, ms: 600_000 } },
  })
  const options: DownloadOptions = { client, folder: join(tempFolder(), 'archives'), maxBytes: 1e6, ...more }
  await prepareFolder(options.folder)
  return { ...server, options }
}
/** Downloads a file and expects success. */
async function fileOf(url: string, options: DownloadOptions): Promise<Downloaded> {
  const file = await download(url, options)
  if (file instanceof SyncError) throw file
  return file
}
const files = (folder: string): string[] =>
  (readdirSync(folder, { recursive: true, withFileTypes: true }) as { isFile(): boolean; name: string }[])
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)

describe('an archive file', () => {
  test('a downloaded file is named by its checksum, not by the service', async () => {
    const { options, calls } = await setUp((_, response) => {
      response.writeHead(200, {
        'Content-Type': 'text/csv',
        'Content-Disposition': 'attachment; filename="../../etc/passwd"',
      })
      response.end(BODY)
    })
    const done = await fileOf('/archives/1/download?date=x', options)
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

  test('a redirect never sends the key to another host', async () => {
    const storage = await serve((_, response) => response.end(BODY))
    const { options } = await setUp((_, response) => {
      response.writeHead(307, { Location: `${storage.url}/file?signature=1` })
      response.end()
    })
    await download('/archives/1/download', options)
    expect(storage.calls).toHaveLength(1)
    expect(JSON.stringify(storage.calls[0]!.rawHeaders)).not.toContain(KEY)
    const { options: other } = await setUp((_, response) => response.end(BODY), { allowHosts: ['127.0.0.1'] })
    await download(`${storage.url}/direct`, other)
    expect(JSON.stringify(storage.calls.map(({ rawHeaders }) => rawHeaders))).not.toContain(KEY)
  })

  test('an interrupted download starts again, and leaves no unfinished file', async () => {
    let broken = 2
    const { options, calls } = await setUp((_, response): unknown => {
      response.writeHead(200, { 'Content-Length': BODY.length })
      if (broken-- <= 0) return response.end(BODY)
      return response.write(BODY.subarray(0, 12_000), () => response.destroy())
    })
    expect((await fileOf('/a', options)).sha256).toBe(SUM)
    expect(calls).toHaveLength(3)
    broken = 99
    await expect(download('/b', options)).resolves.toBeInstanceOf(TransientError)
    expect(files(options.folder)).toEqual([SUM])
  })

  test.each([
    ['text/html; charset=utf-8', '<!DOCTYPE html><p>Maintenance</p>', /a web page instead of a file/],
    [
      'application/json',
      '{"message":"No values for specified archive"}',
      /"No values for specified archive" instead of a file/,
    ],
    ['json', '{"Status":200,"message":"No"}', /"No" instead of a file/],
    ['application/zip', '', /is empty/],
    ['application/zip', '<!DOCTYPE html><p>Maintenance</p>', /a web page instead of a file/],
    [
      'text/plain',
      '\ufeff\n<?xml version="1.0"?><!-- a --><!-- b -->\n<HTML lang="es">',
      /a web page instead of a file/,
    ],
    [
      'application/octet-stream',
      '<?xml version="1.0"?>\n<Error><Code>NoSuchKey</Code></Error>',
      /an error instead of a/,
    ],
    ['application/zip', '{"error":{"code":404,"text":"not found"}}', /\{"code":404,"text":"not found"\} instead of a/],
    ['text/plain', '{"errors":[{"title":"no"}],"Status":"500"}', /instead of a file/],
    ['application/zip', `{"message":"${'long '.repeat(2_000)}","status":500}`, /"long long .* instead of a file/],
  ])('a %s response in place of a file is refused: %s', async (type, body, why) => {
    const { options } = await setUp((_, response, call) => {
      response.writeHead(200, call === 1 ? { 'Content-Type': type, ETag: '"1"' } : { 'Content-Type': 'text/csv' })
      response.end(call === 1 ? body : BODY)
    })
    expect(await download('/archives/1/download', options)).toMatchObject({ message: expect.stringMatching(why) })
    expect(files(options.folder)).toEqual([])
    expect(await fileOf('/archives/1/download', options)).toMatchObject({ sha256: SUM })
  })

  test('many comments before a text do not slow its check', async () => {
    const text = `${'<!-- -->'.repeat(7_000)}<data>`
    const { options } = await setUp((_, response) => response.end(text))
    expect(await fileOf('/archives/1/download', options)).toMatchObject({ bytes: text.length })
  })

  test('a JSON file is accepted, even with a message field', async () => {
    const { options } = await setUp((_, response) =>
      response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"message":"x","values":[]}'),
    )
    expect(await fileOf('/archives/1/download', options)).toMatchObject({ bytes: 27 })
  })

  test('an unfinished file of a killed process is deleted by the next run', async () => {
    const { options } = await setUp((_, response) => response.end(BODY))
    const { pid } = spawnSync(process.execPath, ['-e', ''])
    const dead = partFileName(join(options.folder, 'download')).replace(`.${process.pid}-`, `.${pid}-`)
    writeFileSync(dead, 'the beginning')
    writeFileSync(join(options.folder, 'mine.txt'), 'of somebody else')
    await prepareFolder(options.folder)
    expect(readdirSync(options.folder)).toEqual(['mine.txt'])
  })

  test('a download has the same retries, Retry-After and circuit breaker as other calls', async () => {
    const { options, calls } = await setUp((_, response, call) => {
      if (call === 1) response.writeHead(429, { 'Retry-After': '0' })
      if (call === 2) response.writeHead(503)
      response.end(call <= 2 ? '' : BODY)
    })
    expect((await fileOf('/a', options)).sha256).toBe(SUM)
    expect(calls).toHaveLength(3)
    const { options: hours } = await setUp((_, response) => response.writeHead(429, { 'Retry-After': '86400' }).end())
    await expect(download('/a', hours)).rejects.toMatchObject({ code: 'retry-after' })
  })

  test('storage that is down fails only its own files', async () => {
    const storage = await serve((_, response) => response.writeHead(503).end())
    const server = await serve((_, response) => response.end(BODY))
    const breaker = { failures: 1, pauseMs: 1, openings: 1, giveUpMs: 60_000 }
    const options: DownloadOptions = {
      client: testClient(server.url, { breaker }),
      folder: tempFolder(),
      maxBytes: 1e6,
      allowHosts: [new URL(storage.url).host],
    }
    for (const url of ['/a', '/b'])
      expect(await download(`${storage.url}${url}`, options)).toBeInstanceOf(TransientError)
    expect(storage.calls).toHaveLength(3)
    expect((await fileOf('/c', options)).sha256).toBe(SUM)
  })

  test('a file that contains the key is not stored, and no URL sends the key elsewhere', async () => {
    const { options } = await setUp((_, response) => {
      response.write(Buffer.concat([BODY, Buffer.from(KEY.slice(0, 30))]))
      setTimeout(() => response.end(KEY.slice(30)), 20)
    })
    await expect(download('/a', options)).resolves.toMatchObject({
      message: expect.stringMatching(/contains the API key/),
    })
    expect(files(options.folder)).toEqual([])
    const storage = await serve((_, response) => response.end(BODY))
    const { options: other } = await setUp((_, response) =>
      response.writeHead(307, { Location: `${storage.url}/?token=${KEY.replaceAll('a', '%61')}` }).end(),
    )
    await expect(download('/a', other)).resolves.toMatchObject({ message: expect.stringMatching(/address/) })
    expect(storage.calls).toHaveLength(0)
  })

  test('a file on another host is fetched only if the host is allowed', async () => {
    const storage = await serve((_, response) => response.end(BODY))
    const { options } = await setUp((_, response) => response.end())
    await expect(download(`${storage.url}/x`, options)).resolves.toMatchObject({
      message: expect.stringMatching(/--allow-host 127\.0\.0\.1:\d+/),
    })
    expect(storage.calls).toHaveLength(0)
    expect((await fileOf(`${storage.url}/x`, { ...options, allowHosts: [new URL(storage.url).host] })).sha256).toBe(SUM)
  })

  test.each<[string, Script, RegExp]>([
    [
      'with a too large Content-Length',
      (_, response) => response.writeHead(200, { 'Content-Length': 9e9 }).flushHeaders(),
      /9000000000 bytes/,
    ],
    [
      'that exceeds the limit',
      (_, response) => {
        response.writeHead(200)
        response.end(Buffer.alloc(2e6))
      },
      /more than 1000000 bytes/,
    ],
    [
      'with a Content-Encoding',
      (_, response) => response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(BODY),
      /Content-Encoding gzip is not supported/,
    ],
    ['that does not exist', (_, response) => response.writeHead(404).end(), /status 404/],
    [
      'with a redirect loop',
      (_, response) => response.writeHead(302, { Location: '/again' }).end(),
      /more than 5 redirects/,
    ],
    [
      'with a redirect to a local file',
      (_, response) => response.writeHead(302, { Location: 'file:///etc/passwd' }).end(),
      /invalid address/,
    ],
  ])('a file %s is refused and leaves no partial file', async (_, script, message) => {
    const { options } = await setUp(script)
    await expect(download('/x', options)).resolves.toMatchObject({ message: expect.stringMatching(message) })
    if (existsSync(options.folder)) expect(files(options.folder)).toEqual([])
  })

  describe('a redirect to a name', () => {
    /** Replaces the resolver of names. */
    function replaceResolver(lists: Readonly<Record<string, readonly string[]>>): void {
      const found = (name: string) => lists[name]!.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }))
      const lookup = (name: string, _: object, done: (error: null, all: object[]) => void) => done(null, found(name))
      const spy = vi.spyOn(dns, 'lookup').mockImplementation(lookup as unknown as typeof dns.lookup)
      onTestFinished(() => spy.mockRestore())
    }

    /** Downloads from a service with a public name, which redirects to a storage whose name resolves to an address. */
    async function follow(address: string, more: Partial<DownloadOptions> = {}) {
      const storage = await serve((_, response) => response.end(BODY))
      const { port } = new URL(storage.url)
      const service = await serve((_, response) =>
        response.writeHead(302, { Location: `http://storage.test:${port}/admin` }).end(),
      )
      replaceResolver({ 'service.test': ['127.0.0.1'], 'storage.test': [address] })
      const client = testClient(service.url.replace('127.0.0.1', 'service.test'), { key: KEY })
      const options: DownloadOptions = { client, folder: join(tempFolder(), 'archives'), maxBytes: 1e6, ...more }
      await prepareFolder(options.folder)
      return { result: await download('/archives/1/download', options), connections: storage.connections.size }
    }

    test.each(['127.0.0.1', '::1', '::ffff:127.0.0.1'])(
      'a redirect to a name of %s is refused, without a connection',
      async (address) => {
        expect(await follow(address)).toEqual({
          result: expect.objectContaining({
            code: 'download-refused',
            message: 'it redirects to a private network; to follow it, pass --allow-host storage.test',
          }),
          connections: 0,
        })
      },
    )

    test('a redirect into a private network is followed if the user allows it', async () => {
      const followed = await follow('127.0.0.1', { allowHosts: ['storage.test'] })
      expect(followed).toMatchObject({ result: { sha256: SUM }, connections: 1 })
    })

    const resolveName = (options: object) =>
      new Promise((done) => lookupPublic('storage.test', options, (...result) => done(result)))

    test.each([
      ...['10.1.2.3', '172.31.0.1', '192.168.1.1', '100.64.0.1', '169.254.169.254', '0.0.0.0', '255.255.255.255'],
      ...['::', 'fd00::1', 'fe80::1', 'ff02::1', '64:ff9b::7f00:1', '64:ff9b::a00:1', '64:ff9b:1::1', '2002:7f00:1::1'],
    ])('a name with the private address %s is not resolved, even if it has a public one', async (address) => {
      for (const list of [[address], ['203.0.113.1', address]]) {
        replaceResolver({ 'storage.test': list })
        for (const options of [{ all: true }, {}])
          expect(await resolveName(options)).toMatchObject([{ code: 'download-refused' }, []])
      }
    })

    test.each(['203.0.113.1', '2001:db8::1', '64:ff9b::cb00:7101'])(
      'a name is resolved to the public address %s',
      async (address) => {
        replaceResolver({ 'storage.test': [address] })
        const family = isIPv6(address) ? 6 : 4
        expect(await resolveName({ all: true })).toEqual([null, [{ address, family }]])
        expect(await resolveName({})).toEqual([null, address, family])
      },
    )

    test.each([
      ...['127.1', '0x7f000001', 'localhost.', '[::1]', '[::ffff:10.0.0.1]'],
      ...['[64:ff9b::7f00:1]', '[2002:7f00:1::]'],
    ])('a redirect to the private host %s is refused', (host) => {
      const links = { baseUrl: 'http://a.b', allowHosts: [] }
      const resolve = () => resolveRedirect(`http://${host}/x`, new URL(links.baseUrl), links)
      expect(resolve).toThrow(/private network/)
    })
  })

  test('relative links are resolved against the base URL, and only HTTP links are followed', () => {
    expect(resolveLink('/a?b=1', 'https://api.example/x').href).toBe('https://api.example/x/a?b=1')
    for (const url of ['file:///etc/passwd', 'ftp://x/y', '', '//host/x'])
      expect(() => resolveLink(url, 'https://a.b'), url).toThrow(/not a valid file address/)
  })
})
