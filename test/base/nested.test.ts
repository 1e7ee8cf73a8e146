import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { REDACTED, redactorOf } from '../../src/base/redact.ts'

const each = (text: string, write: (code: string) => string): string =>
  [...Buffer.from(text)].map((byte) => write(byte.toString(16).padStart(2, '0'))).join('')
const wrapped = (text: string, columns: number, end: string): string =>
  text.replace(new RegExp(`.{${columns}}`, 'g'), `$&${end}`)
const base64 = (text: string): string => Buffer.from(text).toString('base64')

/** Ways of writing a text that may stand in one another. */
const ENCODINGS: Readonly<Record<string, (text: string) => string>> = {
  base64,
  'base64 without its end': (text) => base64(text).replaceAll('=', ''),
  'base64 of addresses': (text) => Buffer.from(text).toString('base64url'),
  'base64 in lines of 76': (text) => wrapped(base64(text), 76, '\r\n'),
  'base64 in lines of 64': (text) => wrapped(base64(text), 64, '\n'),
  hexadecimal: (text) => Buffer.from(text).toString('hex'),
  'large hexadecimal': (text) => Buffer.from(text).toString('hex').toUpperCase(),
  percent: (text) => each(text, (code) => `%${code}`),
  'large percent': (text) => each(text, (code) => `%${code.toUpperCase()}`),
  'percent where it must be': encodeURIComponent,
  JSON: (text) => each(text, (code) => `\\u00${code}`),
  'JSON where it must be': (text) => JSON.stringify(text).slice(1, -1),
  'HTML numbers': (text) => each(text, (code) => `&#${Number.parseInt(code, 16)};`),
  'HTML numbers in hexadecimal': (text) => each(text, (code) => `&#x${code};`),
  'HTML where it must be': (text) =>
    text.replace(
      /[&<>"']/g,
      (letter) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[letter] ?? '&#39;',
    ),
}

/** Expects that nothing of an echo is left in a body, in a text and in a file, and that everything around it is. */
function expectGone(echo: string, key: string): void {
  const redactor = redactorOf(key)
  const body = JSON.stringify({ before: 1, name: `España: ${echo} año`, after: [2] })
  expect(redactor.found(body), echo).toBe(true)
  const bytes = redactor.bytes(Buffer.from(body))
  expect(bytes.length).toBe(Buffer.byteLength(body))
  const { before, name, after } = JSON.parse(bytes.toString('utf8')) as { before: number; name: string; after: unknown }
  expect([before, after]).toEqual([1, [2]])
  expect(name).toMatch(/^España: .* año$/s)
  expect(name).toContain(REDACTED)
  expect(redactor.found(name), `${name} of ${echo}`).toBe(false)
  const text = redactor.text(`año: ${echo} ñ`)
  expect(text).toMatch(/^año: .*ñ$/s)
  expect(redactor.found(text), `${text} of ${echo}`).toBe(false)
}

describe('a secret in encodings within one another', () => {
  const KEY = '3f9c2d71be5a4480a6e1c97d20f4b8836d5ea1179b0c42f8e7d36a95c81b024e'
  const kinds = Object.keys(ENCODINGS)

  test.each(kinds)('%s, of every other', (outer) => {
    for (const inner of kinds) expectGone(ENCODINGS[outer]!(ENCODINGS[inner]!(KEY)), KEY)
  })

  test('up to four of them, with words around each', () => {
    const digits = '0123456789abcdef'
    const letters = `${digits}ghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_`
    const keyOf = (from: string, lengths: { minLength: number; maxLength: number }) =>
      fc.array(fc.constantFrom(...from), lengths).map((all) => all.join(''))
    const keys = fc.oneof(
      keyOf(digits, { minLength: 64, maxLength: 64 }),
      keyOf(letters, { minLength: 16, maxLength: 64 }),
    )
    const word = fc.constantFrom(
      '',
      'x',
      'ab',
      'Abc',
      'token=',
      'x-api-key: ',
      '{"key":"',
      '<p class="a">',
      'año ',
      '5 % ',
    )
    const layer = fc.record({ kind: fc.constantFrom(...kinds), before: word, after: word })
    fc.assert(
      fc.property(keys, fc.array(layer, { maxLength: 4 }), (key, layers) => {
        expectGone(
          layers.reduce((text, { kind, before, after }) => ENCODINGS[kind]!(`${before}${text}${after}`), key),
          key,
        )
      }),
      { numRuns: 120 },
    )
  })

  test('across the end of what is searched at once', () => {
    const echo = ENCODINGS.JSON!(ENCODINGS.base64!(ENCODINGS.hexadecimal!(KEY)))
    const redactor = redactorOf(KEY)
    for (const before of [900, 400, 20]) {
      const body = Buffer.from(`{"name":"${'x y '.repeat(256 * 1024).slice(before)}${echo}"}`)
      const clean = redactor.bytes(body).toString('latin1')
      expect(redactor.found(clean.slice(-3000))).toBe(false)
    }
  })

  test('nothing else is taken for it, and what is made to be decoded without end ends', () => {
    const redactor = redactorOf(KEY)
    const picture = Buffer.from(Array.from({ length: 60_000 }, (_, i) => (i * 7919) % 251)).toString('base64')
    const text = JSON.stringify({
      picture: `data:image/png;base64,${picture}`,
      hash: ENCODINGS.hexadecimal!(ENCODINGS.hexadecimal!(KEY.replace('f', 'e'))),
      text: '<p>Precio &amp; demanda: 5 % \\u00e1 https://example.org/a%20b</p>\n'.repeat(1000),
    })
    expect(redactor.bytes(Buffer.from(text)).toString('utf8')).toBe(text)
    for (const one of ['V', '%25', '&amp;', '\\\\', '56'])
      expect(JSON.parse(redactor.bytes(Buffer.from(JSON.stringify(one.repeat(200_000)))).toString('utf8'))).toBeTypeOf(
        'string',
      )
  })
})
