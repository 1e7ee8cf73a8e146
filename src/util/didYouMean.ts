import { distance } from 'fastest-levenshtein'

/** ` Did you mean "x"?` with the legal word closest to a mistyped one; empty if none is close enough. */
export function didYouMean(word: string, legal: readonly string[]): string {
  const scored = legal.map((candidate) => ({ candidate, edits: distance(word.toLowerCase(), candidate.toLowerCase()) }))
  const [best] = scored.sort((a, b) => a.edits - b.edits)
  return best && best.edits <= Math.max(2, Math.floor(word.length / 3))
    ? ` Did you mean ${JSON.stringify(best.candidate)}?`
    : ''
}
