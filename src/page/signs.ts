import type { CoverageState } from './queries/intervals.ts'

/** The sign of each state, so that colour is never the only one. */
export const SIGNS: Readonly<Record<CoverageState, string>> = {
  final: '=',
  provisional: '~',
  empty: 'o',
  none: '·',
  doubt: '?',
  failed: '!',
}
