import type { CoverageState } from './queries/intervals.ts'

/** The sign of each state: never told by its colour alone. */
export const SIGNS: Readonly<Record<CoverageState, string>> = {
  final: '=',
  provisional: '~',
  empty: 'o',
  none: '·',
  doubt: '?',
  failed: '!',
}
