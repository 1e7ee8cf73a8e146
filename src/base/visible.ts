import { stripVTControlCharacters } from 'node:util'

/*
 * What a terminal or a log may be told: letters, and the ends of lines that we write ourselves. A text of the service may
 * hold escape sequences that move the cursor, marks that turn the direction of writing, and separators that look like the
 * end of a line.
 */

/** Controls but for tab and newline, what has no width of its own (marks of direction, joiners, tags), separators, and halves of letters. */
const HIDDEN = /(?![\t\n])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

/** A letter as JSON can write it: one or two escapes of four digits. */
const escaped = (letter: string): string =>
  letter
    .split('')
    .map((half) => `\\u${half.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')

/** The same text with everything that is not seen written as `\u…`, which in JSON means the same. Lines stay lines. */
export const visible = (text: string): string => text.replace(HIDDEN, escaped)

/** A text of the service for a place in a line: one line, without escape sequences and without anything that is not seen. */
export const oneLine = (text: string): string =>
  stripVTControlCharacters(text)
    .replaceAll(/[\s\u0085]+/g, ' ')
    .replaceAll(HIDDEN, '')
    .trim()
