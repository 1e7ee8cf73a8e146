import { distance } from 'fastest-levenshtein'

/** The known word closest to a mistyped one, or undefined when none is close enough to be meant. */
function suggest(word: string, known: readonly string[]): string | undefined {
  const scored = known.map((candidate) => ({ candidate, far: distance(word.toLowerCase(), candidate.toLowerCase()) }))
  const [best] = scored.sort((a, b) => a.far - b.far)
  return best && best.far <= Math.max(2, Math.floor(word.length / 3)) ? best.candidate : undefined
}

/** ` Did you mean "x"?`, or nothing. */
export function didYouMean(word: string, known: readonly string[]): string {
  const best = suggest(word, known)
  return best === undefined ? '' : ` Did you mean ${JSON.stringify(best)}?`
}
