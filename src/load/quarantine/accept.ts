import type { Kysely, Transaction } from 'kysely'
import { GOOD_OUTCOMES } from '../../db/queries/fetchOutcomes.ts'
import type { Store } from '../../db/store.ts'
import { ALL_GEOS, REPLY_OUTCOMES } from '../../db/tables/codes.ts'
import { isAboutValues } from '../../db/tables/rows.ts'
import type { Database } from '../../db/tables/schema.ts'
import { parseNumbers } from '../../util/json.ts'
import { floorToSecond } from '../../util/time/instant.ts'
import { type Interval, subtract } from '../../util/time/interval.ts'
import { decideAcceptance } from '../coverage/decideCoverage.ts'
import { readCoverage, readSeries, readStoredValues, writeCoverage } from '../coverage/recordCoverage.ts'
import { readStoredSeries } from '../storedSeries.ts'

/** Later replies that overlap the window of a reply and were loaded before it was accepted. */
const laterReplies = (tx: Transaction<Database>, { id, seriesId, from, to, after }: DismissedReply) =>
  tx
    .selectFrom('_fetch')
    .select(['from_at as from', 'to_at as to', 'geo_ids'])
    .where('series_id', '=', seriesId)
    .where('id', '>', id)
    .where('id', '<=', after)
    .where('outcome', 'in', REPLY_OUTCOMES)
    .where('from_at', '<', to)
    .where('to_at', '>', from)
    .$narrowType<Interval>()
    .execute()

/** The keys of dismissed values of a series in an interval. */
const dismissedKeys = (tx: Transaction<Database>, { seriesId, from, to, after }: DismissedReply) =>
  tx
    .selectFrom('_quarantine as q')
    .innerJoin('_fetch as f', 'f.id', 'q.fetch_id')
    .select(['q.geo_id as geo', 'q.at'])
    .where('f.series_id', '=', seriesId)
    .where('q.dismissed_after', '<=', after)
    .where('q.at', '>=', from)
    .where('q.at', '<', to)
    .$narrowType<{ geo: number; at: number }>()
    .execute()

/**
 * Accepts a reply whose rejects were all dismissed: its window is verified, except for parts that later replies cover. Other missing
 * values there are absent.
 */
async function acceptReply(tx: Transaction<Database>, dismissed: DismissedReply): Promise<void> {
  const { id, seriesId, from, to } = dismissed
  const stored = await readStoredSeries(tx, seriesId)
  const later = await laterReplies(tx, dismissed)
  const keys = await dismissedKeys(tx, dismissed)
  const entries = await tx.selectFrom('_quarantine').select(['path', 'at']).where('fetch_id', '=', id).execute()
  const rejectedValues = entries.filter(isAboutValues)
  if (rejectedValues.length === 0) return
  // A reject without instant and geo may be any of the missing values, so none of them is known to be absent.
  const withKey = rejectedValues.filter(({ at }) => at !== null).length
  const areAllKeysKnown = withKey >= dismissed.rejected - (entries.length - rejectedValues.length)
  for (const geo of parseNumbers(dismissed.geo_ids) ?? [ALL_GEOS]) {
    const newer = later.filter(({ geo_ids }) => parseNumbers(geo_ids)?.includes(geo) ?? true)
    for (const window of subtract([{ from, to }], newer)) {
      const byGeo = await readStoredValues(tx, seriesId, window)
      const values = geo === ALL_GEOS ? byGeo : new Map([...byGeo].filter(([valueGeo]) => valueGeo === geo))
      const reply = {
        window,
        geos: [geo],
        values,
        isStepGuessed: false,
        newGeos: [],
        isIncomplete: false,
        dismissed: areAllKeysKnown ? keys.filter(({ at }) => at >= window.from && at < window.to) : [null],
        fetchedAt: floorToSecond(dismissed.at),
        settledBefore: dismissed.settledBefore ?? from,
      }
      const series = await readSeries(tx, stored, values, stored.timeZone, null)
      const before = await readCoverage(tx, seriesId, series, reply)
      await writeCoverage(tx, seriesId, decideAcceptance(series, reply, before))
    }
  }
}

/** Replies with dismissed rejects, in the order in which they were dismissed. */
const dismissedReplies = (db: Kysely<Database>) =>
  db
    .selectFrom('_quarantine as q')
    .innerJoin('_fetch as f', 'f.id', 'q.fetch_id')
    .select(['f.id', 'f.series_id as seriesId', 'f.geo_ids', 'f.from_at as from', 'f.to_at as to'])
    .select(['f.settled_before as settledBefore', 'f.finished_at as at', 'f.rows_rejected as rejected'])
    // The last fetch before the acceptance.
    .select(({ fn }) => fn.max('q.dismissed_after').as('after'))
    .where('f.series_id', 'is not', null)
    .whereRef('q.dismissed_after', '>=', 'q.fetch_id')
    .where('f.outcome', 'in', GOOD_OUTCOMES)
    .where('f.from_at', 'is not', null)
    .groupBy('f.id')
    .orderBy('after')
    .orderBy('f.id')
    .$narrowType<Interval & { seriesId: number; after: number }>()
    .execute()

type DismissedReply = Awaited<ReturnType<typeof dismissedReplies>>[number]

async function acceptUnlessOpen(tx: Transaction<Database>, reply: DismissedReply): Promise<void> {
  const open = await tx
    .selectFrom('_quarantine')
    .select('path')
    .where('fetch_id', '=', reply.id)
    .where('resolved_at', 'is', null)
    .execute()
  if (!open.some(isAboutValues)) await acceptReply(tx, reply)
}

/** Replays acceptances between the same fetches as before. */
export async function createAcceptor({
  kysely,
}: Store): Promise<{ upTo(tx: Transaction<Database>, fetchId: number): Promise<void> }> {
  const replies = await dismissedReplies(kysely)
  let next = 0
  return {
    async upTo(tx, fetchId) {
      for (; next < replies.length && replies[next]!.after < fetchId; next++) await acceptUnlessOpen(tx, replies[next]!)
    },
  }
}

/** Accepts those of some replies that have no open quarantine entries. */
export async function acceptReplies(tx: Transaction<Database>, fetchIds: ReadonlySet<number>): Promise<void> {
  for (const reply of await dismissedReplies(tx)) if (fetchIds.has(reply.id)) await acceptUnlessOpen(tx, reply)
}
