import { raw, html as template } from 'hono/html'

/** A complete and safe piece of HTML: made by `html`, or by the other functions of this file. */
export interface Html {
  readonly isEscaped: true
  toString(): string
}

/** A value in a template: texts are escaped, lists are joined, and null, undefined and false are empty. */
export type HtmlPart = Html | string | number | bigint | null | undefined | false | readonly HtmlPart[]

/** HTML from a template. Values of attributes are in double quotes: `<a href="${href}">`. */
export const html = (strings: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html =>
  // A promise only for parts that are promises.
  template(strings, ...parts) as Html

/** Control characters, which HTML must not contain, and halves of surrogate pairs. */
const UNWRITABLE = /(?![\t\n\r])\p{Cc}|\p{Cs}/gu

/** The text of a piece, ready to be sent. */
export const htmlText = (piece: Html): string => piece.toString().replaceAll(UNWRITABLE, '\ufffd')

/** What JSON may contain and a script of a page must not. */
const UNSAFE_IN_SCRIPT = /[<\u2028\u2029]|\p{Cc}/gu

const unicodeEscape = (letter: string): string => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Data for the scripts of a page, which find it by its id. It is never run. */
export const jsonScript = (id: string, data: unknown): Html =>
  html`<script type="application/json" id="${id}">${raw(JSON.stringify(data).replaceAll(UNSAFE_IN_SCRIPT, unicodeEscape))}</script>`
