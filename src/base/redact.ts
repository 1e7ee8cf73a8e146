import { BACKSLASH, QUOTE } from './bytes/bytes.ts'
/* Finds and overwrites a secret in every form in which a service may send it back. Short texts are not treated as secrets: data would match them. */

import { beforeUnescaping, encodedIn, PRINTABLE, runsOf, type TextRange, unescaped } from './bytes/encodings.ts'

/** The text that replaces a secret. */
export const REDACTED = '[secret]'

/** Shorter texts are not searched for: they would match data. */
const SHORTEST_SECRET = REDACTED.length

/** Takes a secret out of what would show it. */
export interface Redactor {
  /** The text with a mark in place of the secret. */
  text(text: string): string
  /** Overwrites the secret in place; the length stays the same, and JSON stays valid. */
  bytes(bytes: Buffer): Buffer
  /** Whether a text holds the secret in any form. */
  found(text: string): boolean
}

const hex = (letter: string): string => letter.charCodeAt(0).toString(16).padStart(2, '0')

/** Letters that vanish by themselves. */
const INVISIBLE = String.raw`[\0-\x08\x0e-\x1a\x1c-\x1f\x7f]|[^\0-\x7f]`

/**
 * What vanishes when HTML becomes text or a terminal is written: tags, comments, entities, escape sequences, what has no width.
 * Each begins in its own way and ends at its first end, so that a text that only begins like a secret costs no more than its length.
 */
const VANISHES = [
  String.raw`(?:<|\\u003c)(?!!--)(?:[^<>"\\]|\\(?!u003[ce])[^]){0,1000}(?:>|\\u003e)`,
  String.raw`(?:<|\\u003c)!--(?:(?!--(?:>|\\u003e))(?:[^"\\]|\\[^])){0,300}--(?:>|\\u003e)`,
  '&(?:#x?[0-9a-f]{1,7}|[a-z]{2,24});',
  String.raw`(?:\x1b|\\u001b|\\u009b)[[\]()#;?]*[0-9;]*[a-z~=<>]?`,
  String.raw`\\u(?!001b|009b|00[2-7])[0-9a-f]{4}|\\u007f|\\{1,16}[bf]`,
  INVISIBLE,
].join('|')

/** Characters that begin another way of writing a letter, or something that vanishes. */
const HIDES = ['%', '\\', '&', '<', '\x1b']

/** The secret with any of its letters written as in an address, in JSON or in HTML, and with anything between them that vanishes. */
function escapedForm(secret: string): RegExp {
  const quoted = (letter: string): string => letter.replace(/[\\^$.*+?()[\]{}|/-]/, '\\$&')
  const letters = [...secret].map((letter) => {
    const code = hex(letter)
    const plain = /[\\/"]/.test(letter) ? `\\\\?${quoted(letter)}` : quoted(letter)
    return `(?:${plain}|%(?:25)?${code}|\\\\{1,16}u00${code}|\\\\x${code}|&#0{0,4}${letter.charCodeAt(0)};|&#x0{0,4}${code};)`
  })
  return new RegExp(letters.join(`(?:${VANISHES})*?`), 'gi')
}

/**
 * The parts of a JSON text without an unescaped quotation mark that are at least as long as the shortest form of a secret; no
 * form contains such a mark. Each part is searched from its far end, so that most of a text of short words is never read; the
 * values of an answer have no such part at all. Algorithm: the skip of Boyer and Moore.
 */
export function* unquoted(bytes: Buffer, shortest: number): Generator<Buffer, void> {
  for (let from = 0; from + shortest <= bytes.length; ) {
    let at = from + shortest - 1
    while (at >= from && (bytes[at] !== QUOTE || bytes[at - 1] === BACKSLASH)) at--
    if (at >= from) {
      from = at + 1
      continue
    }
    let to = bytes.indexOf(QUOTE, from + shortest)
    while (to >= 0 && bytes[to - 1] === BACKSLASH) to = bytes.indexOf(QUOTE, to + 1)
    if (to < 0) to = bytes.length
    yield bytes.subarray(from, to)
    from = to + 1
  }
}

/** Bytes that are searched at once. */
const CHUNK_BYTES = 1024 * 1024
/**
 * Bytes from the first to the last letter of a secret, with all that is between: up to this it is found across the end of a
 * chunk.
 */
const MAX_SECRET_SPAN = 256 * 1024

/** Encodings within one another that are undone: the four that are promised, and the JSON of the answer itself. */
const LAYERS = 5
/** How much of a text is decoded, as a multiple of its length. Data need less; a text that needs more was made to cost time, and counts as a secret. */
const MAX_DECODED = 12

const noRedactor: Redactor = { text: (text) => text, bytes: (bytes) => bytes, found: () => false }

/**
 * Where a run begins if what is before it is taken for the beginning of an escape of JSON, which ends within the run: only
 * so is JSON still valid when the run is overwritten.
 */
function afterEscape(text: string, { from, to }: TextRange): TextRange {
  let before = from
  while (text[before - 1] === '\\') before--
  if ((from - before) % 2 === 0) return { from, to }
  return { from: Math.min(to, from + (text[from] === 'u' ? 5 : 1)), to }
}

/** The parts in order, with those that touch made one. */
function united(spans: readonly TextRange[]): TextRange[] {
  const all: TextRange[] = []
  for (const span of [...spans].sort((a, b) => a.from - b.from)) {
    const last = all.at(-1)
    if (last && span.from <= last.to) all[all.length - 1] = { from: last.from, to: Math.max(last.to, span.to) }
    else all.push(span)
  }
  return all
}

function create(secret: string): Redactor {
  if (secret.length < SHORTEST_SECRET) return noRedactor
  const { length } = secret
  const escaped = escapedForm(secret)
  const invisible = new RegExp(INVISIBLE, 'g')
  const visible = (text: string): string => text.replace(invisible, '').toLowerCase()
  const letters = visible(secret)
  // The pattern is large, and most texts hold nothing that could hide a secret: it is seldom even compiled.
  const mayHide = (text: string): boolean => HIDES.some((one) => text.includes(one)) || visible(text).includes(letters)

  /** Where the pattern is found. It is used itself: the copy that matchAll makes would be compiled for every text. */
  function direct(text: string): TextRange[] {
    const spans: TextRange[] = []
    escaped.lastIndex = 0
    for (let found = escaped.exec(text); found; found = escaped.exec(text))
      spans.push({ from: found.index, to: found.index + found[0].length })
    return spans
  }

  /** Where the secret is in a text, as it is or encoded in up to that many layers; of base64 and hexadecimal digits the whole run. */
  function places(text: string, layers: number, budget: { left: number }): TextRange[] {
    if (text.length < length) return []
    budget.left -= text.length
    if (budget.left < 0) return [{ from: 0, to: text.length }]
    const spans = mayHide(text) ? direct(text) : []
    if (layers === 0) return spans
    const holds = (meaning: string): boolean => {
      for (const { from, to } of runsOf(meaning, PRINTABLE, length))
        if (places(meaning.slice(from, to), layers - 1, budget).length > 0) return true
      return false
    }
    for (const { from: start, to: end } of runsOf(text, PRINTABLE, length)) {
      const run = text.slice(start, end)
      const within: TextRange[] = []
      for (const one of encodedIn(run, length)) if (one.meanings.some(holds)) within.push(afterEscape(run, one))
      const plain = unescaped(run)
      if (plain !== run) for (const span of places(plain, layers - 1, budget)) within.push(beforeUnescaping(run, span))
      for (const { from, to } of within) spans.push({ from: start + from, to: start + to })
    }
    return spans
  }
  const find = (text: string): TextRange[] => places(text, LAYERS, { left: MAX_DECODED * text.length })

  return {
    text: (text) =>
      united(find(text)).reduceRight((left, { from, to }) => left.slice(0, from) + REDACTED + left.slice(to), text),
    bytes(bytes) {
      for (const part of unquoted(bytes, length))
        for (let start = 0; start < part.length; start += CHUNK_BYTES)
          for (const { from, to } of united(
            find(part.toString('latin1', start, start + CHUNK_BYTES + MAX_SECRET_SPAN)),
          )) {
            part.fill('*', start + from, start + to)
            part.write(REDACTED, start + from)
          }
      return bytes
    },
    found: (text) => find(text).length > 0,
  }
}

const redactors = new Map<string, Redactor>()

/** The redactor of a secret, made once. Quotes around the secret are not part of it. */
export function redactorOf(secret: string): Redactor {
  const bare = secret.replaceAll('"', '')
  const redactor = redactors.get(bare) ?? create(bare)
  redactors.set(bare, redactor)
  return redactor
}

/** Replaces every secret in a text. */
export const redact = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((clean, secret) => redactorOf(secret).text(clean), text)
