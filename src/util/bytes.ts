/* JSON as bytes: finds the borders of values without parsing them. */

export const QUOTE = 0x22
export const BACKSLASH = 0x5c
export const COMMA = 0x2c
export const COLON = 0x3a
export const MINUS = 0x2d
export const POINT = 0x2e
export const ZERO = 0x30
export const OPEN = 0x7b
const CLOSE = 0x7d
export const LIST = 0x5b
export const END = 0x5d

export const isSpace = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

export function skipSpace(body: Buffer, at: number): number {
  let i = at
  while (isSpace(body[i])) i++
  return i
}

/** The index after a string that starts at a quote; -1 if it does not end. */
export function skipString(body: Buffer, at: number): number {
  let i = at + 1
  for (; i < body.length; i++) {
    if (body[i] === BACKSLASH) i++
    else if (body[i] === QUOTE) return i + 1
  }
  return -1
}

/** The index after any value, whose content is not checked; -1 if it does not end. */
export function skipValue(body: Buffer, at: number): number {
  let depth = 0
  for (let i = at; i < body.length; i++) {
    const byte = body[i]
    if (byte === QUOTE) {
      i = skipString(body, i) - 1
      if (i < 0) return -1
      if (depth === 0) return i + 1
    } else if (byte === OPEN || byte === LIST) depth++
    else if (byte === CLOSE || byte === END) {
      if (depth === 0) return i
      if (--depth === 0) return i + 1
    } else if (depth === 0 && (byte === COMMA || isSpace(byte))) return i
  }
  return -1
}

/** Two digits as a number; 100 for anything else. */
export function twoDigits(body: Buffer, at: number): number {
  const tens = body[at]! - ZERO
  const ones = body[at + 1]! - ZERO
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : 100
}

/** The index of the quote that ends a text without escapes; -1 for any other text. */
export function textEnd(body: Buffer, at: number): number {
  for (let i = at; i < body.length; i++) {
    const byte = body[i]!
    if (byte === QUOTE) return i
    if (byte === BACKSLASH || byte < 0x20) return -1
  }
  return -1
}

export const isDigit = (byte: number): boolean => byte >= ZERO && byte <= 0x39

/** Whether a body has these bytes at an index. */
export function standsAt(body: Buffer, at: number, bytes: Uint8Array): boolean {
  const { length } = bytes
  for (let i = 0; i < length; i++) if (body[at + i] !== bytes[i]) return false
  return true
}

/** Bytes. Smaller buffers may share their memory with others. */
const LARGE = 128 * 1024

/** Frees the memory of a large body at once; the garbage collector would wait. The body must not be read afterwards. */
export function release({ buffer, length }: Uint8Array): void {
  if (length >= LARGE && buffer instanceof ArrayBuffer) buffer.transfer(0)
}
