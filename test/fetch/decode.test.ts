import { spawnSync } from 'node:child_process'
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { decode } from '../../src/fetch/decode.ts'

const BOUNDS = { maxBytes: 128 * 1024 * 1024, maxRatio: 500 }
const TEXT = Buffer.from(JSON.stringify(Array.from({ length: 5000 }, (_, i) => ({ at: i * 977, value: i % 7 }))))
function codeOf(body: Buffer, encoding: string, bounds = BOUNDS): string {
  try {
    decode(body, encoding, bounds)
    return 'ok'
  } catch (error) {
    return (error as { code: string }).code
  }
}

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
  ])('a body with the encoding %s is decoded', (encoding, body) => {
    expect(decode(body, encoding, BOUNDS).equals(TEXT)).toBe(true)
  })

  test('a large body is decoded into one buffer', () => {
    const large = Buffer.from(Array.from({ length: 2_000_000 }, (_, i) => String((i * 7919) % 10_007)).join(','))
    for (const [encoding, body] of [
      ['br', brotliCompressSync(large, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
      ['gzip', gzipSync(large, { level: 1 })],
    ] as const)
      expect(decode(body, encoding, BOUNDS).equals(large)).toBe(true)
  })

  test.each<[string, Buffer, string]>([
    ['gzip', gzipSync(TEXT).subarray(0, 40), 'BODY_DAMAGED'],
    ['br', Buffer.from('not brotli at all'), 'BODY_DAMAGED'],
    ['zstd', Buffer.from('neither zstd'), 'BODY_DAMAGED'],
    ['deflate', Buffer.from('{"plain":1}'), 'BODY_DAMAGED'],
    ['compress', TEXT, 'BODY_ENCODING'],
    ['gzip, gzip, gzip, gzip', TEXT, 'BODY_ENCODING'],
    ['\u001b[31m', TEXT, 'BODY_ENCODING'],
  ])('a body that is not in its declared encoding %j is refused: %#', (encoding, body, code) =>
    expect(codeOf(body, encoding)).toBe(code),
  )

  test('a body above the size limit is refused, even if it is small when compressed', () => {
    expect(codeOf(gzipSync(Buffer.alloc(50_000_000)), 'gzip')).toBe('BODY_BOMB')
    expect(codeOf(gzipSync(TEXT), 'gzip', { ...BOUNDS, maxBytes: 1000 })).toBe('BODY_TOO_LARGE')
    const twice = gzipSync(gzipSync(Buffer.alloc(50_000_000)))
    expect(codeOf(twice, 'gzip, gzip')).toBe('BODY_BOMB')
  })

  test('a body of 256 MB in any encoding is refused before it takes its memory', () => {
    const program = `
      import { createBrotliCompress, createGzip, createDeflate, createZstdCompress, gzipSync } from 'node:zlib'
      import { Readable } from 'node:stream'
      import { decode } from './src/fetch/decode.ts'
      const zeros = Buffer.alloc(1 << 20)
      const compress = async (to) => {
        const pieces = []
        for await (const piece of Readable.from(Array(256).fill(zeros)).pipe(to)) pieces.push(piece)
        return Buffer.concat(pieces)
      }
      const quick = { params: { ${constants.BROTLI_PARAM_QUALITY}: 1 } }
      const gzip = await compress(createGzip({ level: 1 }))
      const bombs = [
        ['gzip', gzip],
        ['deflate', await compress(createDeflate({ level: 1 }))],
        ['br', await compress(createBrotliCompress(quick))],
        ['zstd', await compress(createZstdCompress())],
        ['gzip, gzip', gzipSync(gzip)],
      ]
      const before = process.memoryUsage().rss
      // With the second ratio, only the size is a reason.
      for (const maxRatio of [500, 1e9])
        for (const [encoding, body] of bombs) {
          // Buffers are freed in the background: the second collection waits for those of the first.
          gc()
          gc()
          try {
            decode(body, encoding, { maxBytes: 25 << 20, maxRatio })
          } catch ({ code }) {
            console.log(JSON.stringify([encoding, code, Math.round(process.resourceUsage().maxRSS / 1e3 - before / 1e6)]))
          }
        }
    `
    const done = spawnSync(process.execPath, ['--expose-gc', '--input-type=module', '-e', program], {
      encoding: 'utf8',
    })
    const lines = done.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as [string, string, number])
    expect(lines, done.stderr).toHaveLength(10)
    for (const [encoding, code, megabytes] of lines) {
      expect(['BODY_BOMB', 'BODY_TOO_LARGE'], encoding).toContain(code)
      expect(megabytes, encoding).toBeLessThan(160)
    }
  })
})
