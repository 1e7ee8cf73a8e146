import { COLON, QUOTE, textEnd, twoDigits } from '../../util/bytes.ts'
import { parseInstant } from '../../util/time/instant.ts'

/**
 * Reads instants from text. Most have the day and offset of the previous one, which is fast to compare. `at` is NaN for any
 * other text.
 */
export function createInstantReader(body: Buffer) {
  let lastIndex = 0
  let length = -1
  let midnight = 0
  const clock = {
    at: Number.NaN,
    /** Reads the text at an index, and returns the index of its closing quote; -1 for a text with escapes. */
    read(from: number): number {
      const to = from + length
      if (length >= 19 && body[to] === QUOTE && isSameDay(from) && hasSameOffset(from)) {
        const hour = twoDigits(body, from + 11)
        const minute = twoDigits(body, from + 14)
        const second = twoDigits(body, from + 17)
        if (hour < 24 && minute < 60 && second < 60) {
          clock.at = midnight + hour * 3600 + minute * 60 + second
          return to
        }
      }
      return learnDay(from)
    },
  }
  const isSameDay = (from: number): boolean => {
    for (let i = 10; i >= 0; i--) if (body[from + i] !== body[lastIndex + i]) return false
    return body[from + 13] === COLON && body[from + 16] === COLON
  }
  const hasSameOffset = (from: number): boolean => {
    for (let i = 19; i < length; i++) if (body[from + i] !== body[lastIndex + i]) return false
    return true
  }
  const learnDay = (from: number): number => {
    const to = textEnd(body, from)
    if (to < 0) return -1
    const text = body.toString('latin1', from, to)
    clock.at = parseInstant(text)
    if (!Number.isNaN(clock.at)) {
      lastIndex = from
      length = to - from
      midnight =
        clock.at - (twoDigits(body, from + 11) * 3600 + twoDigits(body, from + 14) * 60 + twoDigits(body, from + 17))
    }
    return to
  }
  return clock
}
