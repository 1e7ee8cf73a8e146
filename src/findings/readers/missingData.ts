import type { Reader } from '../../db/store.ts'
import { ALL_GEOS } from '../../db/tables/codes.ts'
import { quantity } from '../../util/text.ts'
import { type Instant, parseInstant } from '../../util/time/instant.ts'
import { hull } from '../../util/time/interval.ts'
import { gapsAt, isMissed } from '../findGaps.ts'
import type { MissingData } from '../trouble.ts'

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0)

/** The earliest of some times (UTC); null if none is known. */
const earliest = (times: readonly (string | null)[]): Instant | null => {
  const known = times.flatMap((time) => (time === null ? [] : parseInstant(time)))
  return known.length === 0 ? null : Math.min(...known)
}

/** Reads the missing data that the spans say, by series, geo, reason and job. */
const readGapSums = ({ kysely }: Reader, now: Instant) =>
  kysely
    .selectFrom(gapsAt(now))
    .innerJoin('series as s', 's.id', 'gaps.series_id')
    .select(['gaps.series_id', 'gaps.geo_id', 'gaps.reason', 'gaps.job_id'])
    .select(['s.kind', 's.indicator_id', 's.time_trunc', 's.geo_agg', 's.time_zone'])
    .select(({ fn, eb }) => [
      fn.countAll<number>().as('count'),
      fn.count<number>('gaps.missing').as('counted'),
      fn.sum<number | null>('gaps.missing').as('missing'),
      fn.min<number>('gaps.from_at').as('from'),
      fn.max<number>('gaps.to_at').as('to'),
      fn.sum<number>(eb('gaps.to_at', '-', eb.ref('gaps.from_at'))).as('seconds'),
      fn.min<string | null>('gaps.since_at').as('since'),
      fn.min<string | null>('gaps.next_at').as('next'),
    ])
    // A condition on the view would make SQLite read whole tables.
    .select((eb) => ['gaps.tolerated', isMissed(eb).as('isMissed')])
    .groupBy(['gaps.series_id', 'gaps.geo_id', 'gaps.reason', 'gaps.job_id'])
    .groupBy(['s.kind', 's.indicator_id', 's.time_trunc', 's.geo_agg', 's.time_zone', 'gaps.tolerated', 'isMissed'])
    .orderBy('gaps.series_id')
    .orderBy('gaps.geo_id')
    .execute()

/** Counts the few lost periods that are tolerated. */
export async function countTolerated(db: Reader, now: Instant): Promise<number> {
  const rows = await readGapSums(db, now)
  return sum(rows.map(({ tolerated, isMissed, missing }) => (tolerated === 1 && isMissed ? Number(missing) : 0)))
}

/** Describes lost periods that are tolerated; empty without any. */
export const toleratedText = (periods: number): string =>
  periods === 0
    ? ''
    : `${quantity(periods, 'missing period is', 'missing periods are')} tolerated (list: indicator-sync gaps)`

/**
 * Reads the missing data of each series, or of one geo of each, by reason and job, without the few lost periods that are tolerated.
 */
export async function readMissingData(db: Reader, now: Instant, geo: number | null = null): Promise<MissingData[]> {
  const gaps = (await readGapSums(db, now)).filter(
    ({ tolerated, isMissed, geo_id }) =>
      tolerated === 0 && Boolean(isMissed) && (geo === null || geo_id === geo || geo_id === ALL_GEOS),
  )
  return [...Map.groupBy(gaps, ({ series_id, reason, job_id }) => `${series_id} ${reason} ${job_id}`).values()].map(
    (group): MissingData => {
      const { series_id, kind, indicator_id, time_trunc, geo_agg, time_zone, reason, job_id } = group[0]!
      const isCounted = group.every(({ count, counted }) => Number(count) === Number(counted))
      return {
        series_id,
        kind,
        indicator_id,
        time_trunc,
        geo_agg,
        reason,
        geoIds: group.map(({ geo_id }) => geo_id),
        timeZone: time_zone,
        range: hull(group),
        count: sum(group.map(({ count }) => Number(count))),
        periods: isCounted ? sum(group.map(({ missing }) => Number(missing))) : null,
        seconds: sum(group.map(({ seconds }) => Number(seconds))),
        sinceAt: earliest(group.map(({ since }) => since)),
        nextAt: earliest(group.map(({ next }) => next)),
        jobId: job_id,
      }
    },
  )
}
