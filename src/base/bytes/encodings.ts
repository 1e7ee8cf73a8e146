/* The ways of writing text that programs nest in one another, undone by one layer: base64, hexadecimal digits, percent, JSON and HTML escapes. */

/** A part of a text, from its first character to the one after its last. */
export interface TextRange {
  readonly from: number
  readonly to: number
}

/** The characters of an alphabet, by their codes. */
type Alphabet = Uint8Array

const alphabet = (letters: RegExp): Alphabet =>
  Uint8Array.from({ length: 256 }, (_, code) => (letters.test(String.fromCharCode(code)) ? 1 : 0))

/** What every encoding here consists of. */
export const PRINTABLE = alphabet(/[\t\n\r\x20-\x7e]/)
// Both kinds of base64, and the ends of lines at which programs wrap it.
const BASE64 = alphabet(/[A-Za-z0-9+/_\r\n-]/)
const HEX = alphabet(/[0-9A-Fa-f\r\n]/)

/**
 * The longest parts of a text that consist of one alphabet, where they have at least that many characters. Each is looked for from
 * its far end, so that most of a text of short words is never read. Algorithm: the skip of Boyer and Moore.
 */
export function* runsOf(text: string, letters: Alphabet, shortest: number): Generator<TextRange, void> {
  for (let from = 0; from + shortest <= text.length; ) {
    let at = from + shortest - 1
    while (at >= from && letters[text.charCodeAt(at)] === 1) at--
    if (at >= from) {
      from = at + 1
      continue
    }
    let to = from + shortest
    while (to < text.length && letters[text.charCodeAt(to)] === 1) to++
    yield { from, to }
    from = to + 1
  }
}

/** A run as each text that it may be: at which of its characters the encoding begins is unknown. */
export interface Encoded extends TextRange {
  readonly meanings: readonly string[]
}

/** The runs of base64 and of hexadecimal digits that are long enough for a text of that many characters. */
export function* encodedIn(text: string, characters: number): Generator<Encoded, void> {
  const encodings = [
    { letters: BASE64, encoding: 'base64', group: 4, shortest: Math.ceil((characters * 4) / 3) },
    { letters: HEX, encoding: 'hex', group: 2, shortest: characters * 2 },
  ] as const
  for (const { letters, encoding, group, shortest } of encodings)
    for (const { from, to } of runsOf(text, letters, shortest)) {
      const run = text.slice(from, to).replace(/[\r\n]+/g, '')
      const meaning = (_: unknown, start: number) => Buffer.from(run.slice(start), encoding).toString('latin1')
      yield { from, to, meanings: Array.from({ length: group }, meaning) }
    }
}

const ESCAPE =
  /%([0-9a-f]{2})|\\(?:u([0-9a-f]{4})|x([0-9a-f]{2})|([\\/"'bfnrt]))|&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(amp|lt|gt|quot|apos|num|percnt|bsol|sol|plus|equals|semi|colon|lowbar|newline|tab));?/gi
const ESCAPED_LETTERS: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }
const NAMED_ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  num: '#',
  percnt: '%',
  bsol: '\\',
  sol: '/',
  plus: '+',
  equals: '=',
  semi: ';',
  colon: ':',
  lowbar: '_',
  newline: '\n',
  tab: '\t',
}

/** What one escape means: always one character. */
function letterOf([, percent, unicode, hex, letter, decimal, hexadecimal, name]: readonly (
  | string
  | undefined
)[]): string {
  const code = percent ?? unicode ?? hex ?? hexadecimal
  if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16))
  if (decimal !== undefined) return String.fromCharCode(Number(decimal))
  return name !== undefined ? NAMED_ENTITIES[name.toLowerCase()]! : (ESCAPED_LETTERS[letter!] ?? letter!)
}

/** The text with every escape undone once. */
export const unescaped = (text: string): string => text.replace(ESCAPE, (...found) => letterOf(found.slice(0, 8)))

/** The part of a text to which a part of the same text without its escapes corresponds. */
export function beforeUnescaping(text: string, { from, to }: TextRange): TextRange {
  let [removed, start] = [0, from]
  for (const found of text.matchAll(ESCAPE)) {
    // Where the escape stands when those before it are undone.
    const at = found.index - removed
    if (at >= to) break
    removed += found[0].length - 1
    if (at < from) start = from + removed
  }
  return { from: start, to: to + removed }
}
