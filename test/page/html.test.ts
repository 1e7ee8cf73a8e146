import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { html, htmlText, jsonScript } from '../../src/page/html.ts'

/** Decodes character references like a browser. */
const read = (text: string): string =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')

const hostile = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({
    unit: fc.constantFrom('<', '>', '"', "'", '`', '&', '/', 'script', '&lt;', '\0', '\u202e', '\ud800', ' '),
  }),
)

test('a text of any content is escaped and reads the same', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      const written = htmlText(html`${text}`)
      expect(written).not.toMatch(/[<>"']/)
      expect(read(written)).toBe(text.replaceAll(/(?![\t\n\r])\p{Cc}|\p{Cs}/gu, '\ufffd'))
    }),
  )
})

test('html inserts templates unescaped, joins lists and omits absent values', () => {
  expect(htmlText(html`<b>${[html`<i>`, '<i>', 1, 2n, null, undefined, false]}</b>`)).toBe('<b><i>&lt;i&gt;12</b>')
})

test('data for a script cannot close its element and is parsed to the same value', () => {
  const rare = '\u007f\u0085\ud800</script>'
  expect(htmlText(jsonScript('data', rare))).toBe(
    '<script type="application/json" id="data">"\\u007f\\u0085\\ud800\\u003c/script>"</script>',
  )
  fc.assert(
    fc.property(fc.jsonValue(), hostile, (data, text) => {
      const written = htmlText(jsonScript('data', { data, text, end: '</script><!--<script>' }))
      const body = written.slice(written.indexOf('>') + 1, -'</script>'.length)
      expect(body).not.toMatch(/<|\u2028|\u2029/)
      expect(JSON.parse(body)).toEqual(JSON.parse(JSON.stringify({ data, text, end: '</script><!--<script>' })))
    }),
  )
})

test('every template puts attribute values in double quotes and has no inline styles or handlers', () => {
  const files = (readdirSync('src/page', { recursive: true }) as string[]).filter((file) => file.endsWith('.ts'))
  for (const file of files) {
    const text = readFileSync(join('src/page', file), 'utf8')
    for (const [template] of text.matchAll(/html`[^`]*`/g)) {
      expect(template, file).not.toMatch(/<[a-z][^>]*=(?:'|\$\{)/)
      expect(template, file).not.toMatch(/<[a-z][^>]*\s(?:style|on\w+)=/)
    }
  }
})
