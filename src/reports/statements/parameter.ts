/** Whether an integer fits into 64 bits. */
const fits = (value: bigint): boolean => BigInt.asIntN(64, value) === value

/** The value of a parameter given as text: a number where it looks like one. */
export function parameterOf(text: string): string | number | bigint {
  if (/^-?\d+$/.test(text)) return fits(BigInt(text)) ? BigInt(text) : Number(text)
  return /^-?\d+\.\d+$/.test(text) ? Number(text) : text
}
