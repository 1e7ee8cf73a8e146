import { ALL_GEOS } from '../db/tables/codes.ts'
import { DAY, type Instant, isFuture } from '../util/time/instant.ts'
import { type Interval, splitAt } from '../util/time/interval.ts'
import { ceilTo, floorTo } from '../util/time/zone.ts'
import { unverifiedNext } from './distances.ts'
import { findSettledPart } from './finality.ts'
import type { Requirement, Span } from './judgeTypes.ts'
import { AWAITED_S } from './limits.ts'
import { repeatInRounds } from './repeats.ts'
import {
  type CoverageInput,
  earliest,
  endAhead,
  firstJob,
  type JudgeContext,
  listEnds,
  type RequiredPart,
  splitByRequirements,
} from './spans.ts'
import type { Coverage, Timeline } from './stored.ts'

/* Ranges with a reply: which are final, and when each is requested again (R1–R3 and R7). */

/** The instant of an event that does not come. */
const NEVER = Number.POSITIVE_INFINITY

/** Judges the coverage. */
export function judgeRows(context: JudgeContext, { requirements, rows }: CoverageInput): Span[] {
  const ends = listEnds(requirements)
  const covered: Span[] = []
  for (const row of rows)
    for (const part of splitByRequirements(row, requirements, ends)) covered.push(...judgeCovered(context, row, part))
  return covered
}

/** R1–R3: a part of a row of coverage, split where it is final for one entry and not for another. */
function judgeCovered({ finality, now }: JudgeContext, row: Coverage, part: RequiredPart): Span[] {
  const { requirements } = part
  const settledTo = ({
    lookbackS,
    earlierLookbacks = [],
  }: Pick<Requirement, 'lookbackS' | 'earlierLookbacks'>): Instant =>
    findSettledPart(row, { ...finality, lookbackS, earlierLookbacks }, now).to
  const borders = requirements.length === 0 ? [settledTo(finality)] : requirements.map(settledTo)
  const { fetchedAt, settledFor, state, sinceAt } = row
  const reply = { state, fetchedAt, settledFor }
  const { job, jobId } = firstJob(requirements)
  const isAhead = isFuture(fetchedAt, now)
  const refreshNext = (refreshing: readonly Requirement[]): Instant =>
    isAhead ? now : fetchedAt + Math.min(...refreshing.map(({ refreshS }) => refreshS))
  return splitAt(part, borders).map(({ from, to }): Span => {
    const isFinal = borders.every((border) => border >= to)
    const revisable = requirements.filter((_, i) => borders[i]! < to)
    const dates: (Instant | null)[] = []
    if (revisable.length > 0) dates.push(refreshNext(revisable))
    if (requirements.length > 0 && state === 'unverified')
      dates.push(Math.max(refreshNext(requirements), isAhead ? now : unverifiedNext(sinceAt ?? fetchedAt, fetchedAt)))
    const isVerified = state !== 'unverified'
    const verifiedState = isFinal ? 'complete' : 'provisional'
    return {
      geoId: ALL_GEOS,
      from,
      to,
      job,
      jobId,
      lagS: null,
      state: isVerified ? verifiedState : 'missing',
      reason: isVerified ? null : 'unverified',
      reply,
      periods: null,
      stepS: null,
      sinceAt: isVerified ? null : (sinceAt ?? fetchedAt),
      nextAt: earliest(dates),
      dueAt: null,
      isAccepted: false,
      isTolerated: false,
    }
  })
}

/**
 * R2: while a source is up to two weeks behind, nothing is final from the day on which its last period ends, whatever the lookback says. What
 * is published later than the lookback would be lost if nothing shows a regular timeline yet. A window that has ended awaits nothing.
 */
export function awaitLate(
  { finality: { zone, unit }, now }: JudgeContext,
  timeline: Timeline | undefined,
  requirements: readonly Requirement[],
  covered: readonly Span[],
): readonly Span[] {
  const extent = timeline?.extent
  if (!extent || extent.step > DAY || requirements.length === 0) return covered
  const lastEnd = extent.last + extent.step
  if (!covered.some(({ to, state }) => to > lastEnd && state === 'complete')) return covered
  // Only rows that are not final yet have the time of the last reply: the others may be merged with older ones.
  const newestAt = Math.max(...covered.flatMap(({ state, reply }) => (state === 'provisional' ? reply!.fetchedAt : [])))
  if (!Number.isFinite(newestAt) || newestAt - lastEnd > AWAITED_S) return covered
  const from = floorTo(zone, lastEnd, unit)
  return covered.flatMap((span): Span[] => {
    if (span.to <= from || span.state !== 'complete' || span.job === null) return [span]
    const refreshes = requirements
      .filter((requirement) => requirement.from < span.to && endAhead(requirement) > from)
      .map((requirement) => requirement.refreshS)
    const fetchedAt = Math.max(newestAt, span.reply!.fetchedAt)
    const nextAt = isFuture(fetchedAt, now) ? now : fetchedAt + Math.min(...refreshes)
    return splitAt(span, [from]).map((part) =>
      part.from < from ? { ...span, ...part } : { ...span, ...part, state: 'provisional', nextAt },
    )
  })
}

/**
 * R7: final data before the first or after the last value, or of a geo without any, may still be published. So may the rest of the days
 * of the first and of the last value.
 */
export function repeatOutside(
  { finality, now }: JudgeContext,
  timeline: Timeline | undefined,
  requirements: readonly Requirement[],
  covered: readonly Span[],
): readonly Span[] {
  // Values of a timeline whose ends are not known yet may be stored.
  if (timeline?.kind === null || requirements.length === 0) return covered
  const extent = timeline?.extent ?? null
  const lastEnd = extent ? extent.last + extent.step : NEVER
  const from = covered.some(({ to }) => to > lastEnd) ? floorTo(finality.zone, lastEnd, finality.unit) : NEVER
  const begin = extent ? ceilTo(finality.zone, extent.first, finality.unit) : NEVER
  return covered.flatMap((span): Span[] => {
    if (span.state !== 'complete' || span.job === null) return [span]
    return splitAt(span, [begin, from]).flatMap((part) => {
      const whole = { ...span, ...part }
      if (part.to <= begin) return repeatInRounds(whole, earlierExpectedAt(requirements, part, extent), finality, now)
      // Values are expected once the period after the last one has ended.
      return part.from < from ? [whole] : repeatInRounds(whole, [lastEnd + extent!.step], finality, now)
    })
  })
}

/**
 * When values before the first one are expected: since they are required; and since the first value, because a geo that appears later may
 * bring its history.
 */
const earlierExpectedAt = (
  requirements: readonly Requirement[],
  part: Interval,
  extent: Timeline['extent'],
): Instant[] =>
  requirements
    .filter((requirement) => requirement.from < part.to && endAhead(requirement) > part.from)
    .map(({ sinceAt }) => Math.max(sinceAt, extent ? extent.first + extent.step : sinceAt))

/** The last instant that a stored range says anything about: windows reach into the future, replies mostly do not. */
export const repliedTo = ({ to, reply }: Span): Instant => (reply!.settledFor < 0 ? Math.min(to, reply!.fetchedAt) : to)
