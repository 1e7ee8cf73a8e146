import type { StateInterval } from '../../reports/strips.ts'

/** The bits of the dots of a braille letter: its left column from below, and its right one. */
const DOTS = [
  [0x40, 0x04, 0x02, 0x01],
  [0x80, 0x20, 0x10, 0x08],
] as const

/** The lowest and highest of numbers; equal ones get room around them. */
export function findScale(values: readonly (number | null)[]): { low: number; high: number } {
  const numbers = values.filter((value) => value !== null)
  const low = numbers.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY)
  const high = numbers.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY)
  if (low > high) return { low: 0, high: 1 }
  return low === high ? { low: low - 1, high: high + 1 } : { low, high }
}

/** Means of a number of intervals of equal length; null where an interval has no value. */
export function shrink(values: readonly (number | null)[], intervals: number): (number | null)[] {
  return Array.from({ length: intervals }, (_, i) => {
    const from = Math.floor((i * values.length) / intervals)
    const to = Math.max(from + 1, Math.floor(((i + 1) * values.length) / intervals))
    const part = values.slice(from, to).filter((value) => value !== null)
    return part.length === 0 ? null : part.reduce((sum, value) => sum + value, 0) / part.length
  })
}

/**
 * Draws a line in braille, two dots a column and four a row, with the ends of the scale on the left. Neighbouring points
 * are joined; where values are missing the line is broken.
 */
export function chartText(
  values: readonly (number | null)[],
  { width, height, low, high }: { width: number; height: number; low: number; high: number },
): string[] {
  const labels = [high, low].map((value) => value.toLocaleString('en-GB', { maximumFractionDigits: 2 }))
  const margin = Math.max(...labels.map(({ length }) => length))
  const columns = Math.max(1, width - margin - 2)
  const points = shrink(values, columns * 2)
  const cells = Array.from({ length: height }, () => new Uint8Array(columns))
  const levels = height * 4 - 1
  let before: number | null = null
  for (const [x, value] of points.entries()) {
    const level = value === null ? null : Math.round(((value - low) / (high - low)) * levels)
    if (level !== null) {
      const from = before === null ? level : Math.min(level, before + Math.sign(level - before))
      const to = before === null ? level : Math.max(level, before + Math.sign(level - before))
      for (let y = from; y <= to; y++) {
        const row = cells[height - 1 - (y >> 2)]!
        const cell = x >> 1
        row[cell] = row[cell]! | DOTS[x % 2 === 0 ? 0 : 1][y & 3]!
      }
    }
    before = level
  }
  return cells.map((row, i) => {
    const label = i === 0 ? labels[0]! : i === height - 1 ? labels[1]! : ''
    return `${label.padStart(margin)} │${String.fromCharCode(...[...row].map((dots) => 0x2800 + dots)).trimEnd()}`
  })
}

/** Marks of a strip: final, provisional, empty at the source, unverified, stored in part, and not stored. */
export const MARKS = { final: '█', provisional: '▒', empty: '░', unverified: '?', partial: '▖', none: '·' } as const

/** One mark for each interval of equal length: its most frequent state, or `partial` if less than half of it is stored. */
export function stripText(stored: readonly StateInterval[], from: number, to: number, intervals: number): string {
  const length = (to - from) / intervals
  return Array.from({ length: intervals }, (_, i) => {
    const begin = from + i * length
    const shares = new Map<keyof typeof MARKS, number>([['none', length]])
    for (const { from: first, to: last, state } of stored) {
      const inside = Math.min(last, begin + length) - Math.max(first, begin)
      if (inside <= 0) continue
      const mark = state as keyof typeof MARKS
      shares.set(mark, (shares.get(mark) ?? 0) + inside)
      shares.set('none', shares.get('none')! - inside)
    }
    const [most] = [...shares].sort((a, b) => b[1] - a[1])[0]!
    return MARKS[most === 'none' && shares.size > 1 ? 'partial' : most]
  }).join('')
}
