/** A part of a text that both versions have, or only one of them. */
export interface Piece {
  readonly what: 'same' | 'removed' | 'added'
  readonly text: string
}

/** Words and the characters between them. */
const splitWords = (text: string): string[] => text.match(/\s+|[\p{L}\p{N}]+|[^\s\p{L}\p{N}]/gu) ?? []

/** Words of one version times words of the other: above this, everything between the equal ends counts as one change. */
const MOST_COMPARED = 4_000_000

/** Joins the changes between two unchanged parts: removed text, then added text. Spaces alone do not separate two changes. */
function mergePieces(pieces: readonly Piece[]): Piece[] {
  const done: Piece[] = []
  let [same, removed, added] = ['', '', '']
  const flush = (): void => {
    for (const piece of [
      { what: 'removed', text: removed },
      { what: 'added', text: added },
      { what: 'same', text: same },
    ] as const)
      if (piece.text !== '') done.push(piece)
    ;[same, removed, added] = ['', '', '']
  }
  for (const { what, text } of pieces) {
    if (what === 'same') same += text
    else {
      // Spaces before this change either end the change before it, or belong to both.
      if (same.trim() !== '' || (removed === '' && added === '')) flush()
      else [removed, added, same] = [removed + same, added + same, '']
      if (what === 'removed') removed += text
      else added += text
    }
  }
  flush()
  return done
}

/** The longest common subsequence of two lists of words, as pieces in order. */
function* compared(before: readonly string[], after: readonly string[]): Generator<Piece> {
  const width = after.length + 1
  // How many words are common to what follows each pair of places.
  const common = new Uint32Array((before.length + 1) * width)
  for (let i = before.length - 1; i >= 0; i--)
    for (let j = after.length - 1; j >= 0; j--)
      common[i * width + j] =
        before[i] === after[j]
          ? common[(i + 1) * width + j + 1]! + 1
          : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!)
  let [i, j] = [0, 0]
  while (i < before.length || j < after.length) {
    const isSame = i < before.length && before[i] === after[j]
    if (isSame) yield { what: 'same', text: before[i++]! }
    if (isSame) j++
    else if (j === after.length || (i < before.length && common[(i + 1) * width + j]! >= common[i * width + j + 1]!))
      yield { what: 'removed', text: before[i++]! }
    else yield { what: 'added', text: after[j++]! }
  }
}

/**
 * The changes between two texts, word by word: pieces in order. Those that were not added make the old text, those that were not
 * removed the new one.
 */
export function difference(before: string, after: string): Piece[] {
  const [old, fresh] = [splitWords(before), splitWords(after)]
  let start = 0
  while (start < old.length && start < fresh.length && old[start] === fresh[start]) start++
  let end = 0
  const most = Math.min(old.length, fresh.length) - start
  while (end < most && old.at(-1 - end) === fresh.at(-1 - end)) end++
  const [removed, added] = [old.slice(start, old.length - end), fresh.slice(start, fresh.length - end)]
  const middle: readonly Piece[] =
    removed.length * added.length > MOST_COMPARED
      ? [
          { what: 'removed', text: removed.join('') },
          { what: 'added', text: added.join('') },
        ]
      : [...compared(removed, added)]
  return mergePieces([
    { what: 'same', text: old.slice(0, start).join('') },
    ...middle,
    { what: 'same', text: old.slice(old.length - end).join('') },
  ])
}
