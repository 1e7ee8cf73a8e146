import type { Store } from '../db/open.ts'

/** What pruning did: bodies and bytes that went, and old bodies that stay as evidence. */
export interface Pruned {
  readonly bodies: number
  readonly bytes: number
  readonly kept: number
}

/** Bodies that were last answered before a moment. */
const OLD = 'not exists (select 1 from _fetch f where f.reply_hash = r.hash and f.finished_at >= ?)'
/** Bodies that something open in quarantine came in. */
const EVIDENCE =
  'exists (select 1 from _fetch f join _quarantine q on q.fetch_id = f.id and q.resolved_at is null where f.reply_hash = r.hash)'

/** Drops the bodies that were last seen before a moment, but never the only evidence of what is in quarantine. */
export const pruneReplies = (store: Store, before: string): Promise<Pruned> =>
  store.write(async () => {
    const kept = store.get(`select count(*) from _reply r where ${OLD} and ${EVIDENCE}`, [before]) as number
    const going = `from _reply as r where ${OLD} and not ${EVIDENCE}`
    const bytes = store.get(`select coalesce(sum(length(body)), 0) ${going}`, [before]) as number
    return { bodies: store.run(`delete ${going}`, [before]), bytes, kept }
  })
