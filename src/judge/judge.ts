import { ALL_GEOS } from '../db/tables/codes.ts'
import { type Instant, isFuture } from '../util/time/instant.ts'
import { subtract } from '../util/time/interval.ts'
import { findPeriods } from '../util/time/periods.ts'
import { accept } from './accept.ts'
import { unknownNext } from './distances.ts'
import type { Finality } from './finality.ts'
import { awaitLate, judgeRows, repeatOutside } from './judgeCoverage.ts'
import { judgeEnd, judgeNoValues } from './judgeEnd.ts'
import { judgeMissing } from './judgeMissing.ts'
import type { JudgeInput, Requirement, Span } from './judgeTypes.ts'
import { judgeSinceReply, judgeUncovered } from './judgeUncovered.ts'
import { EARLY_S } from './limits.ts'
import { type CoverageInput, type JudgeContext, joinAdjacent } from './spans.ts'
import type { Timeline } from './stored.ts'
import { findValidRows } from './validRows.ts'

/*
 * The only place that decides which data is complete, which is missing and when it is requested next. Pure, and reads no values. The rules are
 * numbered in docs/decisions/001-coverage.md.
 */

/**
 * Judges a series for an instant and all later ones, as long as its stored data and the requirements stay the same. The end of a span that
 * follows the clock is infinite. A span that becomes missing at `dueAt` is returned as missing; readers show it as expected until then.
 */
export function judge(requirements: readonly Requirement[], stored: JudgeInput, now: Instant): readonly Span[] {
  const finality = createFinality(stored)
  const shared = new Map<string, GeoSpans>()
  const known = new Map(stored.timelines.map((timeline) => [timeline.geoId, timeline]))
  const named = new Set([
    ...requirements.flatMap(({ geoIds }) => geoIds ?? []),
    ...stored.coverage.map(({ geo }) => geo),
    ...stored.failures.flatMap(({ geoIds, isUserRange }) => (isUserRange ? (geoIds ?? []) : [])),
  ])
  named.delete(ALL_GEOS)
  const geoIds = [...new Set([...known.keys(), ...named])].sort((a, b) => a - b)
  const coverage = [...stored.coverage].sort((a, b) => a.from - b.from)
  const context: JudgeContext = { requirements, stored: { ...stored, coverage }, finality, now }
  const geos = geoIds.map((geoId) => judgeGeoRanges(context, geoId, shared))
  const spans = geos.flatMap((input) => judgeGeo(context, known.get(input.geoId), input))
  const others = known.has(ALL_GEOS) ? [] : judgeOthers(context, geos)
  return delayUnknown([...others, ...spans], stored, now)
}

/** A series whose id the service does not know is requested at growing distances, whatever is due. */
function delayUnknown(spans: readonly Span[], { unknown }: JudgeInput, now: Instant): readonly Span[] {
  if (unknown === null || isFuture(unknown.lastAt, now)) return spans
  const notBefore = unknownNext(unknown) - EARLY_S
  return spans.map((span) => (span.nextAt === null ? span : { ...span, nextAt: Math.max(span.nextAt, notBefore) }))
}

/** The spans of a geo that depend on requests alone. */
interface GeoSpans {
  readonly covered: readonly Span[]
  readonly uncovered: readonly Span[]
}

/** The borders of a series; the lookback is that of the series. */
function createFinality({ zone, unit, period, lookbackS }: JudgeInput): Finality {
  const periods = period === null ? undefined : findPeriods(zone, period)
  return { zone, unit, lookbackS, periods: periods?.isCalendar ? periods : undefined }
}

/** A geo as it is judged: what jobs require of it, what failed, and its spans that depend on requests alone. */
interface GeoInput extends GeoSpans {
  readonly geoId: number
  readonly requirements: readonly Requirement[]
  readonly failures: JudgeInput['failures']
}

/** Judges the requests of a geo. Geos that differ only in their values share the spans. */
function judgeGeoRanges(context: JudgeContext, geoId: number, shared: Map<string, GeoSpans>): GeoInput {
  const { stored } = context
  const requirements = context.requirements.filter(({ geoIds }) => geoIds?.includes(geoId) ?? true)
  const ofGeo = stored.coverage.filter(({ geo }) => geo === geoId)
  const failures = stored.failures.filter(({ geoIds }) => geoIds?.includes(geoId) ?? true)
  const isOwn = ofGeo.length > 0 || failures.some(({ geoIds }) => geoIds !== null)
  const key = isOwn ? null : requirements.map((requirement) => context.requirements.indexOf(requirement)).join()
  let spans = key === null ? undefined : shared.get(key)
  if (!spans) {
    const rows = findValidRows(stored.coverage, geoId)
    spans = judgeRanges(context, { requirements, rows, failures })
    if (key !== null) shared.set(key, spans)
  }
  return { ...spans, geoId, requirements, failures }
}

const judgeRanges = (context: JudgeContext, input: CoverageInput): GeoSpans => ({
  covered: judgeRows(context, input),
  uncovered: judgeUncovered(input),
})

/** Judges a geo by its requests and its values. */
function judgeGeo(context: JudgeContext, timeline: Timeline | undefined, input: GeoInput): readonly Span[] {
  const { geoId, requirements } = input
  const covered = repeatOutside(
    context,
    timeline,
    requirements,
    awaitLate(context, timeline, requirements, input.covered),
  )
  const uncovered = joinAdjacent([...judgeSinceReply(timeline, input, covered), ...input.uncovered])
  const missing = judgeMissing(context, geoId, covered)
  const end = timeline?.extent
    ? judgeEnd(context, timeline, requirements, covered)
    : judgeNoValues(timeline, requirements, covered, missing)
  const listed = [...covered, ...uncovered, ...missing, ...end].map((span) => ({ ...span, geoId }))
  return accept(listed, context.stored, geoId)
}

/**
 * Judges geos that may exist beside the known ones. While none is known or named, `ALL_GEOS` stands for the series. Later it has the
 * ranges without a verified reply for all geos, although those of the known geos are verified.
 */
function judgeOthers(context: JudgeContext, geos: readonly GeoInput[]): readonly Span[] {
  const { stored } = context
  const requirements = context.requirements.filter(({ geoIds }) => geoIds === null)
  const rows = stored.coverage.filter(({ geo }) => geo === ALL_GEOS)
  const failures = stored.failures.filter(({ geoIds }) => geoIds === null)
  const input = { requirements, rows, failures }
  if (geos.length === 0) {
    const replies = judgeRanges(context, input)
    const covered = repeatOutside(context, undefined, requirements, replies.covered)
    const uncovered = joinAdjacent([...judgeSinceReply(undefined, input, covered), ...replies.uncovered])
    return accept([...covered, ...uncovered, ...judgeNoValues(undefined, requirements, covered, [])], stored, ALL_GEOS)
  }
  const listed = geos.flatMap(({ covered, uncovered }) => [
    ...covered.filter(({ reason }) => reason === 'unverified'),
    ...uncovered,
  ])
  const unverified = judgeRows(context, { ...input, rows: rows.filter(({ state }) => state === 'unverified') })
  const others = [...unverified, ...judgeUncovered(input)].flatMap((span) =>
    subtract([span], listed).map((part) => ({ ...span, ...part })),
  )
  return accept(others, stored, ALL_GEOS)
}
