import type { Reader } from '../../db/store.ts'
import { seriesName } from '../../reports/seriesName.ts'
import { durationText } from '../../util/text.ts'
import { DAY, floorToSecond, type Instant } from '../../util/time/instant.ts'
import { localDate } from '../../util/time/zone.ts'
import type { KindRules } from '../kindRules.ts'
import type { CoarserCadence, Trouble } from '../trouble.ts'
import { seriesAndGeos } from '../words.ts'

/** Nobody can end this finding, so it ends after a while; the tables keep the change. */
const REPORTED_S = 31 * DAY
/** Seconds. A change that happened longer than this before its reply is history, such as one that a backfill shows. */
const RECENT_S = 62 * DAY
/** Seconds. A shorter stretch between two equal ones is rewritten history, and not a resolution that was given up. */
const SHORT_STRETCH_S = 31 * DAY

/** Finds series whose periods have become longer lately: the last stretch is coarser than the one before. */
async function findCoarserCadences(db: Reader, now: Instant): Promise<Trouble[]> {
  const rows = await db.kysely
    .selectFrom('_cadence as c')
    .innerJoin('series as s', 's.id', 'c.series_id')
    .leftJoin('_fetch as f', 'f.id', 'c.fetch_id')
    .select(['c.series_id', 'c.geo_id', 'c.from_at', 'c.step_s', 'f.finished_at'])
    .select(['s.kind', 's.indicator_id', 's.time_trunc', 's.geo_agg', 's.time_zone'])
    .orderBy('c.series_id')
    .orderBy('c.geo_id')
    .orderBy('c.from_at')
    .execute()
  const changes = [...Map.groupBy(rows, ({ series_id, geo_id }) => `${series_id} ${geo_id}`).values()].flatMap(
    (stretches) => {
      const [last, before, earlier] = stretches.toReversed()
      if (!last || !before || last.step_s === null || before.step_s === null || last.step_s <= before.step_s) return []
      if (earlier?.step_s === last.step_s && last.from_at - before.from_at < SHORT_STRETCH_S) return []
      const shownAt = last.finished_at === null ? null : floorToSecond(last.finished_at)
      if (shownAt === null || shownAt <= now - REPORTED_S || last.from_at < shownAt - RECENT_S) return []
      return [{ ...last, oldStepS: before.step_s, newStepS: last.step_s, sinceAt: last.from_at }]
    },
  )
  return [...Map.groupBy(changes, ({ series_id }) => series_id).values()].map((group): Trouble => {
    const { series_id, kind, indicator_id, time_trunc, geo_agg, time_zone, ...first } = group[0]!
    const { oldStepS, newStepS, sinceAt } = first
    const change: CoarserCadence = {
      series_id,
      kind,
      indicator_id,
      time_trunc,
      geo_agg,
      oldStepS,
      newStepS,
      sinceAt,
      geoIds: group.map(({ geo_id }) => geo_id),
      at: localDate(time_zone, sinceAt),
    }
    return { kind: 'cadence changed', change, sinceAt, jobIds: [], seriesIds: [series_id], cause: null }
  })
}

/** A series publishes longer periods than before. */
export const coarserCadence: KindRules<'cadence changed'> = {
  find: findCoarserCadences,
  subject: ({ change }) => seriesName(change),
  geoIds: ({ change }) => change.geoIds,
  message: ({ change }, { listNames }) =>
    `${seriesAndGeos(change, listNames)}: has a value every ${durationText(change.newStepS)} from ${change.at} on, every ${durationText(change.oldStepS)} before. Check that this is right, or set \`expect\` in the job. Reported for 31 days`,
  command: null,
}
