import { sql } from 'kysely'
import { GOOD_OUTCOMES } from '../../db/queries/fetchOutcomes.ts'
import type { Reader } from '../../db/store.ts'
import { epochSeconds } from '../../db/tables/sql/expressions.ts'
import { type AheadSample, findTooFarAhead, type TooFarAhead } from '../../judge/usualAhead.ts'
import { seriesName } from '../../reports/seriesName.ts'
import { roughDuration } from '../../state/rhythm.ts'
import { CLOCK_ERROR_S, DAY, formatMillis, HOUR, type Instant } from '../../util/time/instant.ts'
import { dayIntervalAt } from '../../util/time/localDay.ts'
import { formatLocal } from '../../util/time/zone.ts'
import { rangeCommand } from '../commands.ts'
import type { KindRules } from '../kindRules.ts'
import type { Trouble } from '../trouble.ts'
import { seriesAndGeos } from '../words.ts'

/** Nobody can end this finding if the source keeps such values, so they are usual after a while. */
const REPORTED_S = 31 * DAY
/** Seconds. Older replies do not say how far ahead a series publishes now. */
const RECENT_S = 93 * DAY

/**
 * Reads the geos whose last value is in the future, or was when a recent reply had it. While no other value replaces or follows it, it is as
 * doubtful after its time as before. Leaves out irregular series, because a source of events knows some of them long before.
 */
const readFutureGeos = ({ kysely }: Reader, now: Instant) =>
  kysely
    .selectFrom('series_geo as g')
    .innerJoin('series as s', 's.id', 'g.series_id')
    .select(['g.series_id', 'g.geo_id', 'g.last_at', 'g.step_s'])
    .select(['s.kind', 's.indicator_id', 's.time_trunc', 's.geo_agg', 's.time_zone'])
    .where('g.last_at', '>', now - REPORTED_S)
    .where(({ eb, or, exists, selectFrom }) =>
      or([
        eb('g.last_at', '>', now + CLOCK_ERROR_S),
        exists(
          selectFrom('_fetch as f')
            .select('f.id')
            .whereRef('f.series_id', '=', 'g.series_id')
            .where('f.outcome', 'in', GOOD_OUTCOMES)
            .where('f.finished_at', '>', formatMillis((now - REPORTED_S) * 1000))
            .whereRef('f.last_at', '=', 'g.last_at')
            .where((fetch) => fetch(fetch('f.last_at', '-', CLOCK_ERROR_S), '>', epochSeconds(fetch, 'f.finished_at'))),
        ),
      ]),
    )
    .where('g.kind', '<>', 'irregular')
    .$narrowType<{ last_at: Instant }>()
    .orderBy('g.series_id')
    .orderBy('g.geo_id')
    .execute()

/** Reads how far ahead the replies of each series and day were. */
const readSamples = ({ kysely }: Reader, seriesIds: readonly number[], now: Instant) =>
  kysely
    .selectFrom('_fetch')
    .select((eb) => [
      'series_id',
      eb.fn.min(epochSeconds(eb, 'finished_at')).as('finishedAt'),
      eb.fn.max(eb(eb.ref('last_at'), '-', epochSeconds(eb, 'finished_at'))).as('aheadS'),
      eb.fn.max('last_at').as('lastAt'),
      eb.fn.max('to_at').as('toAt'),
      eb.fn.max('step_s').as('stepS'),
    ])
    .where('series_id', 'in', seriesIds)
    .where('outcome', 'in', GOOD_OUTCOMES)
    .where('last_at', 'is not', null)
    .where('finished_at', '>', formatMillis((now - RECENT_S) * 1000))
    .where((eb) => eb('to_at', '>', epochSeconds(eb, 'finished_at')))
    .groupBy((eb) => ['series_id', eb(epochSeconds(eb, 'finished_at'), '/', sql.lit(DAY))])
    .$narrowType<{ series_id: number; lastAt: Instant; toAt: Instant }>()
    .execute()

type FutureGeo = Awaited<ReturnType<typeof readFutureGeos>>[number]
type SampleRow = Awaited<ReturnType<typeof readSamples>>[number]

/** The replies of a day as a sample. */
function toSample(timeZone: string, { finishedAt, aheadS, lastAt, toAt, stepS }: SampleRow): AheadSample {
  const finished = Number(finishedAt)
  const dayLeftS = dayIntervalAt(timeZone, finished).to - finished
  return { finishedAt: finished, dayLeftS, lastAt, aheadS: Number(aheadS), isWhole: toAt > lastAt + (stepS ?? HOUR) }
}

/**
 * Keeps the geos whose last value lies too far ahead. One whose time has come must still be the last one of a reply: values that follow it
 * show that the source knew it, or has replaced it.
 */
function keepTooFarAhead(
  geos: readonly FutureGeo[],
  samples: readonly AheadSample[],
  { sample, limitS }: TooFarAhead,
  now: Instant,
): FutureGeo[] {
  const credibleTo = sample.finishedAt + limitS
  const later = samples.filter(({ finishedAt }) => finishedAt >= sample.finishedAt)
  const lastInReplies = new Set(later.map(({ lastAt }) => lastAt))
  return geos.filter(
    ({ last_at }) => last_at > credibleTo && (last_at > now + CLOCK_ERROR_S || lastInReplies.has(last_at)),
  )
}

/** Judges the geos of one series, of which each has a last value in the future, or had. */
function judgeSeries(geos: readonly FutureGeo[], rows: readonly SampleRow[], now: Instant): Trouble[] {
  const { series_id, kind, indicator_id, time_trunc, geo_agg, time_zone: timeZone } = geos[0]!
  const samples = rows.map((row) => toSample(timeZone, row))
  const found = findTooFarAhead(samples, now - REPORTED_S)
  if (!found) return []
  const beyond = keepTooFarAhead(geos, samples, found, now)
  if (beyond.length === 0) return []
  const { sample, usualS, limitS } = found
  const from = sample.finishedAt + limitS
  const to = Math.max(...beyond.map(({ last_at, step_s }) => last_at + (step_s ?? HOUR)))
  const geoIds = beyond.map(({ geo_id }) => geo_id)
  const ahead = { series_id, kind, indicator_id, time_trunc, geo_agg, geoIds, timeZone, range: { from, to }, usualS }
  return [{ kind: 'ahead', ahead, sinceAt: sample.finishedAt, jobIds: [], seriesIds: [series_id], cause: null }]
}

/** Finds series with values further in the future than they usually publish, as the replies before show. */
async function findAheadValues(db: Reader, now: Instant): Promise<Trouble[]> {
  const geos = Map.groupBy(await readFutureGeos(db, now), ({ series_id }) => series_id)
  if (geos.size === 0) return []
  const rows = await readSamples(db, [...geos.keys()], now)
  const samples = Map.groupBy(rows, ({ series_id }) => series_id)
  return [...geos].flatMap(([seriesId, ofSeries]) => judgeSeries(ofSeries, samples.get(seriesId) ?? [], now))
}

/** A series has values further in the future than it usually publishes. */
export const ahead: KindRules<'ahead'> = {
  find: findAheadValues,
  subject: ({ ahead }) => seriesName(ahead),
  geoIds: ({ ahead }) => ahead.geoIds,
  message({ ahead }, { listNames }) {
    const to = formatLocal(ahead.timeZone, ahead.range.to)
    const usual = ahead.usualS > 0 ? `reached at most ${roughDuration(ahead.usualS)} ahead` : 'had no future values'
    return `${seriesAndGeos(ahead, listNames)}: has values up to ${to}, but earlier responses ${usual}. Its source may not know them yet: compare them with it. Reported for 31 days, or until other values replace or follow them`
  },
  command: ({ ahead }, facts) => rangeCommand(facts, facts.findJob(ahead.series_id, ahead.geoIds[0]!), ahead, false),
}
