/* Finds and overwrites a secret in every form in which a service may send it back. Short texts are not treated as secrets: data would match them. */

/** The text that replaces a secret. */
export const MARK = '[secret]'

/** Shorter texts are not searched for: they would match data. */
const SHORTEST_SECRET = MARK.length

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

/** What base64 makes of a secret that begins at each of the three places of a group, without the letters that its neighbours share. */
function inBase64(secret: string): string[] {
  const forms = [0, 1, 2].map((place) => {
    const text = Buffer.concat([Buffer.alloc(place), Buffer.from(secret)]).toString('base64')
    return text.slice(Math.ceil((place * 8) / 6), Math.floor(((place + secret.length) * 8) / 6))
  })
  return [...forms, ...forms.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'))]
}

/** The secret as it is, in the other case, and as base64 or hexadecimal digits. */
function wholeForms(secret: string): string[] {
  const digits = Buffer.from(secret).toString('hex')
  const forms = [secret, secret.toLowerCase(), secret.toUpperCase(), ...inBase64(secret), digits, digits.toUpperCase()]
  return [...new Set(forms)].filter(({ length }) => length >= SHORTEST_SECRET)
}

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
  String.raw`\\u(?!001b|009b|00[2-7])[0-9a-f]{4}|\\u007f|\\+[bf]`,
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
    return `(?:${plain}|%(?:25)?${code}|\\\\+u00${code}|\\\\x${code}|&#0{0,4}${letter.charCodeAt(0)};|&#x0{0,4}${code};)`
  })
  return new RegExp(letters.join(`(?:${VANISHES})*?`), 'gi')
}

const QUOTE = 0x22
const BACKSLASH = 0x5c

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
 * Bytes from the first to the last letter of a secret, with all that stands between: up to this it is found across the end of a
 * chunk.
 */
const MAX_SECRET_SPAN = 64 * 1024

const none: Redactor = { text: (text) => text, bytes: (bytes) => bytes, found: () => false }

function create(secret: string): Redactor {
  if (secret.length < SHORTEST_SECRET) return none
  const forms = wholeForms(secret)
  const needles = forms.map((form) => Buffer.from(form))
  const escaped = escapedForm(secret)
  const shortest = Math.min(secret.length, ...forms.map(({ length }) => length))
  const invisible = new RegExp(INVISIBLE, 'g')
  const visible = (text: string): string => text.replace(invisible, '').toLowerCase()
  const letters = visible(secret)
  // The pattern is large, and most texts hold nothing that could hide a secret: it is seldom even compiled.
  const mayHide = (text: string): boolean => HIDES.some((one) => text.includes(one)) || visible(text).includes(letters)
  const overwrite = (bytes: Buffer, at: number, length: number): void => {
    bytes.fill('*', at, at + length)
    bytes.write(MARK, at)
  }
  return {
    text(text) {
      if (text.length < shortest) return text
      const clean = forms.reduce((left, form) => left.replaceAll(form, MARK), text)
      return mayHide(clean) ? clean.replace(escaped, MARK) : clean
    },
    bytes(bytes) {
      for (const part of unquoted(bytes, shortest)) {
        for (const needle of needles)
          for (let at = part.indexOf(needle); at >= 0; at = part.indexOf(needle, at)) overwrite(part, at, needle.length)
        for (let from = 0; from < part.length; from += CHUNK_BYTES) {
          const text = part.toString('latin1', from, from + CHUNK_BYTES + MAX_SECRET_SPAN)
          if (!mayHide(text)) continue
          for (const { index, 0: found } of text.matchAll(escaped)) overwrite(part, from + index, found.length)
        }
      }
      return bytes
    },
    found: (text) =>
      text.length >= shortest &&
      (forms.some((form) => text.includes(form)) || (mayHide(text) && text.search(escaped) >= 0)),
  }
}

const known = new Map<string, Redactor>()

/** The redactor of a secret, made once. Quotes around the secret are not part of it. */
export function redactorOf(secret: string): Redactor {
  const bare = secret.replaceAll('"', '')
  const redactor = known.get(bare) ?? create(bare)
  known.set(bare, redactor)
  return redactor
}

/** Replaces every secret in a text. */
export const redact = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((clean, secret) => redactorOf(secret).text(clean), text)
