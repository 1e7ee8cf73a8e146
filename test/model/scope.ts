/* The scope of the comparison: everything, unless restricted by `--without counters,gaps`. */

/** The parts of the comparison by name. */
export const SCOPE = new Set([
  'values',
  'history',
  'coverage',
  'gaps',
  'freshness',
  'counters',
  'requests',
  'repeats',
  'zones',
])

/** Whether a kill ends a process, or only a transaction. */
export const KILLS = { real: false }

/** Excludes parts of the comparison. */
export function leaveOut(parts: string): void {
  for (const part of parts.split(',').filter(Boolean))
    if (!SCOPE.delete(part)) throw new Error(`${part} is not a part of the comparison; legal: ${[...SCOPE].join(', ')}`)
}
