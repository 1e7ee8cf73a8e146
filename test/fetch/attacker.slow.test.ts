import { copyFileSync, mkdtempSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { exitCodeFor } from '../../src/cli/terminal/fail.ts'
import { startEmulator } from '../../src/emulator/startEmulator.ts'
import { SyncError } from '../../src/util/errors.ts'
import { json, ms, runJob, serve, tempFolder } from '../support/kit.ts'
import { openStore, type Store } from '../support/testStore.ts'

const NOW = ms('2025-11-04T12:00:00Z')
/** A job that requests all eleven routes. */
const JOB = `catalogue: true
series: [{ indicators: [1739], window: { from: 2025-10-01, to: 2025-10-02 } }]
offers: [{ indicators: [25], window: { from: 2025-10-01, to: 2025-10-02 } }]
content: [{ kinds: [news, documentations, glossaries, static_pages] }]
archives: [{ window: { from: 2025-10-01, to: 2025-10-02 } }]
archivesJson: [{ window: { from: 2025-10-01, to: 2025-10-02 } }]
widgets: { list: true, names: [potencia], window: { last: 1d } }
`
const BREAKER = { failures: 8, pauseMs: 1, openings: 2, giveUpMs: 60_000 }

/** Returns the stored data, independent of fetch times. */
const storedRows = (store: Store): unknown[] =>
  [
    'select kind, indicator_id, geo_id, at, value, step_s from observation join series on id = series_id order by 1, 2, 3, 4',
    'select kind, id, locale, name, description, withdrawn_at is null as listed from indicator_text order by 1, 2, 3',
    'select kind, id, locale, title, body, payload, withdrawn_at is null as listed from content_text order by 1, 2, 3',
    'select kind, id, withdrawn_at is null as listed from content order by 1, 2',
    'select kind, id, date, date_times, url from archive_edition order by 1, 2, 3, 4, 5',
    'select id, locale, name, payload_v1, withdrawn_at is null as listed from widget_text order by 1, 2',
    'select id, vocabulary_id from taxonomy_term order by 1',
    'select * from content_term order by 1, 2, 3',
  ].map((sql) => store.all(sql))

/** The replies of a correct service, and a database filled from them. */
const correct = new Map<string, string>()
let filled = ''
beforeAll(async () => {
  const emulator = await startEmulator({ now: NOW / 1000 })
  const store = await openStore(join(mkdtempSync(join(tmpdir(), 'indicator-sync-')), 'filled.db'))
  await runJob(store, emulator, JOB, { now: NOW })
  for (const { url } of [...emulator.requests]) {
    const answer = await fetch(`${emulator.url}${url}`, { headers: { 'x-api-key': emulator.key } })
    correct.set(url, await answer.text())
  }
  await emulator.close()
  filled = store.file
  await store.close()
})

type Answer = (response: ServerResponse, url: string) => unknown
const status =
  (code: number, body = '{"message":"no"}', headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(code, headers).end(body)
const body =
  (content: string | Buffer, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(200, headers).end(content)
/** The same value under the root key of every route. */
const all = (value: string): Answer =>
  body(
    `{${['indicators', 'indicator', 'contents', 'archives', 'widgets', 'widget'].map((root) => `"${root}":${value}`)}}`,
  )
const raw =
  (text: string): Answer =>
  (response) =>
    response.socket!.end(text)
/** Damages the reply of the correct service. */
const spoiled =
  (how: (text: string) => string | Buffer, headers: Record<string, string> = {}): Answer =>
  (response, url) =>
    response.writeHead(200, headers).end(how(correct.get(url) ?? '{}'))

const HOSTILE: readonly [string, Answer][] = [
  ...[204, 205, 206, 300, 304, 402, 405, 418, 451, 500, 501, 503, 999].map((code): [string, Answer] => [
    `status ${code}`,
    status(code, code === 204 || code === 304 ? '' : undefined),
  ]),
  ['429 at once', status(429, '{}', { 'Retry-After': '0' })],
  ['an invalid Retry-After', status(503, '{}', { 'Retry-After': '-1e999' })],
  ['a quota reset in 1970', status(500, '{}', { 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': '0' })],
  ['401 as JSON', status(401)],
  ['a redirect to itself', (response, url) => response.writeHead(302, { Location: url }).end()],
  ['a redirect to nowhere', status(302, '', { Location: 'http://[' })],
  ['an error with invalid compression', status(500, 'x', { 'Content-Encoding': 'br' })],
  ['no body', body('')],
  ['spaces', body(' \n\t ')],
  ...['null', 'true', '0', '-0', '1e999', '""', '"a text"', '[]', '{}', '[[]]', '[null]', '[{}]', '[[[[[]]]]]'].map(
    (text): [string, Answer] => [`the body ${text}`, body(text)],
  ),
  ...[
    'null',
    'true',
    '0',
    '""',
    '{}',
    '[]',
    '[null]',
    '[[]]',
    '[{}]',
    '[{"id":null}]',
    '[{"id":"1"}]',
    '[{"id":1.5}]',
  ].map((text): [string, Answer] => [`${text} at every root`, all(text)]),
  ['infinite numbers', all('[{"id":1e999,"id_widget":1e999}]')],
  ['numbers beyond 2^53', all('[{"id":9007199254740993,"id_widget":9007199254740993}]')],
  ['no values', body('{"indicator":{"id":1739,"values":[]}}')],
  ['values of a wrong type', body('{"indicator":{"id":1739,"values":{"a":1}}}')],
  ['another indicator', body('{"indicator":{"id":1,"values":[]}}')],
  ['a prototype', all('{"__proto__":{"values":[]},"constructor":{"values":[{}]}}')],
  ['a message', body('{"message":"No values for specified archive"}')],
  ['a page', body('<!doctype html><html>Down</html>', { 'Content-Type': 'text/html' })],
  ['XML', body('<?xml version="1.0"?><a/>')],
  ['a text', body('Service temporarily unavailable')],
  ['a ZIP file', body(Buffer.from('504b0304140000000800', 'hex'))],
  ['UTF-16', spoiled((text) => Buffer.from(`\ufeff${text}`, 'utf16le'))],
  ['only a byte order mark', body('\ufeff')],
  ['NUL bytes', body(Buffer.alloc(1000))],
  ['random bytes', body(Buffer.from(Array.from({ length: 3000 }, (_, i) => (i * 7919) % 251)))],
  ['half of the body', spoiled((text) => text.slice(0, text.length / 2))],
  ['all but the last character', spoiled((text) => text.slice(0, -1))],
  ['the body twice', spoiled((text) => text + text)],
  ['the body with trailing characters', spoiled((text) => `${text}]}`)],
  ['single quotes', spoiled((text) => text.replaceAll('"', "'"))],
  ['comments', spoiled((text) => `/* hello */ ${text}`)],
  ['JSONP', spoiled((text) => `callback(${text});`)],
  ['an anti-hijacking prefix', spoiled((text) => `)]}',\n${text}`)],
  ['nested too deeply', body(`${'[{"a":'.repeat(100_000)}1${'}]'.repeat(100_000)}`)],
  ['nested and never closed', body('[{"a":'.repeat(100_000))],
  ['an unterminated string', body(`{"indicators":"${'x'.repeat(1_000_000)}`)],
  ['an endless number', body(`{"indicators":${'9'.repeat(1_000_000)}`)],
  ['undeclared compression', spoiled((text) => gzipSync(text))],
  ['an unsupported encoding', spoiled((text) => text, { 'Content-Encoding': 'compress' })],
  ['declared compression of a plain body', spoiled((text) => text, { 'Content-Encoding': 'gzip' })],
  [
    'a truncated compressed body',
    spoiled((text) => brotliCompressSync(text).subarray(0, 30), { 'Content-Encoding': 'br' }),
  ],
  [
    'encodings in a wrong order',
    spoiled((text) => gzipSync(brotliCompressSync(text)), { 'Content-Encoding': 'gzip, br' }),
  ],
  ['five encodings', spoiled((text) => text, { 'Content-Encoding': 'br, br, br, br, br' })],
  ['a compression bomb', body(gzipSync(Buffer.alloc(200_000_000), { level: 1 }), { 'Content-Encoding': 'gzip' })],
  ['a compression bomb in zstd', body(zstdCompressSync(Buffer.alloc(200_000_000)), { 'Content-Encoding': 'zstd' })],
  ['a body below its Content-Length', raw('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{}')],
  ['invalid chunks', raw('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n')],
  ['two Content-Length headers', raw('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}')],
  ['a length and chunks', raw('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n')],
  ['no HTTP', raw('220 mail.example ESMTP\r\n')],
  ['a flood of headers', raw(`HTTP/1.1 200 OK\r\n${'Name: value\r\n'.repeat(20_000)}\r\n{}`)],
  ['a flood of 103', raw('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(500))],
  ['101', raw('HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n')],
  ['NUL in a header', raw('HTTP/1.1 200 OK\r\nA: \0\r\n\r\n{}')],
  ['a closed connection', (response) => response.socket!.destroy()],
  [
    'duplicate fields, the last of them correct',
    spoiled((text) => text.replace(/^\{/, '{"indicators":1,"contents":2,"widgets":3,')),
  ],
]

/** Unusual responses that change nothing for the reader. */
const HARMLESS: readonly [string, Answer][] = [
  ['a byte order mark', spoiled((text) => `\ufeff${text}`)],
  ['Retry-After in a successful response', spoiled((text) => text, { 'Retry-After': '86400' })],
  ['zstd', spoiled((text) => zstdCompressSync(text), { 'Content-Encoding': 'zstd' })],
  ['two encodings', spoiled((text) => brotliCompressSync(gzipSync(text)), { 'Content-Encoding': 'gzip, br' })],
  ['white space around the body', spoiled((text) => `\r\n\t ${text} \r\n`)],
  ['a wrong content type', spoiled((text) => text, { 'Content-Type': 'image/png; charset=\u00e9' })],
]

async function attacked(answer: Answer) {
  const file = join(tempFolder(), 'attacked.db')
  copyFileSync(filled, file)
  const store = await openStore(file)
  onTestFinished(() => store.close())
  const before = storedRows(store)
  let now: Answer = answer
  const server = await serve((request, response) => void now(response, request.url!))
  const run = () => runJob(store, server, JOB, { now: NOW, options: { restate: true }, breaker: BREAKER })
  const summary = await run()
  const after = storedRows(store)
  now = (response, url) => json(response, correct.get(url) ?? '{}', correct.has(url) ? 200 : 404)
  const healed = await run()
  return { store, summary, before, after, healed }
}

describe('a hostile service', () => {
  test.each(HOSTILE)(
    'a reply of %s ends the run as expected, and stored data is correct after the next sync',
    async (_name, answer) => {
      const { store, summary, before, after, healed } = await attacked(answer)
      expect(['done', 'partial', 'stopped', 'failed']).toContain(summary.outcome)
      if (summary.earlyEnd) expect(exitCodeFor(summary.earlyEnd)).toBeLessThanOrEqual(8)
      for (const { error } of summary.failures) expect(error).toBeInstanceOf(SyncError)
      expect(after).toEqual(before)
      expect(healed).toMatchObject({ outcome: 'done', failures: [] })
      expect(storedRows(store)).toEqual(before)
      expect(store.all('pragma integrity_check')).toEqual([{ integrity_check: 'ok' }])
    },
  )

  test.each([
    ['a century', 'unavailable', { 'Retry-After': '3153600000' }],
    ['more than the maximum date', 'unavailable', { 'Retry-After': '99999999999999999999999' }],
    ['until the last year', 'unavailable', { 'Retry-After': 'Fri, 31 Dec 9999 23:59:59 GMT' }],
    [
      'a century for an exhausted quota',
      'retry-after',
      { 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': '9000000000' },
    ],
  ])('a requested wait of %s is limited to a day and reported, also by the next run', async (_name, code, headers) => {
    const { summary, before, after, healed, store } = await attacked(status(503, '{}', headers))
    expect([summary.earlyEnd?.code, healed.earlyEnd?.code]).toEqual([code, code])
    expect(summary.earlyEnd?.message).toMatch(/The service asked for a pause of a day or more, so the run stopped\.$/)
    expect(summary.earlyEnd?.hint).toMatch(/^Run the same command again after a day;/)
    expect(after).toEqual(before)
    const until = store.get('select max(wait_until) from _source') as number
    expect(until - NOW).toBeLessThanOrEqual(86_400_000 + 1000)
  })

  test.each(HARMLESS)('a reply with %s is accepted', async (_name, answer) => {
    const { summary, before, after } = await attacked(answer)
    expect(summary).toMatchObject({ outcome: 'done', failures: [] })
    expect(after).toEqual(before)
  })
})
