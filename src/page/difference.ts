import { diffArrays } from 'diff'

/** A part of a text in both versions, or in one of them. */
export interface Piece {
  readonly what: 'same' | 'removed' | 'added'
  readonly text: string
}

/** Milliseconds after which both texts are shown as a whole. */
const TIMEOUT_MS = 300

/** A word or another character with the spaces after it: spaces alone do not separate two changes. */
const TOKEN = /(?:[\p{L}\p{N}]+|[^\p{L}\p{N}\s])\s*|\s+/gu

const tokens = (text: string): string[] => text.match(TOKEN) ?? []

/** Compares two texts word by word. Pieces that were not added make the old text, those not removed the new one. */
export function difference(before: string, after: string): Piece[] {
  const changes = diffArrays(tokens(before), tokens(after), { timeout: TIMEOUT_MS }) ?? [
    { value: [before], removed: true, added: false },
    { value: [after], removed: false, added: true },
  ]
  return changes.map(({ value, removed, added }) => ({
    what: removed ? 'removed' : added ? 'added' : 'same',
    text: value.join(''),
  }))
}
