import { NO_FAILURE, UNKNOWN_STATUSES } from '../db/queries/fetchOutcomes.ts'
import type { Reader } from '../db/store.ts'
import { REPLY_OUTCOMES } from '../db/tables/codes.ts'
import type { RefusalTimes } from '../judge/stored.ts'
import { floorToSecond } from '../util/time/instant.ts'

/** An item, such as an indicator or widget, that the service does not know. */
export interface UnknownItem extends RefusalTimes {
  readonly route: string
  readonly id: string | number
}

/** Reads the id of the last run with a successful fetch of a path, with any query; 0 without one. */
async function readLastGoodRun({ kysely }: Reader, path: string): Promise<number> {
  const last = await kysely
    .selectFrom('_fetch')
    .select(({ fn }) => fn.max('run_id').as('id'))
    .where(({ or, and, eb }) =>
      or([eb('target', '=', path), and([eb('target', '>=', `${path}?`), eb('target', '<=', `${path}@`)])]),
    )
    .where('outcome', 'in', REPLY_OUTCOMES)
    .executeTakeFirst()
  return last?.id ?? 0
}

/**
 * Reads the items for which the service responded with 404 or 410 in the runs since their last good reply, by route and id. The order of
 * requests within a run depends on chance.
 */
export async function readUnknown(db: Reader): Promise<ReadonlyMap<string, UnknownItem>> {
  const refusals = await db.kysely
    .selectFrom('_fetch')
    .select(['run_id', 'route', 'params', 'target', 'finished_at'])
    .where('outcome', 'not in', NO_FAILURE)
    .where('outcome', '=', 'refused')
    .where('status', 'in', UNKNOWN_STATUSES)
    .orderBy('id')
    .execute()
  const goodRuns = new Map<string, number>()
  const unknown = new Map<string, UnknownItem>()
  for (const { run_id, route, target, params, finished_at } of refusals) {
    const { id } = JSON.parse(params) as { readonly id?: string | number }
    // A listing has no id.
    if (id === undefined) continue
    const [path] = target.split('?') as [string]
    const goodRun = goodRuns.get(path) ?? (await readLastGoodRun(db, path))
    goodRuns.set(path, goodRun)
    if (run_id <= goodRun) continue
    const lastAt = floorToSecond(finished_at)
    const key = `${route} ${id}`
    unknown.set(key, { route, id, sinceAt: unknown.get(key)?.sinceAt ?? lastAt, lastAt })
  }
  return unknown
}
