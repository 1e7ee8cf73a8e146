import type { Kysely } from 'kysely'
import type { Rows } from '../../db/tables/rows.ts'
import type { Database } from '../../db/tables/schema.ts'
import { canonical } from '../../util/json.ts'

const MAX_FRAGMENT = 4_096

/** A fragment of a body as JSON: cut where it is long, a fixed text where it is nested too deeply. */
export function fragmentText(fragment: unknown): string {
  try {
    return (canonical(fragment ?? null) ?? 'null').slice(0, MAX_FRAGMENT)
  } catch (error) {
    if (error instanceof RangeError) return '"nested too deeply to be written"'
    throw error
  }
}

type OpenRejects = Pick<Rows, 'rejects' | 'rejected'>

/** What an answer is about: a series, or anything else by its path and query. */
export interface ReplySubject {
  readonly seriesId: number | null
  readonly target: string
  /** `_fetch.id`; undefined while it is not recorded. */
  readonly fetchId?: number
}

/**
 * The rejects of an answer that have not been dismissed before for the same series or listing. Only the first rejects of an
 * answer are kept with their content; where there are more, at most as many may come as when they were dismissed.
 */
export async function undismissed(
  db: Kysely<Database>,
  { seriesId, target, fetchId = Number.MAX_SAFE_INTEGER }: ReplySubject,
  { rejects, rejected }: OpenRejects,
): Promise<OpenRejects> {
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
