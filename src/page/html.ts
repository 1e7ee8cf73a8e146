/** A complete and safe piece of HTML: made by `html`, or by the other functions of this file. */
export interface Html {
  readonly [HTML_TEXT]: string
}

const HTML_TEXT = Symbol('html')

/** A value in a template: texts are escaped, lists are joined, and null, undefined and false are empty. */
export type HtmlPart = Html | string | number | bigint | null | undefined | false | readonly HtmlPart[]

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
}

/** Control characters, which HTML must not contain, and halves of surrogate pairs. */
const UNWRITABLE = /(?![\t\n\r])\p{Cc}|\p{Cs}/gu

/** A text as HTML writes it, between tags and between quotes alike. */
const escapedHtml = (text: string): string =>
  text.replaceAll(UNWRITABLE, '\ufffd').replaceAll(/[&<>"'`]/g, (letter) => ESCAPES[letter]!)

const asHtml = (text: string): Html => ({ [HTML_TEXT]: text })

function partText(part: HtmlPart): string {
  if (part === null || part === undefined || part === false) return ''
  if (Array.isArray(part)) return part.map(partText).join('')
  return typeof part === 'object' ? (part as Html)[HTML_TEXT] : escapedHtml(String(part))
}

/** HTML from a template. Values of attributes are in double quotes: `<a href="${href}">`. */
export const html = (strings: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html =>
  asHtml(strings.reduce((text, string, i) => text + partText(parts[i - 1]) + string))

/** The text of a piece, ready to be sent. */
export const htmlText = (piece: Html): string => piece[HTML_TEXT]

/** Data for the scripts of a page, which find it by its id. It is never run. */
export const jsonScript = (id: string, data: unknown): Html =>
  asHtml(
    `<script type="application/json" id="${escapedHtml(id)}">${JSON.stringify(data)
      .replaceAll('<', '\\u003c')
      .replaceAll('\u2028', '\\u2028')
      .replaceAll('\u2029', '\\u2029')}</script>`,
  )

/** An address from the source as a link may have it: http or https; else null. */
export function webAddress(text: string | null): string | undefined {
  const url = text === null ? null : URL.parse(text)
  return url && ['http:', 'https:'].includes(url.protocol) && url.username === '' ? url.href : undefined
}
