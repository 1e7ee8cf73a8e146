import type { Kysely, Transaction } from 'kysely'
import { numbersOf } from '../../base/json.ts'
import { floorToSecond } from '../../base/time/instant.ts'
import { type Interval, subtract } from '../../base/time/interval.ts'
import { GOOD_OUTCOMES } from '../../db/queries/outcomes.ts'
import type { Store } from '../../db/store.ts'
import { isAboutValues, type ObservationKey, type Observations } from '../../tables/rows.ts'
import type { Database } from '../../tables/schema.ts'
import { ALL_GEOS } from '../../tables/sql/allGeos.ts'
import { recordAbsences } from '../coverage/absent.ts'
import { valuesOfGeo } from '../coverage/held.ts'
import { withObservations } from '../coverage/regular.ts'
import { clearDoubt } from '../coverage/timeline.ts'
import { readStoredSeries, type StoredSeries } from '../storedSeries.ts'

/** The stored values of a geo in an interval, in the form of an answer; `keys` are added as if they were stored, too. */
async function readHeld(
  tx: Transaction<Database>,
  seriesId: number,
  geoId: number,
  { from, to }: Interval,
  keys: readonly ObservationKey[],
): Promise<Observations> {
  const rows = await valuesOfGeo.all(tx, { seriesId, geoId, from, to })
  const held = {
    geoIds: rows.map(() => geoId),
    at: rows.map(({ at }) => at),
    values: rows.map(() => null),
    steps: rows.map(({ step }) => step),
  }
  return withObservations(held, keys)
}

/** Later answers that overlap the window of an answer and came before it was accepted. */
const laterAnswers = (tx: Transaction<Database>, { id, seriesId, from, to, after }: DismissedAnswer) =>
  tx
    .selectFrom('_fetch')
    .select(['from_at as from', 'to_at as to', 'geo_ids'])
    .where('series_id', '=', seriesId)
    .where('id', '>', id)
    .where('id', '<=', after)
    .where((of) => of.or([of('outcome', 'in', GOOD_OUTCOMES), of('doubts', 'is not', null)]))
    .where('from_at', '<', to)
    .where('to_at', '>', from)
    .$narrowType<Interval>()
    .execute()

/** The observations that dismissed rejects of a series in an interval would have been. */
const dismissedKeys = (tx: Transaction<Database>, { seriesId, from, to, after }: DismissedAnswer) =>
  tx
    .selectFrom('_quarantine as q')
    .innerJoin('_fetch as f', 'f.id', 'q.fetch_id')
    .select(['q.geo_id as geoId', 'q.at'])
    .where('f.series_id', '=', seriesId)
    .where('q.dismissed_after', '<=', after)
    .where('q.at', '>=', from)
    .where('q.at', '<', to)
    .$narrowType<ObservationKey>()
    .execute()

/**
 * Accepts an answer of which all rejects were dismissed: its window, without what later answers cover, is no longer in doubt.
 * What else is missing there is recorded as absent.
 */
async function acceptAnswer(tx: Transaction<Database>, answer: DismissedAnswer): Promise<void> {
  const { id, seriesId, from, to } = answer
  const series = await readStoredSeries(tx, seriesId)
  const later = await laterAnswers(tx, answer)
  const keys = await dismissedKeys(tx, answer)
  // A reject without instant and geo may be any of the missing values, so it is not known what is absent.
  const entries = await tx.selectFrom('_quarantine').select(['path', 'at']).where('fetch_id', '=', id).execute()
  const ofValues = entries.filter(isAboutValues)
  if (ofValues.length === 0) return
  const withKey = ofValues.filter(({ at }) => at !== null).length
  const areAllKeysKnown = withKey >= answer.rejected - (entries.length - ofValues.length)
  const now = floorToSecond(answer.at)
  const settledBefore = answer.settledBefore ?? from
  for (const requested of numbersOf(answer.geo_ids) ?? [ALL_GEOS]) {
    const newer = later.filter(({ geo_ids }) => numbersOf(geo_ids)?.includes(requested) ?? true)
    for (const window of subtract([{ from, to }], newer)) {
      await clearDoubt(tx, seriesId, requested, window)
      for (const geoId of !areAllKeysKnown
        ? []
        : requested === ALL_GEOS
          ? await geosWithoutOwnAnswer(tx, series, window)
          : [requested]) {
        const rows = await readHeld(tx, seriesId, geoId, window, keys)
        if (rows.at.length === 0) continue
        const planned = { timeZone: series.timeZone, geoIds: [geoId], settledBefore }
        await recordAbsences(tx, { series, planned, window, rows, now, doubted: new Set() })
      }
    }
  }
}

/** The geos of a series for which no request of their own was answered in an interval. */
async function geosWithoutOwnAnswer(
  tx: Transaction<Database>,
  { id, geoIds }: StoredSeries,
  { from, to }: Interval,
): Promise<number[]> {
  const own = await tx
    .selectFrom('_coverage')
    .select('geo_id')
    .distinct()
    .where('series_id', '=', id)
    .where('from_at', '<', to)
    .where('to_at', '>', from)
    .execute()
  return geoIds.filter((geoId) => !own.some((row) => row.geo_id === geoId))
}

/** Answers of which something was dismissed later, in the order in which that happened. */
const dismissedAnswers = (db: Kysely<Database>) =>
  db
    .selectFrom('_quarantine as q')
    .innerJoin('_fetch as f', 'f.id', 'q.fetch_id')
    .select(['f.id', 'f.series_id as seriesId', 'f.geo_ids', 'f.from_at as from', 'f.to_at as to'])
    .select(['f.settled_before as settledBefore', 'f.finished_at as at', 'f.rows_rejected as rejected'])
    // The last fetch before it was accepted.
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

type DismissedAnswer = Awaited<ReturnType<typeof dismissedAnswers>>[number]

async function acceptUnlessOpen(tx: Transaction<Database>, answer: DismissedAnswer): Promise<void> {
  const open = await tx
    .selectFrom('_quarantine')
    .select('path')
    .where('fetch_id', '=', answer.id)
    .where('resolved_at', 'is', null)
    .execute()
  if (!open.some(isAboutValues)) await acceptAnswer(tx, answer)
}

/** Replays acceptances: what was dismissed between two fetches is accepted between the same two. */
export async function createAcceptor({
  kysely,
}: Store): Promise<{ upTo(tx: Transaction<Database>, fetchId: number): Promise<void> }> {
  const answers = await dismissedAnswers(kysely)
  let next = 0
  return {
    async upTo(tx, fetchId) {
      for (; next < answers.length && answers[next]!.after < fetchId; next++) await acceptUnlessOpen(tx, answers[next]!)
    },
  }
}

/** Accepts those of some answers of which nothing is open in quarantine any more. */
export async function acceptAnswers(tx: Transaction<Database>, fetchIds: ReadonlySet<number>): Promise<void> {
  for (const answer of await dismissedAnswers(tx)) if (fetchIds.has(answer.id)) await acceptUnlessOpen(tx, answer)
}
