/** The sign of each state of an interval, so that colour is never the only one. Server and browser share this file. */
export const SIGNS = {
  final: '',
  provisional: '~',
  empty: 'o',
  none: '',
  unverified: '×',
  failed: '!',
  // A state that only the page of a series distinguishes.
  absent: '×',
} as const
