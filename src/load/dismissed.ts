import { canonical } from '../base/json.ts'
import type { Reader } from '../db/open.ts'
import type { Rows } from '../tables/rows.ts'

const MAX_FRAGMENT = 4_096

/** What stood there, as JSON; a part of it where it is long, a word where it cannot be written. */
export function fragmentText(fragment: unknown): string {
  try {
    return (canonical(fragment ?? null) ?? 'null').slice(0, MAX_FRAGMENT)
  } catch (error) {
    if (error instanceof RangeError) return '"nested too deeply to be written"'
    throw error
  }
}

type Told = Pick<Rows, 'rejects' | 'rejected'>

/** What an answer is about: a series, or what else is told by its path and query. */
export interface About {
  readonly seriesId: number | null
  readonly target: string
  /** The number of its fetch; undefined where it has none yet. */
  readonly fetchId?: number
}

/**
 * What of an answer's rejects nobody has dismissed before: the same of the same series or listing is no news. Of more than are
 * kept one by one nobody knows what they are: then there may be no more of them than there were when they were dismissed.
 */
export function undismissed(
  db: Reader,
  { seriesId, target, fetchId = Number.MAX_SAFE_INTEGER }: About,
  { rejects, rejected }: Told,
): Told {
  if (rejects.length === 0) return { rejects, rejected }
  const rows = db.all(
    `select q.reason, q.fragment, f.rows_rejected as rejected
     from _quarantine q cross join _fetch f on f.id = q.fetch_id
     where q.dismissed_after < ? and f.series_id is ? and (f.series_id is not null or f.target = ?)`,
    [fetchId, seriesId, target],
  ) as { reason: string; fragment: string; rejected: number }[]
  if (rejected > rejects.length && !rows.some((row) => row.rejected >= rejected)) return { rejects, rejected }
  const known = new Set(rows.map(({ reason, fragment }) => `${reason} ${fragment}`))
  const open = rejects.filter(({ reason, fragment }) => !known.has(`${reason} ${fragmentText(fragment)}`))
  return { rejects: open, rejected: open.length === 0 ? 0 : rejected - rejects.length + open.length }
}
