import { readJobFiles } from '../../../db/queries/jobRuns.ts'
import { gapCommand, readCommandFacts, syncCommand } from '../../../findings/commands.ts'
import { findLackingGeos } from '../../../findings/readers/lackingGeos.ts'
import { readUsualLag } from '../../../state/judgeInput.ts'
import type { Instant } from '../../../util/time/instant.ts'
import { overlaps } from '../../../util/time/interval.ts'
import { ceilTo, localDate } from '../../../util/time/zone.ts'
import type { PageRequest } from '../../page.ts'
import { type ChartState, gapState, readCoverageIntervals } from '../intervals.ts'
import type { NamedLine } from './seriesQuery.ts'

/** How far the values of a series and geo reach. */
export interface Freshness {
  /** The end of the last period with a value. */
  readonly endAt: Instant
  /** How far the series usually is behind, in seconds, negative for the future; null if that is not known. */
  readonly usualS: number | null
  /** Why newer data is missing, and the command that requests it; null if nothing is missing. */
  readonly missing: { readonly state: ChartState['state']; readonly command: string | null } | null
}

/** Reads how far the values of a series and geo reach, and why no newer ones are stored; null without a value. */
export async function readFreshness(request: PageRequest, line: NamedLine): Promise<Freshness | null> {
  const { store, now } = request
  const { seriesId, geoId, zone, kind, indicator, end: endAt } = line
  if (endAt === null) return null
  const usualS = await readUsualLag(store.kysely, seriesId, now)
  const rest = { from: endAt, to: now }
  if (rest.from >= rest.to) return { endAt, usualS, missing: null }
  const intervals = (await readCoverageIntervals(request, [seriesId], rest)).get(seriesId)!
  const gaps = intervals.filter(
    (interval) => interval.reason !== null && interval.state !== 'none' && overlaps(interval, rest),
  )
  // The earliest gap of this geo or of all geos explains why the values end.
  const gap = gaps.filter(({ geoId: geo }) => geo === geoId || geo === 0).sort((a, b) => a.from - b.from)[0]
  if (!gap) return { endAt, usualS, missing: null }
  const facts = await readCommandFacts(store)
  const { reason, jobId, from, to } = gap
  const closable = { series_id: seriesId, kind, indicator_id: indicator, geo_id: geoId, job_id: jobId, reason: reason! }
  const command =
    reason === 'late' || reason === 'never requested'
      ? syncCommand(facts, jobId)
      : gapCommand(facts, closable, [localDate(zone, from), localDate(zone, ceilTo(zone, to, 'day'))])
  return { endAt, usualS, missing: { state: gapState(reason!), command } }
}

/** Reads why a series and geo never had a value, if responses should have had one, with the files of the jobs that select it. */
export async function readLacking({ store, now }: PageRequest, { seriesId, geoId, end }: NamedLine) {
  if (end !== null) return null
  const found = (await findLackingGeos(store, now)).find(
    ({ series_id, geoIds }) => series_id === seriesId && (geoIds.length === 0 || geoIds.includes(geoId)),
  )
  return found ? { ...found, jobFiles: await readJobFiles(store) } : null
}
