import { stripVTControlCharacters } from 'node:util'

/*
 * Text for terminals and logs. Text from the service may contain escape sequences that move the cursor, marks that change the
 * direction of writing, and separators that look like line ends.
 */

/**
 * Controls except tab and newline, characters without width (direction marks, joiners, tags), separators, and halves of surrogate
 * pairs.
 */
const HIDDEN_CHARACTERS = /(?![\t\n])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

/** A letter as JSON escapes of four digits. */
const jsonEscape = (letter: string): string =>
  letter
    .split('')
    .map((half) => `\\u${half.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')

/** The text with invisible characters escaped as `\u…`, as in JSON. Line ends stay. */
export const visible = (text: string): string => text.replace(HIDDEN_CHARACTERS, jsonEscape)

/** The text as one line, without escape sequences and invisible characters. */
export const oneLine = (text: string): string =>
  stripVTControlCharacters(text)
    .replaceAll(/[\s\u0085]+/g, ' ')
    .replaceAll(HIDDEN_CHARACTERS, '')
    .trim()

/** A text without case and accents, to compare it. */
export const withoutAccents = (text: string): string => text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase()

/** A word without the ending of its plural in English and Spanish, as the beginning of both forms: `prices` → `pric`. */
export const withoutPlural = (word: string): string => (word.length > 3 ? word.replace(/e?s$/i, '') : word)

/** A word, quoted for a shell if necessary. */
export const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) && !text.startsWith('-') ? text : `'${text.replaceAll("'", "'\\''")}'`

/** A number with separated thousands: 52,416. */
export const grouped = (n: number): string => {
  const [whole = '', ...part] = String(n).split('.')
  return [whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ','), ...part].join('.')
}

/** A number with its noun: 1 request, 52,416 requests. */
export const quantity = (n: number, singular: string, plural = `${singular}s`): string =>
  `${grouped(n)} ${n === 1 ? singular : plural}`

/** A duration in seconds, minutes or hours. */
export function durationText(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`
  if (seconds < 5400) return `${Math.ceil(seconds / 60)} min`
  return `${(seconds / 3600).toFixed(1)} h`
}
