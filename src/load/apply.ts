import type { Transaction } from 'kysely'
import type { Engine, UpsertCounts } from '../db/engine.ts'
import { prepareQuery } from '../db/prepared.ts'
import type { FetchOutcome } from '../db/tables/codes.ts'
import { geoRanges, type Observations, type Reject, type Rows, type RowValues } from '../db/tables/rows.ts'
import { type Database, tableOf } from '../db/tables/schema.ts'
import { formatMillis } from '../util/time/instant.ts'
import type { Interval } from '../util/time/interval.ts'
import { applyValues, type FetchedValues, NO_VALUE_CHANGES } from './applyValues.ts'
import type { Counts } from './counts.ts'
import { markListing, replaceOwned } from './listing.ts'
import { withoutDismissed } from './quarantine/dismissed.ts'
import type { FetchRecord } from './recordFetch.ts'
import { recordUnits } from './recordUnits.ts'
import { addWritten, dropDescribed, NOTHING_WRITTEN, upsertRows } from './upsertItems.ts'

/** The record of a reply, and its rows. */
export interface RecordedReply extends FetchedValues, Pick<FetchRecord, 'seriesId' | 'outcome'> {
  /** If one transaction writes several replies: rows that earlier ones found stored already. */
  readonly unchanged?: UnchangedTables
}

/** Rows other than values that were stored already, as JSON. Cleared when anything else is written. */
export type UnchangedTables = Map<string, UpsertCounts>

/** The changes by a reply. */
interface ReplyChanges {
  readonly counts: Pick<Counts, 'rows_new' | 'rows_unchanged' | 'rows_revised' | 'rows_withdrawn' | 'rows_rejected'>
  /** Invalid rows that were not dismissed. */
  readonly rejects: readonly Reject[]
  /** The interval in which missing periods may have changed. */
  readonly reach: Interval
}

/**
 * Writes the rows of a new or stored reply, the versions they supersede, coverage, and the counters of its record. Runs inside a
 * transaction.
 */
export async function applyRows(
  tx: Transaction<Database>,
  engine: Engine,
  reply: RecordedReply,
): Promise<ReplyChanges> {
  const { fetchId, seriesId, planned, rows, outcome } = reply
  const open = await withoutDismissed(tx, { seriesId, target: planned.http.target, fetchId }, rows)
  // Compares the stored quantity, which the items replace, for days without stored values.
  await recordUnits(tx, planned, fetchId, rows)
  const items = await applyItems(tx, engine, reply)
  const values =
    seriesId === null ? NO_VALUE_CHANGES : await applyValues(tx, engine, { ...reply, seriesId }, open.rejects)
  const written = addWritten(items.written, values.written)
  const counts = {
    rows_new: written.inserted,
    rows_unchanged: written.unchanged,
    rows_revised: written.revised,
    rows_withdrawn: items.withdrawn + values.withdrawn,
    rows_rejected: open.rejected,
  }
  const parsedOutcome = replyOutcome(rows)
  if (parsedOutcome !== outcome) await updateOutcome.run(tx, { fetchId, outcome: parsedOutcome })
  await closeFetch.run(tx, { fetchId, ...loadedColumns(rows, counts) })
  return { counts, rejects: open.rejects, reach: values.reach }
}

interface Changes {
  readonly written: UpsertCounts
  readonly withdrawn: number
}

/** Writes the items of a reply, what they own, and the membership in a listing. */
async function applyItems(
  tx: Transaction<Database>,
  engine: Engine,
  { fetchId, planned, rows, recordedMs, unchanged }: RecordedReply,
): Promise<Changes> {
  const now = formatMillis(recordedMs)
  const [mainLocale] = planned.service.locales
  const stamps = { fetch_id: fetchId, first_seen_at: now }
  let written = await writeTables(tx, rows, stamps, mainLocale, unchanged)
  let withdrawn = 0
  for (const listed of rows.owned) {
    const owned = await dropDescribed(tx, listed, mainLocale)
    written = addWritten(written, await upsertRows(tx, owned, stamps, mainLocale))
    withdrawn += await replaceOwned(tx, engine, owned, tableOf(owned.table).key)
  }
  if (rows.listing) withdrawn += await markListing(tx, rows.listing, now)
  return { written, withdrawn }
}

/** Writes rows other than values. Does not compare rows again that an earlier reply of the transaction found stored. */
async function writeTables(
  tx: Transaction<Database>,
  { tables, owned, listing }: Rows,
  stamps: RowValues & { readonly fetch_id: number },
  mainLocale: string,
  unchanged?: UnchangedTables,
): Promise<UpsertCounts> {
  const key = owned.length > 0 || listing ? undefined : unchanged && JSON.stringify([mainLocale, tables])
  const earlierCounts = key && unchanged?.get(key)
  if (earlierCounts) return earlierCounts
  let written = NOTHING_WRITTEN
  for (const table of tables) {
    written = addWritten(written, await upsertRows(tx, table, stamps, mainLocale))
  }
  if (key && written.inserted + written.revised === 0) unchanged?.set(key, written)
  else unchanged?.clear()
  return written
}

/** The recorded outcome of a parsed reply. */
export const replyOutcome = ({ isEmpty }: Rows): 'ok' | 'empty' => (isEmpty ? 'empty' : 'ok')

/** Separate from the other columns, because indexes contain the outcome and it seldom changes. */
const updateOutcome = prepareQuery((db, { fetchId, outcome }: { fetchId: number; outcome: FetchOutcome }) =>
  db.updateTable('_fetch').set({ outcome }).where('id', '=', fetchId),
)

/** The columns of `_fetch` that are known when the reply is loaded. */
const loadedColumns = (rows: Rows, counts: ReplyChanges['counts']) => ({
  ...counts,
  rows_outside: rows.outside,
  last_at: rows.observations && latestInstant(rows.observations),
  step_s: rows.stepS,
  resolution_id: rows.resolutionId,
  source_updated_at: rows.sourceUpdatedAt,
})

type LoadedColumns = ReturnType<typeof loadedColumns>

/** Completes the record. In a replay it usually is complete, and nothing is written. */
const closeFetch = prepareQuery((db, { fetchId, ...loaded }: LoadedColumns & { fetchId: number }) => {
  const columns = { ...loaded, message: null, hint: null, code: null, evidence: null }
  return db
    .updateTable('_fetch')
    .set(columns)
    .where('id', '=', fetchId)
    .where((row) =>
      row.or(
        (Object.keys(columns) as (keyof typeof columns)[]).map((name) => row(name, 'is distinct from', columns[name]!)),
      ),
    )
})

/** The last instant with a value; null if there is none. */
function latestInstant(observations: Observations): number | null {
  const { at, values } = observations
  let last: number | null = null
  for (const { first, end } of geoRanges(observations)) {
    let i = end - 1
    while (i >= first && values[i] === null) i--
    if (i >= first && (last === null || at[i]! > last)) last = at[i]!
  }
  return last
}
