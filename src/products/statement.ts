import { valueTooLarge } from '../db/statementErrors.ts'

/** What the runtime throws when a value does not fit into a text or a buffer. */
const isOverflow = (error: unknown): boolean =>
  error instanceof Error &&
  (('code' in error && error.code === 'ERR_STRING_TOO_LONG') ||
    (error instanceof RangeError && /string length|array buffer|allocation/i.test(error.message)))

/** An error while an answer is written as text, in our words; the engine tells what is wrong with the statement itself. */
export const asAnswerError = (error: unknown): unknown => (isOverflow(error) ? valueTooLarge(error) : error)

/** Whether an integer fits into 64 bits. */
const fits = (value: bigint): boolean => BigInt.asIntN(64, value) === value

/** The value of a parameter given as text: a number where it looks like one. */
export function parameterOf(text: string): string | number | bigint {
  if (/^-?\d+$/.test(text)) return fits(BigInt(text)) ? BigInt(text) : Number(text)
  return /^-?\d+\.\d+$/.test(text) ? Number(text) : text
}
