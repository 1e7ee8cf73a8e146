import { floorToSecond } from '../base/instant.ts'
import { type Interval, subtract } from '../base/interval.ts'
import type { Reader, Store } from '../db/open.ts'
import { ALL_GEOS } from '../job/plannedRequest.ts'
import type { Place } from '../tables/rows.ts'
import { absent, geosOf } from './absent.ts'
import { withPlaces } from './regular.ts'
import { trust } from './timeline.ts'

interface Answer {
  readonly id: number
  readonly seriesId: number
  readonly geo_ids: string | null
  readonly from: number
  readonly to: number
  readonly settledBefore: number | null
  readonly at: string
  readonly rejected: number
  /** The last fetch before it was accepted. */
  readonly after: number
}
interface Later extends Interval {
  readonly geo_ids: string | null
}

const numbersOf = (geoIds: string | null): readonly number[] | null => geoIds?.split(',').map(Number) ?? null

/** What is held of a geo in a stretch, as an answer would tell it. */
function heldOf(store: Store, seriesId: number, geoId: number, { from, to }: Interval, places: readonly Place[]) {
  const rows = store.all(
    'select at, step_s as step from observation where series_id = ? and geo_id = ? and at between ? and ? order by at',
    [seriesId, geoId, from, to - 1],
  ) as { at: number; step: number }[]
  const held = {
    geoIds: rows.map(() => geoId),
    at: rows.map(({ at }) => at),
    values: rows.map(() => null),
    steps: rows.map(({ step }) => step),
  }
  return withPlaces(held, places)
}

/**
 * Accepts an answer of which everything that could not be understood was dismissed: what no later one has told of its window
 * is in doubt no more. What is missing there beside it is absent.
 */
function accept(store: Store, answer: Answer): void {
  const { id, seriesId, from, to } = answer
  const timeZone = store.get('select time_zone from series where id = ?', [seriesId]) as string
  const later = store.all(
    `select from_at as "from", to_at as "to", geo_ids from _fetch
     where series_id = ? and id > ? and id <= ? and (outcome in ('ok', 'empty') or doubts is not null) and from_at < ? and to_at > ?`,
    [seriesId, id, answer.after, to, from],
  ) as Later[]
  const places = store.all(
    `select q.geo_id as "geoId", q.at from _quarantine q join _fetch f on f.id = q.fetch_id
     where f.series_id = ? and q.dismissed_after <= ? and q.at >= ? and q.at < ?`,
    [seriesId, answer.after, from, to],
  ) as Place[]
  // What is dismissed without a place may be any of what is missing.
  const told = store.get('select count(at) from _quarantine where fetch_id = ?', [id]) as number
  const isTold = told >= answer.rejected
  const now = floorToSecond(answer.at)
  const over = answer.settledBefore ?? from
  for (const asked of numbersOf(answer.geo_ids) ?? [ALL_GEOS]) {
    const others = later.filter(({ geo_ids }) => numbersOf(geo_ids)?.includes(asked) ?? true)
    for (const window of subtract([{ from, to }], others)) {
      trust(store, seriesId, asked, window)
      for (const geoId of !isTold ? [] : asked === ALL_GEOS ? aloneIn(store, seriesId, window) : [asked]) {
        const rows = heldOf(store, seriesId, geoId, window, places)
        if (rows.at.length === 0) continue
        const planned = { timeZone, geoIds: [geoId], settledBefore: over }
        absent(store, { seriesId, planned, window, rows, now, doubted: new Set() })
      }
    }
  }
}

/** The geos of a series of which nothing was answered by themselves in a stretch. */
function aloneIn(store: Store, seriesId: number, { from, to }: Interval): number[] {
  const own = store.all(
    'select distinct geo_id as "geoId" from _coverage where series_id = ? and from_at < ? and to_at > ?',
    [seriesId, to, from],
  ) as Place[]
  return geosOf(store, seriesId).filter((geoId) => !own.some((row) => row.geoId === geoId))
}

/** Answers of which something was dismissed later, by when that was. */
const dismissedAnswers = (db: Reader) =>
  db.all(`select f.id, f.series_id as "seriesId", f.geo_ids, f.from_at as "from", f.to_at as "to",
    f.settled_before as "settledBefore", f.finished_at as at,
    f.rows_rejected as rejected, max(q.dismissed_after) as after
  from _quarantine q join _fetch f on f.id = q.fetch_id
  where f.series_id is not null and q.dismissed_after >= q.fetch_id and f.outcome in ('ok', 'empty') and f.from_at is not null
  group by f.id order by after, f.id`) as Answer[]

function acceptUnlessOpen(store: Store, answer: Answer): void {
  const open = store.get('select 1 from _quarantine where fetch_id = ? and resolved_at is null limit 1', [answer.id])
  if (open === undefined) accept(store, answer)
}

/** Accepts answers as they were accepted once: what was dismissed after a fetch, before the next one. */
export function createAcceptor(store: Store): { upTo(fetchId: number): void } {
  const answers = dismissedAnswers(store)
  let next = 0
  return {
    upTo(fetchId) {
      for (; next < answers.length && answers[next]!.after < fetchId; next++) acceptUnlessOpen(store, answers[next]!)
    },
  }
}

/** Accepts those of some answers of which the last that was not understood has just been dismissed. */
export function acceptAnswers(store: Store, fetchIds: ReadonlySet<number>): void {
  for (const answer of dismissedAnswers(store)) if (fetchIds.has(answer.id)) acceptUnlessOpen(store, answer)
}
