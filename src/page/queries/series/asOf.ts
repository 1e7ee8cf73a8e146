import { GOOD_OUTCOMES } from '../../../db/queries/fetchOutcomes.ts'
import type { Reader } from '../../../db/store.ts'
import { InputError } from '../../../util/errors.ts'
import { formatMillis, parseInstant } from '../../../util/time/instant.ts'

/** A past state: the last fetch of a series that had been recorded by a moment. */
export interface AsOf {
  /** UTC, to the millisecond. */
  readonly moment: string
  /** The number of the fetch; 0 where there was none yet. */
  readonly fetchId: number
}

/** The moment in an address, to the millisecond; null for now. */
export function momentOf(query: URLSearchParams): string | null {
  const text = query.get('asof')
  if (text === null || text === '' || text === 'now') return null
  const instant = text.replace(/ (?=\d\d:\d\d$)/, '+')
  if (Number.isNaN(parseInstant(instant)))
    throw new InputError(`asof=${JSON.stringify(text)} is not a valid instant.`, {
      hint: 'Use an instant with its offset, such as 2025-11-03T18:00:00Z, or omit it for the current values.',
      code: 'bad-time',
    })
  return formatMillis(Date.parse(instant))
}

/**
 * The state of a series at a moment. Fetches are numbered in the order in which the one writer records them, so their numbers
 * give the order even where a clock was set back.
 */
export async function asOf({ kysely }: Reader, seriesId: number, moment: string): Promise<AsOf> {
  const last = await kysely
    .selectFrom('_fetch')
    .select(({ fn }) => fn.max('id').as('id'))
    .where('series_id', '=', seriesId)
    .where('outcome', 'in', GOOD_OUTCOMES)
    .where('finished_at', '<=', moment)
    .executeTakeFirst()
  return { moment, fetchId: last?.id ?? 0 }
}
