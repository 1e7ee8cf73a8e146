import { memoize } from './memoize.ts'

/** The text that replaces a secret. */
export const REDACTED = '[secret]'

/** Shorter texts are not searched for: they would match data. */
const SHORTEST_SECRET = REDACTED.length

/** Removes a secret from texts and bytes. */
export interface Redactor {
  /** Replaces the secret in a text. */
  text(text: string): string
  /** Overwrites the secret in place; the length stays the same, and JSON stays valid. */
  bytes(bytes: Buffer): Buffer
  /** Whether a text contains the secret in any form. */
  isIn(text: string): boolean
}

const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, '0')

/** Matches a secret, each character of it plain, JSON-escaped or URL-encoded, and these escaped up to four times. */
function createPattern(secret: string): RegExp {
  const characters = [...secret].map((character) => {
    const plain = character.replace(/[\\^$.*+?()[\]{}|/-]/, '\\$&')
    const json = character.split('').map((unit) => String.raw`\\{1,8}u${hex(unit.charCodeAt(0), 4)}`)
    const url = [...Buffer.from(character)].map((byte) => `%(?:25){0,3}${hex(byte, 2)}`)
    const escaped = /[\\/"]/.test(character) ? String.raw`\\{0,8}` : ''
    return `(?:${escaped}${plain}|${json.join('')}|${url.join('')}${character === ' ' ? '|\\+' : ''})`
  })
  return new RegExp(characters.join(''), 'gi')
}

/** The start of the overwritten part. It includes a JSON escape that the secret begins in: half an escape is not valid. */
function withEscape(text: string, at: number): number {
  let from = at - (/\\u[0-9a-f]{0,3}$/i.exec(text.slice(Math.max(0, at - 5), at))?.[0].length ?? 0)
  while (text[from - 1] === '\\') from--
  return from
}

const QUOTE = 0x22
const BACKSLASH = 0x5c

/**
 * The parts of a JSON text between unescaped quotation marks that are long enough for a secret, which contains no such mark.
 * Each part is searched from its end, so that most of a text of short words is never read. Algorithm: the skip of Boyer and Moore.
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

/** Bytes of the longest form of a secret. Text is cut only after secrets that go so far over its end are removed. */
export const LONGEST_SECRET = 16 * 1024

/** Bytes that are searched at once. Pieces overlap by the longest form of a secret. */
const PIECE_BYTES = 1024 * 1024
const LONGEST_LETTER = 64

const noRedactor: Redactor = { text: (text) => text, bytes: (bytes) => bytes, isIn: () => false }

function create(secret: string): Redactor {
  const { length } = secret
  if (length < SHORTEST_SECRET) return noRedactor
  const pattern = createPattern(secret)
  return {
    text: (text) => text.replace(pattern, REDACTED),
    bytes(bytes) {
      for (const part of unquoted(bytes, length))
        for (let start = 0; start < part.length; start += PIECE_BYTES) {
          const piece = part.toString('latin1', start, start + PIECE_BYTES + LONGEST_LETTER * length)
          for (const { 0: match, index } of piece.matchAll(pattern)) {
            const from = start + withEscape(piece, index)
            part.fill('*', from, start + index + match.length)
            part.write(REDACTED, from)
          }
        }
      return bytes
    },
    isIn: (text) => text.search(pattern) >= 0,
  }
}

/** The redactor of a secret, made once. Quotes around the secret are not part of it. */
export const createRedactor = memoize((secret: string): Redactor => create(secret.replace(/^"(.*)"$/s, '$1')))

/** The redactor of several secrets. */
export function createRedactors(secrets: readonly string[]): Redactor {
  const redactors = secrets.map(createRedactor)
  return {
    text: (text) => redact(text, secrets),
    bytes(bytes) {
      for (const redactor of redactors) redactor.bytes(bytes)
      return bytes
    },
    isIn: (text) => redactors.some((redactor) => redactor.isIn(text)),
  }
}

/** Replaces every secret in a text. */
export const redact = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((clean, secret) => createRedactor(secret).text(clean), text)
