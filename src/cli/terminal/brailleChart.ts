/** The bits of the dots of a braille letter: the left column from below, and the right one. */
const DOTS = [
  [0x40, 0x04, 0x02, 0x01],
  [0x80, 0x20, 0x10, 0x08],
] as const

/** Returns the lowest and highest of numbers; equal ones get room around them. */
export function findScale(values: readonly (number | null)[]): { low: number; high: number } {
  const numbers = values.filter((value) => value !== null)
  const low = numbers.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY)
  const high = numbers.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY)
  if (low > high) return { low: 0, high: 1 }
  return low === high ? { low: low - 1, high: high + 1 } : { low, high }
}

export const mean = (numbers: readonly number[]): number =>
  numbers.reduce((sum, value) => sum + value, 0) / numbers.length

/** Returns the means of some intervals of equal length; null for an interval without values. */
export function shrink(values: readonly (number | null)[], intervals: number): (number | null)[] {
  return Array.from({ length: intervals }, (_, i) => {
    const from = Math.floor((i * values.length) / intervals)
    const to = Math.max(from + 1, Math.floor(((i + 1) * values.length) / intervals))
    const part = values.slice(from, to).filter((value) => value !== null)
    return part.length === 0 ? null : mean(part)
  })
}

/** Writes a number with at most two decimals: 1,234.56. */
export const shortNumber = (value: number): string => value.toLocaleString('en-GB', { maximumFractionDigits: 2 })

/**
 * Draws a line in braille, two dots per column and four per row, with the ends of the scale on the left. Adjacent points are
 * joined; missing values break the line.
 */
export function chartText(
  values: readonly (number | null)[],
  { width, height, low, high }: { width: number; height: number; low: number; high: number },
): string[] {
  const labels = [high, low].map(shortNumber)
  const margin = Math.max(...labels.map(({ length }) => length))
  const columns = Math.max(1, width - margin - 2)
  const cells = Array.from({ length: height }, () => new Uint8Array(columns))
  let before: number | null = null
  for (const [x, value] of shrink(values, columns * 2).entries()) {
    const level = value === null ? null : Math.round(((value - low) / (high - low)) * (height * 4 - 1))
    if (level !== null) {
      // The joining line begins at the level next to that of the point before.
      const start = before === null ? level : before + Math.sign(level - before)
      for (let y = Math.min(level, start); y <= Math.max(level, start); y++)
        cells[height - 1 - (y >> 2)]![x >> 1]! |= DOTS[x % 2 === 0 ? 0 : 1][y & 3]!
    }
    before = level
  }
  const rowLabels = new Map([
    [height - 1, labels[1]!],
    [0, labels[0]!],
  ])
  return cells.map((row, i) => {
    const label = rowLabels.get(i) ?? ''
    return `${label.padStart(margin)} │${String.fromCharCode(...[...row].map((dots) => 0x2800 + dots)).trimEnd()}`
  })
}
