import type { Kysely } from 'kysely'
import type { Rows } from '../../db/tables/rows.ts'
import type { Database } from '../../db/tables/schema.ts'
import { canonical } from '../../util/json.ts'

const MAX_FRAGMENT_CHARACTERS = 4_096

/** Formats a fragment of a body as JSON, cut to a maximum length. */
export function fragmentText(fragment: unknown): string {
  try {
    return (canonical(fragment ?? null) ?? 'null').slice(0, MAX_FRAGMENT_CHARACTERS)
  } catch (error) {
    if (error instanceof RangeError) return '"nested too deeply to be written"'
    throw error
  }
}

type OpenRejects = Pick<Rows, 'rejects' | 'rejected'>

/** The subject of a reply: a series, or a path and query. */
export interface ReplySubject {
  readonly seriesId: number | null
  readonly target: string
  /** `_fetch.id`; undefined before it is recorded. */
  readonly fetchId?: number
}

/**
 * The rejects of a reply that were not dismissed before for the same series or listing. Only the first rejects of a reply are stored
 * with their content. If there are more, their number must not exceed that of a dismissed reply.
 */
export async function withoutDismissed(
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
    .where((eb) => eb.or([eb('f.series_id', 'is not', null), eb('f.target', '=', target)]))
    .execute()
  if (rejected > rejects.length && !rows.some((row) => row.rejected >= rejected)) return { rejects, rejected }
  const dismissed = new Set(rows.map(({ reason, fragment }) => `${reason} ${fragment}`))
  const open = rejects.filter(({ reason, fragment }) => !dismissed.has(`${reason} ${fragmentText(fragment)}`))
  return { rejects: open, rejected: open.length === 0 ? 0 : rejected - rejects.length + open.length }
}
