import { stripVTControlCharacters } from 'node:util'

/*
 * What may be written to a terminal or a log: visible characters, and the line ends that we write ourselves. Text from the
 * service may hold escape sequences that move the cursor, marks that change the direction of writing, and separators that look
 * like the end of a line. And what may be typed there: words of a shell.
 */

/**
 * Controls except tab and newline, characters without width (direction marks, joiners, tags), separators, and halves of surrogate
 * pairs.
 */
const HIDDEN_LETTERS = /(?![\t\n])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

/** A letter as JSON can write it: one or two escapes of four digits. */
const jsonEscape = (letter: string): string =>
  letter
    .split('')
    .map((half) => `\\u${half.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')

/** The same text with every invisible character written as `\u…`, which means the same in JSON. Line ends stay. */
export const visible = (text: string): string => text.replace(HIDDEN_LETTERS, jsonEscape)

/** Text from the service for use within a line: one line, without escape sequences and invisible characters. */
export const oneLine = (text: string): string =>
  stripVTControlCharacters(text)
    .replaceAll(/[\s\u0085]+/g, ' ')
    .replaceAll(HIDDEN_LETTERS, '')
    .trim()

/** A text without case and accents, to compare it. */
export const withoutAccents = (text: string): string => text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase()

/** A word as a shell takes it. */
export const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) && !text.startsWith('-') ? text : `'${text.replaceAll("'", "'\\''")}'`

/** A number with thousands apart: 52,416. */
export const grouped = (n: number): string => {
  const [whole = '', ...part] = String(n).split('.')
  return [whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ','), ...part].join('.')
}

/** A number with what is counted, of which there is one or many: 1 request, 52,416 requests. */
export const quantity = (n: number, one: string, many = `${one}s`): string => `${grouped(n)} ${n === 1 ? one : many}`
