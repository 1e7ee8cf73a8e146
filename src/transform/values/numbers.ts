import { isDigit, MINUS, POINT, ZERO } from '../../util/bytes.ts'

/** Powers of ten that a double represents exactly. */
const TENS = Array.from({ length: 16 }, (_, i) => 10 ** i)

/** Reads numbers of at most fifteen digits exactly, because the digits and the power of ten are integers. */
export function createNumbers(bytes: Uint8Array) {
  const numbers = {
    number: 0,
    /** The index after it. */
    end: -1,
    /** Reads the number at an index, or only an integer if `isInteger`. Returns whether it succeeded. */
    read(at: number, isInteger: boolean): boolean {
      let i = at
      const isNegative = bytes[i] === MINUS
      if (isNegative) i++
      const first = i
      let digits = 0
      let point = -1
      for (; ; i++) {
        const byte = bytes[i]!
        if (isDigit(byte)) digits = digits * 10 + byte - ZERO
        else if (byte === POINT && point < 0 && !isInteger && i > first) point = i
        else break
      }
      const count = i - first - (point < 0 ? 0 : 1)
      if (count === 0 || count > 15 || point === i - 1) return false
      // 01 is not a number in JSON, and 1e5 is left to the parser.
      if (bytes[first] === ZERO && first + 1 !== (point < 0 ? i : point)) return false
      if (bytes[i] === 0x65 || bytes[i] === 0x45) return false
      const size = point < 0 ? digits : digits / TENS[i - point - 1]!
      numbers.number = isNegative ? -size : size
      numbers.end = i
      return true
    },
  }
  return numbers
}
