import type { Kysely } from 'kysely'
import { canonical } from '../base/json.ts'
import type { Rows } from '../tables/rows.ts'
import type { Database } from '../tables/schema.ts'

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
export async function undismissed(
  db: Kysely<Database>,
  { seriesId, target, fetchId = Number.MAX_SAFE_INTEGER }: About,
  { rejects, rejected }: Told,
): Promise<Told> {
  if (rejects.length === 0) return { rejects, rejected }
  const rows = await db
    .selectFrom('_quarantine as q')
    .innerJoin('_fetch as f', 'f.id', 'q.fetch_id')
    .select(['q.reason', 'q.fragment', 'f.rows_rejected as rejected'])
    .where('q.dismissed_after', '<', fetchId)
    .where('f.series_id', 'is not distinct from', seriesId)
    .where((of) => of.or([of('f.series_id', 'is not', null), of('f.target', '=', target)]))
    .execute()
  if (rejected > rejects.length && !rows.some((row) => row.rejected >= rejected)) return { rejects, rejected }
  const known = new Set(rows.map(({ reason, fragment }) => `${reason} ${fragment}`))
  const open = rejects.filter(({ reason, fragment }) => !known.has(`${reason} ${fragmentText(fragment)}`))
  return { rejects: open, rejected: open.length === 0 ? 0 : rejected - rejects.length + open.length }
}
