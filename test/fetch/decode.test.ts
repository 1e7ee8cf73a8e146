import { spawnSync } from 'node:child_process'
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { decode } from '../../src/fetch/decode.ts'

const BOUNDS = { maxBytes: 128 * 1024 * 1024, maxRatio: 500 }
const stop = new AbortController().signal
const TEXT = Buffer.from(JSON.stringify(Array.from({ length: 5000 }, (_, i) => ({ at: i * 977, value: i % 7 }))))
const codeOf = (body: Buffer, encoding: string, bounds = BOUNDS): Promise<string> =>
  decode(body, encoding, bounds, stop).then(
    () => 'ok',
    (error: { code: string }) => error.code,
  )

describe('a compressed body', () => {
  test.each<[string, Buffer]>([
    ['identity', TEXT],
    ['br', brotliCompressSync(TEXT)],
    ['gzip', gzipSync(TEXT)],
    ['x-gzip', gzipSync(TEXT)],
    ['GZIP', gzipSync(TEXT)],
    ['deflate', deflateSync(TEXT)],
    ['deflate', deflateRawSync(TEXT)],
    ['zstd', zstdCompressSync(TEXT)],
    ['gzip, br', brotliCompressSync(gzipSync(TEXT))],
    ['gzip, identity, gzip, gzip', gzipSync(gzipSync(gzipSync(TEXT)))],
    ['', TEXT],
  ])('a body with the encoding %s is decoded', async (encoding, body) => {
    expect((await decode(body, encoding, BOUNDS, stop)).equals(TEXT)).toBe(true)
  })

  test('a large body is decoded into one buffer', async () => {
    const large = Buffer.from(Array.from({ length: 2_000_000 }, (_, i) => String((i * 7919) % 10_007)).join(','))
    for (const [encoding, body] of [
      ['br', brotliCompressSync(large, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
      ['gzip', gzipSync(large, { level: 1 })],
    ] as const)
      expect((await decode(body, encoding, BOUNDS, stop)).equals(large)).toBe(true)
  })

  test.each<[string, Buffer, string]>([
    ['gzip', gzipSync(TEXT).subarray(0, 40), 'BODY_DAMAGED'],
    ['br', Buffer.from('not brotli at all'), 'BODY_DAMAGED'],
    ['zstd', Buffer.from('neither zstd'), 'BODY_DAMAGED'],
    ['deflate', Buffer.from('{"plain":1}'), 'BODY_DAMAGED'],
    ['compress', TEXT, 'BODY_ENCODING'],
    ['gzip, gzip, gzip, gzip', TEXT, 'BODY_ENCODING'],
    ['\u001b[31m', TEXT, 'BODY_ENCODING'],
  ])('a body that is not in its declared encoding %j is refused: %#', async (encoding, body, code) =>
    expect(await codeOf(body, encoding)).toBe(code),
  )

  test('a body above the size limit is refused, even if it is small when compressed', async () => {
    expect(await codeOf(gzipSync(Buffer.alloc(50_000_000)), 'gzip')).toBe('BODY_BOMB')
    expect(await codeOf(gzipSync(TEXT), 'gzip', { ...BOUNDS, maxBytes: 1000 })).toBe('BODY_TOO_LARGE')
    const twice = gzipSync(gzipSync(Buffer.alloc(50_000_000)))
    expect(await codeOf(twice, 'gzip, gzip')).toBe('BODY_BOMB')
  })

  test('a body of 1 GB in any encoding is refused with less than 100 MB of memory', () => {
    const program = `
      import { createBrotliCompress, createGzip, createDeflate, createZstdCompress } from 'node:zlib'
      import { Readable } from 'node:stream'
      import { decode } from './src/fetch/decode.ts'
      const zeros = Buffer.alloc(1 << 20)
      const pack = async (to, megabytes) => {
        const pieces = []
        for await (const piece of Readable.from(Array(megabytes).fill(zeros)).pipe(to)) pieces.push(piece)
        return Buffer.concat(pieces)
      }
      const quick = { params: { ${constants.BROTLI_PARAM_QUALITY}: 1 } }
      const bombs = [
        ['gzip', await pack(createGzip({ level: 1 }), 1024)],
        ['deflate', await pack(createDeflate({ level: 1 }), 1024)],
        ['br', await pack(createBrotliCompress(quick), 1024)],
        ['zstd', await pack(createZstdCompress(), 1024)],
      ]
      const nested = createGzip()
      nested.end(bombs[0][1])
      const pieces = []
      for await (const piece of nested) pieces.push(piece)
      bombs.push(['gzip, gzip', Buffer.concat(pieces)])
      // The ratio aside: what is refused for its size alone is not held either.
      for (const maxRatio of [500, 1e9])
        for (const [encoding, body] of bombs) {
          let most = 0
          const timer = setInterval(() => { most = Math.max(most, process.memoryUsage().rss) }, 5)
          const before = process.memoryUsage().rss
          const error = await decode(body, encoding, { maxBytes: 128 << 20, maxRatio }, new AbortController().signal).catch((thrown) => thrown)
          clearInterval(timer)
          console.log(JSON.stringify([encoding, error.code, Math.round((Math.max(most, before) - before) / 1e6)]))
        }
    `
    const done = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })
    const lines = done.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as [string, string, number])
    expect(lines, done.stderr).toHaveLength(10)
    for (const [encoding, code, megabytes] of lines) {
      expect(['BODY_BOMB', 'BODY_TOO_LARGE'], encoding).toContain(code)
      expect(megabytes, encoding).toBeLessThan(100)
    }
  })
})
