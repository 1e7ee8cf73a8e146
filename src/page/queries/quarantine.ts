import type { Reader } from '../../db/store.ts'

/** Entries that one page shows. */
const ENTRIES_A_PAGE = 50

/** What is open in quarantine, the latest first, or what came before an entry; `older` is the number with which to request the next ones. */
export async function readQuarantine({ kysely }: Reader, before: number | null) {
  const rows = await kysely
    .selectFrom('_quarantine as q')
    .innerJoin('_fetch as f', 'f.id', 'q.fetch_id')
    .select(['q.id', 'q.created_at', 'q.run_id', 'f.target', 'q.path', 'q.reason', 'q.fragment'])
    .where('q.resolved_at', 'is', null)
    .$if(before !== null, (of) => of.where('q.id', '<', before!))
    // In this order the index of open entries has them, however many are closed.
    .orderBy('q.fetch_id', 'desc')
    .orderBy('q.id', 'desc')
    .limit(ENTRIES_A_PAGE + 1)
    .execute()
  const entries = rows.slice(0, ENTRIES_A_PAGE)
  return { entries, older: rows.length > ENTRIES_A_PAGE ? entries.at(-1)!.id : null }
}
