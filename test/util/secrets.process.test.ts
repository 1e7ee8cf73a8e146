import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createRedactor, REDACTED, redact, unquoted } from '../../src/util/redact.ts'
import { json, runCommand, serve, tempFolder } from '../support/kit.ts'
import { cases } from '../support/randomCases.ts'
import { openReader, openStore } from '../support/testStore.ts'

const KEY = 'f00dfacecafe0123'.repeat(4)

/** Forms in which a service may repeat a key. */
const escaped = (write: (letter: string) => string, key = KEY): string => [...key].map(write).join('')
const code = (letter: string): string => letter.charCodeAt(0).toString(16)
const FORMS: Readonly<Record<string, (key: string) => string>> = {
  'as it is': (key) => key,
  'in the other case': (key) => key.toUpperCase(),
  'as an address': (key) => escaped((letter) => `%${code(letter)}`, key),
  'as an address in an address': (key) => escaped((letter) => `%25${code(letter)}`, key),
  'as JSON': (key) => escaped((letter) => `\\u00${code(letter)}`, key),
  'as JSON in JSON': (key) => escaped((letter) => `\\\\u00${code(letter)}`, key),
  'as JSON, in large digits': (key) => escaped((letter) => `\\u00${code(letter).toUpperCase()}`, key),
  'with one letter escaped': (key) => `${key.slice(0, 9)}%${code(key[9]!)}${key.slice(10)}`,
}

/** Decodes all escapes, so that a search finds everything. */
function bare(text: string): string {
  const undo = (one: string): string =>
    one
      .replace(/\\+u00([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
      .replace(/%(?:25)?([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return undo(undo(text)).toLowerCase()
}

const isJson = (text: string): boolean => {
  try {
    return JSON.parse(text) !== null
  } catch {
    return false
  }
}

/** Expects no form of the key. */
function expectNoKey(bytes: Buffer | string, where: string): void {
  const text = bytes.toString('latin1')
  expect(bare(text).includes(KEY), where).toBe(false)
  for (const [name, form] of Object.entries(FORMS)) expect(text.includes(form(KEY)), `${where}, ${name}`).toBe(false)
}

describe('redaction', () => {
  test.each(Object.entries(FORMS))('%s', (_name, form) => {
    const text = `{"before":"x ${form(KEY)} y","after":1}`
    const length = Buffer.byteLength(text)
    expectNoKey(redact(text, [KEY]), 'text')
    expect(redact(text, [`"${KEY}"`])).toContain(REDACTED)
    const bytes = createRedactor(KEY).bytes(Buffer.from(text))
    expectNoKey(bytes, 'bytes')
    expect(bytes.length).toBe(length)
    expect(JSON.parse(bytes.toString('utf8'))).toMatchObject({ after: 1 })
  })

  test('redaction changes no other text, at any size, and ignores texts too short to be secrets', () => {
    const text = JSON.stringify(Array.from({ length: 50_000 }, (_, i) => ({ at: i, name: `España ${i}%41\u0041` })))
    expect(createRedactor(KEY).bytes(Buffer.from(text)).toString('utf8')).toBe(text)
    const far = Buffer.from(`${'x'.repeat(1024 * 1024 - 20)}${FORMS['as JSON']!(KEY)}`)
    expectNoKey(createRedactor(KEY).bytes(far), 'across chunks')
    expect(redact('a key', ['key'])).toBe('a key')
    const odd = 'p/ss+w(rd)[.]*1'
    expect(redact(`${odd} ${encodeURIComponent(odd)} ${JSON.stringify(odd)} p\\/ss+w(rd)[.]*1`, [odd])).not.toContain(
      'w(rd)',
    )
  })
})

describe('candidate parts of a body', () => {
  const pieces = ['"', '\\', '\\"', 'a', 'bcd', 'x'.repeat(9), 'y'.repeat(40), ',\n', '\\\\']
  const texts = fc.array(fc.constantFrom(...pieces), { maxLength: 40 }).map((parts) => parts.join(''))

  test('candidate parts are the texts between unescaped quotation marks', () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: 8, max: 64 }), (text, shortest) => {
        const found = [...unquoted(Buffer.from(text), shortest)].map(String)
        expect(found).toEqual(text.split(/(?<!\\)"/).filter(({ length }) => length >= shortest))
      }),
      { numRuns: cases(100) },
    )
  })

  test('candidate parts contain every encoded form of a key', () => {
    const part = fc.constantFrom(...Object.values(FORMS).map((form) => form(KEY)), ...pieces)
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const body = parts.join('')
        expectNoKey(createRedactor(KEY).bytes(Buffer.from(body)), JSON.stringify(body))
      }),
    )
  })
})

test('JSON stays valid when a redacted key is next to an escape', () => {
  const before = ['\\\\', '\\"', '\\n', '\\u00e1', '\\\\\\\\'.repeat(3), 'ñ', '%']
  const keys = ['f00dfacecafe0123', '0066facecafe0123', 'u0066facecafe0123', 'bad\\key/"with"', 'contraseña 1']
  const forms = [...Object.values(FORMS), (key: string) => JSON.stringify(key).slice(1, -1)]
  const text = fc.array(fc.constantFrom(...before, '\\f00dfacecafe0123', '\\u0066facecafe0123'), { maxLength: 5 })
  fc.assert(
    fc.property(fc.constantFrom(...keys), fc.constantFrom(...forms), text, text, (key, form, left, right) => {
      const written = form(key)
      const body = `{"x":"${left.join('')}${written}${right.join('')}","after":[1]}`
      fc.pre(isJson(body))
      const bytes = createRedactor(key).bytes(Buffer.from(body))
      expect(bytes.length).toBe(Buffer.byteLength(body))
      expect(JSON.parse(bytes.toString('utf8'))).toMatchObject({ after: [1] })
    }),
  )
})

test.each(['contraseña 1', 'p/ss+w(rd)[.]*1', 'back\\slash"quoted"'])(
  'the text %j is redacted in plain, JSON and URL-encoded form',
  (secret) => {
    const json = JSON.stringify(secret).slice(1, -1)
    const forms = [secret, json, json.replaceAll('/', '\\/'), encodeURIComponent(secret)]
    const query = new URLSearchParams({ x: secret }).toString().slice(2)
    for (const form of [...forms, query, encodeURIComponent(encodeURIComponent(secret)), JSON.stringify(json)])
      expect(redact(`a ${form} b`, [secret]), form).toMatch(/^a "?\[secret\]"? b$/)
  },
)

test('a body that repeatedly begins like a key takes no longer to search', () => {
  for (const part of ['\\', '%25', '\\u0066', KEY.slice(0, 60)])
    expect(createRedactor(KEY).isIn(part.repeat(200_000))).toBe(false)
})

test('a key that the service repeats everywhere is stored and printed nowhere', async () => {
  const all = Object.values(FORMS).map((form) => form(KEY))
  const printed = all.join(' ')
  // JSON whose escapes are JSON escapes.
  const within = (text: string): string => JSON.stringify(text).replaceAll('\\\\u00', '\\u00')
  const name = within(printed)
  const server = await serve((request, response) => {
    const url = request.url!
    response.setHeader('X-Echo', KEY)
    response.setHeader('Set-Cookie', [`key=${KEY}`])
    if (url.startsWith('/archives/')) {
      if (url.includes('/1/')) return response.end(`a file with ${KEY}`)
      if (url.includes('/2/')) return response.writeHead(302, { Location: `http://localhost:1/?${KEY}` }).end()
      response.setHeader('Content-Disposition', `attachment; filename="${KEY}.csv"`)
      return response.setHeader('Content-Type', `text/csv; key=${KEY}`).end('calm')
    }
    if (url.startsWith('/archives_json')) return json(response, `{"archives":[{"id":${name}}]}`)
    if (url.startsWith('/archives')) {
      const entry = (id: number) =>
        `{"id":${id},"name":${name},"horizon":${name},"description":${name},"download":{"name":${name},"url":"/archives/${id}/download?key=${KEY}"},"date":{"date":"2025-10-01"}}`
      return json(response, `{"archives":[${[1, 2, 3].map(entry)}],"x":${name}}`)
    }
    if (url.startsWith('/indicators/1?')) return json(response, `{"message":${name}}`)
    if (url.startsWith('/indicators/2?')) return json(response, `{"error":${name}}`, 400)
    if (url.startsWith('/indicators/3?')) return response.writeHead(302, { Location: `http://x/?${KEY}` }).end(printed)
    if (url.startsWith('/indicators/4?')) return json(response, `not JSON: ${printed}`)
    if (url.startsWith('/indicators/5?')) return response.end(`<html>${printed}</html>`)
    if (url.startsWith('/indicators/6?')) return json(response, 'x', 200, { 'Content-Encoding': KEY })
    if (url.startsWith('/indicators/')) {
      const value = `"datetime":"2025-10-01T00:00:00+02:00","geo_id":3,"geo_name":${name},${name}:${name}`
      return json(
        response,
        `{"indicator":{"id":1739,"name":${name},${name}:1,"values":[{"value":1,${value}},{"value":${name},${value}}]}}`,
      )
    }
    if (url.startsWith('/indicators'))
      return json(response, `{"indicators":[{"id":1739,"name":${name},"description":${name}}]}`)
    if (url.startsWith('/widgets'))
      return json(response, `{"widgets":[{"id_widget":1,"id":${name},"name":${name},"x":{${name}:${name}}}]}`)
    return json(
      response,
      `{"contents":[{"id":1,"title":${name},"body":${name},"media":[{"id":1,"title":${name}}],"taxonomy_terms":[{"id_taxonomy_term":1,"name":${name}}]}]}`,
    )
  })
  const folder = tempFolder()
  writeFileSync(
    join(folder, 'job.yaml'),
    `name: echo
pace: { perSecond: 50 }
catalogue: true
series: [{ indicators: [1739, 1, 2, 3, 4, 5, 6], window: { from: 2025-10-01, to: 2025-10-02 } }]
content: [{ kinds: [news] }]
archives: [{ window: { from: 2025-10-01, to: 2025-10-02 } }]
archivesJson: [{ window: { from: 2025-10-01, to: 2025-10-02 } }]
widgets: { list: true }
`,
  )
  const env = { INDICATOR_SYNC_BASE_URL: server.url, INDICATOR_SYNC_API_KEY: KEY }
  let done = 0
  for (const args of [
    ['sync', 'job.yaml', '--verbose'],
    ['sync', 'job.yaml', '--json', '--log-format', 'json', '--verbose'],
    ['retry', '--json'],
    ['archives', 'download', '--verbose'],
    ['archives', 'list', '--json'],
    ['status'],
    ['status', '--json'],
    ['status', '--format', 'prometheus'],
    ['doctor'],
    ['doctor', '--json'],
    ['quarantine', 'list', '--json'],
    ['check', '--json'],
    ['gaps', '--json'],
    ['discover', '--json'],
    ['show', '1739'],
    ['query', 'select * from _fetch', '--format', 'csv'],
    ['query', 'select * from _quarantine', '--format', 'json'],
    ['export', '--indicator', '1739', '--output', 'export.csv'],
    ['export', '--sql', 'select * from indicator_text', '--format', 'ndjson', '--output', 'texts.ndjson'],
    ['publish', 'public/copy.db'],
    ['replay', '--output', 'again.db'],
    ['plan', 'job.yaml', '--verbose'],
  ]) {
    const { out, err, code: exit } = await runCommand(folder, args, env)
    expect(exit, `${args} ${err}`).toBeLessThan(8)
    expectNoKey(out, `stdout of ${args}`)
    expectNoKey(err, `stderr of ${args}`)
    done++
  }
  expect(done).toBe(22)
  const files = (readdirSync(folder, { recursive: true }) as string[]).filter((file) =>
    statSync(join(folder, file)).isFile(),
  )
  expect(files.length).toBeGreaterThan(6)
  for (const file of files) {
    expectNoKey(file, 'name of a file')
    expectNoKey(readFileSync(join(folder, file)), file)
  }
  // Includes compressed replies. The values and other texts were read correctly.
  const reader = openReader(join(folder, 'data/indicator-sync.db'))
  for (const { body } of reader.all('select body from _reply') as { body: Buffer }[])
    expectNoKey((await import('node:zlib')).zstdDecompressSync(body), 'the reply store')
  expect(reader.get('select count(*) from observation')).toBe(1)
  expect(reader.get("select count(*) from indicator_text where name like '%[secret]%'")).toBe(1)
  await reader.close()
  // Many sequential commands.
})

test('a key that appears only in the text of HTML is redacted, and its reply is not stored', async () => {
  const split = `${KEY.slice(0, 20)}<b title=\\"a>b\\"></b>${KEY.slice(20)}`
  const server = await serve((_, response) =>
    json(response, `{"indicators":[{"id":1,"name":"One","description":"x ${split} y"}]}`),
  )
  const folder = tempFolder()
  writeFileSync(join(folder, 'job.yaml'), 'name: derived\ncatalogue: true\n')
  const env = { INDICATOR_SYNC_BASE_URL: server.url, INDICATOR_SYNC_API_KEY: KEY }
  expect((await runCommand(folder, ['sync', 'job.yaml'], env)).code).toBe(0)
  const reader = openReader(join(folder, 'data/indicator-sync.db'))
  expect(reader.get('select description_text from indicator_text')).toBe('x [secret] y')
  expect(reader.get('select count(*) from _reply')).toBe(0)
  await reader.close()
})

test('a key that appears only after control characters are removed is redacted in the output', async () => {
  const folder = tempFolder()
  const between = ['\x1b[0m', '\x07', '\b', '\u00ad', '\u202e', '\u{e0041}']
  await (await openStore(join(folder, 'x.db'))).close()
  const values = between.map((letter) => `('${KEY.slice(0, 9)}${letter}${KEY.slice(9)}')`)
  const sql = `with t (x) as (values ${values}) select x from t`
  for (const format of ['table', 'markdown', 'csv', 'tsv', 'json', 'ndjson'])
    for (const more of format === 'csv' ? [[], ['--safe'], ['--excel']] : [[]]) {
      const { out, code, err } = await runCommand(
        folder,
        ['query', sql, '--database', 'x.db', '--format', format, ...more],
        { INDICATOR_SYNC_API_KEY: KEY },
      )
      expect(code, err).toBe(0)
      expect(out).not.toContain(KEY)
    }
})

test('a key in an error of the command line is not printed', async () => {
  const folder = tempFolder()
  const { err, out } = await runCommand(folder, ['sync', KEY], {
    INDICATOR_SYNC_BASE_URL: 'http://127.0.0.1:9',
    INDICATOR_SYNC_API_KEY: KEY,
  })
  expectNoKey(out + err, 'a file that is called like the key')
})
