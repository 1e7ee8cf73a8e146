import { diffWordsWithSpace } from 'diff'

/** A part of a text that both versions have, or only one of them. */
export interface Piece {
  readonly what: 'same' | 'removed' | 'added'
  readonly text: string
}

/** Milliseconds after which two texts are shown as a whole. */
const LONGEST_MS = 300

/**
 * The changes between two texts, word by word: pieces in order. Those that were not added make the old text, those that were not
 * removed the new one. Spaces alone do not separate two changes.
 */
export function difference(before: string, after: string): Piece[] {
  const changes = diffWordsWithSpace(before, after, { timeout: LONGEST_MS }) ?? [
    { value: before, removed: true, added: false },
    { value: after, removed: false, added: true },
  ]
  const pieces: Piece[] = []
  let [removed, added] = ['', '']
  const flush = (): void => {
    if (removed) pieces.push({ what: 'removed', text: removed })
    if (added) pieces.push({ what: 'added', text: added })
    ;[removed, added] = ['', '']
  }
  for (const [i, { value, removed: isRemoved, added: isAdded }] of changes.entries()) {
    const isSame = !isRemoved && !isAdded
    const isBetween = (removed || added) && i < changes.length - 1 && value.trim() === ''
    if (isSame && !isBetween) {
      flush()
      pieces.push({ what: 'same', text: value })
    }
    if (isRemoved || (isSame && isBetween)) removed += value
    if (isAdded || (isSame && isBetween)) added += value
  }
  flush()
  return pieces
}
