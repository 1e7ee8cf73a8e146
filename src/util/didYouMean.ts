import { distance } from 'fastest-levenshtein'

/** ` Did you mean "x"?` with the legal word closest to a mistyped one; empty if none is close enough. */
export function didYouMean(word: string, legal: readonly string[]): string {
  const scored = legal.map((candidate) => ({ candidate, edits: distance(word.toLowerCase(), candidate.toLowerCase()) }))
  const [best] = scored.sort((a, b) => a.edits - b.edits)
  // Every word of two letters would be close to every other one.
  return best && best.edits <= Math.max(2, Math.floor(word.length / 3)) && best.edits < word.length - 1
    ? ` Did you mean ${JSON.stringify(best.candidate)}?`
    : ''
}
