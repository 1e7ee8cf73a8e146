import { DAY, type Instant, isFuture } from '../util/time/instant.ts'
import { splitAt } from '../util/time/interval.ts'
import { floorTo } from '../util/time/zone.ts'
import type { Finality } from './finality.ts'
import type { Span } from './judgeTypes.ts'
import { EARLY_S, LONGEST_PAUSE_S } from './limits.ts'

/*
 * R7: when final data without values is requested again. All of it in rounds, so that it is requested as a whole, and what a run left
 * out is not confused with what it requested.
 */

/** The first round after an instant: 1, 2, 4 … days after values were expected, then every half year. */
function nextRound(expectedAt: Instant, at: Instant): Instant {
  let distance = DAY
  while (expectedAt + distance - EARLY_S <= at) distance += Math.min(distance, LONGEST_PAUSE_S)
  return expectedAt + distance - EARLY_S
}

/** Sets the next request of a final span without values, of which values were expected at some instants. It may be split. */
export function repeatInRounds(
  span: Span,
  expectedAt: readonly Instant[],
  { zone, unit }: Pick<Finality, 'zone' | 'unit'>,
  now: Instant,
): Span[] {
  const { fetchedAt, settledFor } = span.reply!
  if (isFuture(fetchedAt, now)) return [{ ...span, nextAt: now }]
  // A merged row has the time of its oldest reply. Later parts were requested when they had been settled for as long as all of it.
  const requestedBy = (to: Instant): Instant => Math.max(fetchedAt, to + settledFor - 1)
  const borders: Instant[] = []
  for (const at of expectedAt)
    for (let round = nextRound(at, fetchedAt); round - settledFor < span.to; round = nextRound(at, round))
      borders.push(floorTo(zone, round - settledFor, unit))
  return splitAt(span, borders).map((part) => ({
    ...span,
    ...part,
    nextAt: Math.min(...expectedAt.map((at) => nextRound(at, requestedBy(part.to)))),
  }))
}
