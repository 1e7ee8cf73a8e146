import type { Kysely, Transaction } from 'kysely'
import { floorToSecond } from '../base/instant.ts'
import { type Interval, subtract } from '../base/interval.ts'
import { GOOD } from '../db/outcomes.ts'
import { prepared } from '../db/prepared.ts'
import type { Store } from '../db/store.ts'
import { ALL_GEOS } from '../job/plannedRequest.ts'
import type { Observations, Place } from '../tables/rows.ts'
import type { Database } from '../tables/schema.ts'
import { absent } from './absent.ts'
import { withPlaces } from './regular.ts'
import { readSeries, type StoredSeries } from './series.ts'
import { trust } from './timeline.ts'

const numbersOf = (geoIds: string | null): readonly number[] | null => geoIds?.split(',').map(Number) ?? null

const valuesIn = prepared((db, of: Interval & { seriesId: number; geoId: number }) =>
  db
    .selectFrom('observation')
    .select(['at', 'step_s as step'])
    .where('series_id', '=', of.seriesId)
    .where('geo_id', '=', of.geoId)
    .where('at', '>=', of.from)
    .where('at', '<', of.to)
    .orderBy('at'),
)

/** What is held of a geo in a stretch, as an answer would tell it. */
async function heldOf(
  tx: Transaction<Database>,
  seriesId: number,
  geoId: number,
  { from, to }: Interval,
  places: readonly Place[],
): Promise<Observations> {
  const rows = await valuesIn.all(tx, { seriesId, geoId, from, to })
  const held = {
    geoIds: rows.map(() => geoId),
    at: rows.map(({ at }) => at),
    values: rows.map(() => null),
    steps: rows.map(({ step }) => step),
  }
  return withPlaces(held, places)
}

/** What later answers told of the window of an answer before it was accepted. */
const laterThan = (tx: Transaction<Database>, { id, seriesId, from, to, after }: Answer) =>
  tx
    .selectFrom('_fetch')
    .select(['from_at as from', 'to_at as to', 'geo_ids'])
    .where('series_id', '=', seriesId)
    .where('id', '>', id)
    .where('id', '<=', after)
    .where((of) => of.or([of('outcome', 'in', GOOD), of('doubts', 'is not', null)]))
    .where('from_at', '<', to)
    .where('to_at', '>', from)
    .$narrowType<Interval>()
    .execute()

/** The values that what was dismissed of a series in a stretch would be. */
const placesIn = (tx: Transaction<Database>, { seriesId, from, to, after }: Answer) =>
  tx
    .selectFrom('_quarantine as q')
    .innerJoin('_fetch as f', 'f.id', 'q.fetch_id')
    .select(['q.geo_id as geoId', 'q.at'])
    .where('f.series_id', '=', seriesId)
    .where('q.dismissed_after', '<=', after)
    .where('q.at', '>=', from)
    .where('q.at', '<', to)
    .$narrowType<Place>()
    .execute()

/**
 * Accepts an answer of which everything that could not be understood was dismissed: what no later one has told of its window
 * is in doubt no more. What is missing there beside it is absent.
 */
async function accept(tx: Transaction<Database>, answer: Answer): Promise<void> {
  const { id, seriesId, from, to } = answer
  const series = await readSeries(tx, seriesId)
  const later = await laterThan(tx, answer)
  const places = await placesIn(tx, answer)
  // What is dismissed without a place may be any of what is missing.
  const { told } = await tx
    .selectFrom('_quarantine')
    .select(({ fn }) => fn.count<number>('at').as('told'))
    .where('fetch_id', '=', id)
    .executeTakeFirstOrThrow()
  const isTold = told >= answer.rejected
  const now = floorToSecond(answer.at)
  const over = answer.settledBefore ?? from
  for (const asked of numbersOf(answer.geo_ids) ?? [ALL_GEOS]) {
    const others = later.filter(({ geo_ids }) => numbersOf(geo_ids)?.includes(asked) ?? true)
    for (const window of subtract([{ from, to }], others)) {
      await trust(tx, seriesId, asked, window)
      for (const geoId of !isTold ? [] : asked === ALL_GEOS ? await aloneIn(tx, series, window) : [asked]) {
        const rows = await heldOf(tx, seriesId, geoId, window, places)
        if (rows.at.length === 0) continue
        const planned = { timeZone: series.timeZone, geoIds: [geoId], settledBefore: over }
        await absent(tx, { series, planned, window, rows, now, doubted: new Set() })
      }
    }
  }
}

/** The geos of a series of which nothing was answered by themselves in a stretch. */
async function aloneIn(
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

/** Answers of which something was dismissed later, by when that was. */
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
    .where('f.outcome', 'in', GOOD)
    .where('f.from_at', 'is not', null)
    .groupBy('f.id')
    .orderBy('after')
    .orderBy('f.id')
    .$narrowType<Interval & { seriesId: number; after: number }>()
    .execute()

type Answer = Awaited<ReturnType<typeof dismissedAnswers>>[number]

async function acceptUnlessOpen(tx: Transaction<Database>, answer: Answer): Promise<void> {
  const open = await tx
    .selectFrom('_quarantine')
    .select('id')
    .where('fetch_id', '=', answer.id)
    .where('resolved_at', 'is', null)
    .limit(1)
    .executeTakeFirst()
  if (open === undefined) await accept(tx, answer)
}

/** Accepts answers as they were accepted once: what was dismissed after a fetch, before the next one. */
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

/** Accepts those of some answers of which the last that was not understood has just been dismissed. */
export async function acceptAnswers(tx: Transaction<Database>, fetchIds: ReadonlySet<number>): Promise<void> {
  for (const answer of await dismissedAnswers(tx)) if (fetchIds.has(answer.id)) await acceptUnlessOpen(tx, answer)
}
