import { ALL_GEOS, isAbsence } from '../db/tables/codes.ts'
import type { Absence, Coverage, Timeline } from '../job/plannerState.ts'
import { DAY, type Instant, isFuture } from '../util/time/instant.ts'
import { hull, type Interval, intersect, overlaps, splitAt, subtract } from '../util/time/interval.ts'
import { findPeriods } from '../util/time/periods.ts'
import { ceilTo, floorTo } from '../util/time/zone.ts'
import { absentNext, toleratedNext, unknownNext, unverifiedNext } from './distances.ts'
import { type Finality, findSettledPart } from './finality.ts'
import { countPeriods } from './grid.ts'
import type { Span, StoredSeries, Want } from './judgeTypes.ts'
import { AWAITED_S, EARLY_S, TOLERANT_BELOW_S, TOLERATED_SHARE, UNKNOWN_LAG_S } from './limits.ts'
import { repeatInRounds } from './repeats.ts'

/*
 * What is complete, what is missing and what comes next: the only place that decides it. Pure, and reads no values. The rules are
 * numbered in docs/decisions/001-coverage.md.
 */

const ALWAYS = Number.POSITIVE_INFINITY

/** Judges what jobs require and what is stored of a series, at an instant. */
export const judge = (wants: readonly Want[], stored: StoredSeries, now: Instant): readonly Span[] =>
  showAt(judgeAhead(wants, stored, now), now)

/** Spans as they are at an instant: open ends are cut, and what is not due yet is expected. */
export const showAt = (spans: readonly Span[], now: Instant): readonly Span[] =>
  spans.flatMap((span) => {
    const to = span.lagS === null ? span.to : Math.min(span.to, now - span.lagS)
    if (span.from >= to) return []
    const isExpected = span.dueAt !== null && now < span.dueAt
    return isExpected ? { ...span, to, state: 'expected' as const } : to === span.to ? span : { ...span, to }
  })

/**
 * Judges a series for an instant and all later ones, as long as what is stored and required stays the same: the end of a span that follows
 * the clock is infinite, and what becomes missing at `dueAt` is missing.
 */
export function judgeAhead(wants: readonly Want[], stored: StoredSeries, now: Instant): readonly Span[] {
  const finality = createFinality(stored)
  const shared = new Map<string, GeoSpans>()
  const known = new Map(stored.timelines.map((timeline) => [timeline.geoId, timeline]))
  const named = new Set([
    ...wants.flatMap(({ geoIds }) => geoIds ?? []),
    ...stored.coverage.map(({ geo }) => geo),
    ...stored.failures.flatMap(({ geoIds, isUserRange }) => (isUserRange ? (geoIds ?? []) : [])),
  ])
  named.delete(ALL_GEOS)
  const geoIds = [...new Set([...known.keys(), ...named])].sort((a, b) => a - b)
  const coverage = [...stored.coverage].sort((a, b) => a.from - b.from)
  const context: JudgeContext = { wants, stored: { ...stored, coverage }, finality, now }
  const geos = geoIds.map((geoId) => judgeRequestsOf(context, geoId, shared))
  const spans = geos.flatMap((requests) => judgeGeo(context, known.get(requests.geoId), requests))
  const others = known.has(ALL_GEOS) ? [] : judgeOthers(context, geos)
  return delayUnknown([...others, ...spans], stored, now)
}

/** A series whose id the service does not know is requested at growing distances, whatever is due. */
function delayUnknown(spans: readonly Span[], { unknown }: StoredSeries, now: Instant): readonly Span[] {
  if (unknown === null || isFuture(unknown.lastAt, now)) return spans
  const notBefore = unknownNext(unknown) - EARLY_S
  return spans.map((span) => (span.nextAt === null ? span : { ...span, nextAt: Math.max(span.nextAt, notBefore) }))
}

interface JudgeContext {
  readonly wants: readonly Want[]
  readonly stored: StoredSeries
  readonly finality: Finality
  readonly now: Instant
}

/** The spans of a geo that depend on requests alone. */
interface GeoSpans {
  readonly covered: readonly Span[]
  readonly uncovered: readonly Span[]
}

/** The borders of a series; the lookback is that of the series. */
function createFinality({ zone, unit, period, lookbackS }: StoredSeries): Finality {
  const periods = period === null ? undefined : findPeriods(zone, period)
  return { zone, unit, lookbackS, periods: periods?.isCalendar ? periods : undefined }
}

/** A geo, what jobs require of it, what failed, and its spans that depend on requests alone. */
interface GeoRequests extends GeoSpans {
  readonly geoId: number
  readonly wants: readonly Want[]
  readonly failures: StoredSeries['failures']
}

/** Judges the requests of a geo. Geos that differ only in their values share the spans. */
function judgeRequestsOf(context: JudgeContext, geoId: number, shared: Map<string, GeoSpans>): GeoRequests {
  const { stored } = context
  const wants = context.wants.filter(({ geoIds }) => geoIds?.includes(geoId) ?? true)
  const ofGeo = stored.coverage.filter(({ geo }) => geo === geoId)
  const failures = stored.failures.filter(({ geoIds }) => geoIds?.includes(geoId) ?? true)
  const isOwn = ofGeo.length > 0 || failures.some(({ geoIds }) => geoIds !== null)
  const key = isOwn ? null : wants.map((want) => context.wants.indexOf(want)).join()
  let spans = key === null ? undefined : shared.get(key)
  if (!spans) {
    const rows = precedence(stored.coverage, ofGeo)
    spans = judgeRequests(context, { wants, rows, failures })
    if (key !== null) shared.set(key, spans)
  }
  return { ...spans, geoId, wants, failures }
}

/** Judges a geo by its requests and its values. */
function judgeGeo(context: JudgeContext, timeline: Timeline | undefined, requests: GeoRequests): readonly Span[] {
  const { geoId, wants } = requests
  const covered = repeatOutside(context, timeline, wants, awaitLate(context, timeline, wants, requests.covered))
  const uncovered = joinAdjacent([...judgeSinceReply(timeline, requests, covered), ...requests.uncovered])
  const missing = judgeMissing(context, geoId, covered)
  const end = timeline?.extent
    ? judgeEnd(context, timeline, wants, covered)
    : judgeNoValues(timeline, wants, covered, missing)
  const listed = [...covered, ...uncovered, ...missing, ...end].map((span) => ({ ...span, geoId }))
  return accept(listed, context.stored, geoId)
}

/**
 * Judges geos that may exist beside the known ones. While none is known or named, `ALL_GEOS` stands for the series. Later it has the
 * ranges without a verified reply for all geos, although those of the known geos are verified.
 */
function judgeOthers(context: JudgeContext, geos: readonly GeoRequests[]): readonly Span[] {
  const { stored } = context
  const wants = context.wants.filter(({ geoIds }) => geoIds === null)
  const rows = stored.coverage.filter(({ geo }) => geo === ALL_GEOS)
  const failures = stored.failures.filter(({ geoIds }) => geoIds === null)
  const requests = { wants, rows, failures }
  if (geos.length === 0) {
    const replies = judgeRequests(context, requests)
    const covered = repeatOutside(context, undefined, wants, replies.covered)
    const uncovered = joinAdjacent([...judgeSinceReply(undefined, requests, covered), ...replies.uncovered])
    return accept([...covered, ...uncovered, ...judgeNoValues(undefined, wants, covered, [])], stored, ALL_GEOS)
  }
  const listed = geos.flatMap(({ covered, uncovered }) => [
    ...covered.filter(({ reason }) => reason === 'unverified'),
    ...uncovered,
  ])
  const unverified = judgeRows(context, { ...requests, rows: rows.filter(({ state }) => state === 'unverified') })
  const others = [...unverified, ...judgeUncovered(requests)].flatMap((span) =>
    subtract([span], listed).map((part) => ({ ...span, ...part })),
  )
  return accept(others, stored, ALL_GEOS)
}

/** The coverage of a geo: its own rows take precedence over those of all geos. */
function precedence(coverage: readonly Coverage[], ofGeo: readonly Coverage[]): readonly Coverage[] {
  const ofAll = coverage.filter(({ geo }) => geo === ALL_GEOS)
  if (ofGeo.length === 0) return ofAll
  return [...ofGeo, ...ofAll.flatMap((row) => subtract([row], ofGeo).map((part) => ({ ...row, ...part })))].sort(
    (a, b) => a.from - b.from,
  )
}

const NOTHING = {
  geoId: ALL_GEOS,
  lagS: null,
  reason: null,
  reply: null,
  periods: null,
  stepS: null,
  sinceAt: null,
  nextAt: null,
  dueAt: null,
  isAccepted: false,
  isTolerated: false,
} as const

/** The end of a required range in all the time to come. */
const endAhead = ({ to, lagS }: Want): Instant => (lagS === null ? to : ALWAYS)

/** A part of an interval with the entries that require it. */
interface WantedPart extends Interval {
  readonly wants: readonly Want[]
}

/** The instants at which required ranges begin or end. */
const listEnds = (wants: readonly Want[]): Instant[] => wants.flatMap((want) => [want.from, endAhead(want)])

/** Splits an interval at borders, among them the ends of required ranges, and lists the entries that require each part. */
const splitByWants = (interval: Interval, wants: readonly Want[], borders: readonly Instant[]): WantedPart[] =>
  splitAt(interval, borders).map(({ from, to }) => ({
    from,
    to,
    wants: wants.filter((want) => want.from < to && endAhead(want) > from),
  }))

/** The first job, by name. */
function firstJob([first, ...others]: readonly Want[]): Pick<Span, 'job' | 'jobId'> {
  if (!first) return { job: null, jobId: null }
  const isBefore = (a: Want, b: Want): boolean => a.job < b.job || (a.job === b.job && (a.jobId ?? 0) < (b.jobId ?? 0))
  const { job, jobId } = others.reduce((least, want) => (isBefore(want, least) ? want : least), first)
  return { job, jobId }
}

const earliest = (instants: readonly (Instant | null)[]): Instant | null => {
  const known = instants.filter((at) => at !== null)
  return known.length === 0 ? null : Math.min(...known)
}

interface Requests {
  readonly wants: readonly Want[]
  /** The coverage, in order and without overlaps. */
  readonly rows: readonly Coverage[]
  readonly failures: StoredSeries['failures']
}

const judgeRequests = (context: JudgeContext, requests: Requests): GeoSpans => ({
  covered: judgeRows(context, requests),
  uncovered: judgeUncovered(requests),
})

/** Judges the coverage. */
function judgeRows(context: JudgeContext, { wants, rows }: Requests): Span[] {
  const ends = listEnds(wants)
  const covered: Span[] = []
  for (const row of rows)
    for (const part of splitByWants(row, wants, ends)) covered.push(...judgeCovered(context, row, part))
  return covered
}

/** Rules 22–24: a part of a row of coverage, split where it is final for one entry and not for another. */
function judgeCovered({ finality, now }: JudgeContext, row: Coverage, part: WantedPart): Span[] {
  const { wants } = part
  const settledTo = ({ lookbackS, earlierLookbacks = [] }: Pick<Want, 'lookbackS' | 'earlierLookbacks'>): Instant =>
    findSettledPart(row, { ...finality, lookbackS, earlierLookbacks }, now).to
  const borders = wants.length === 0 ? [settledTo(finality)] : wants.map(settledTo)
  const { fetchedAt, settledFor, state, sinceAt } = row
  const reply = { state, fetchedAt, settledFor }
  const { job, jobId } = firstJob(wants)
  const isAhead = isFuture(fetchedAt, now)
  const refreshNext = (refreshing: readonly Want[]): Instant =>
    isAhead ? now : fetchedAt + Math.min(...refreshing.map(({ refreshS }) => refreshS))
  return splitAt(part, borders).map(({ from, to }): Span => {
    const isFinal = borders.every((border) => border >= to)
    const revisable = wants.filter((_, i) => borders[i]! < to)
    const dates: (Instant | null)[] = []
    if (revisable.length > 0) dates.push(refreshNext(revisable))
    if (wants.length > 0 && state === 'unverified')
      dates.push(Math.max(refreshNext(wants), isAhead ? now : unverifiedNext(sinceAt ?? fetchedAt, fetchedAt)))
    const isVerified = state !== 'unverified'
    return {
      geoId: ALL_GEOS,
      from,
      to,
      job,
      jobId,
      lagS: null,
      state: isVerified ? (isFinal ? 'complete' : 'provisional') : 'missing',
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
 * Rule 23: while a source is up to two weeks behind, nothing is final from the day on which its last period ends, whatever the lookback says. What
 * is published later than the lookback would be lost if nothing shows a regular timeline yet. A window that has ended awaits nothing.
 */
function awaitLate(
  { finality: { zone, unit }, now }: JudgeContext,
  timeline: Timeline | undefined,
  wants: readonly Want[],
  covered: readonly Span[],
): readonly Span[] {
  const extent = timeline?.extent
  if (!extent || extent.stepS > DAY || wants.length === 0) return covered
  const lastEnd = extent.lastAt + extent.stepS
  if (!covered.some(({ to, state }) => to > lastEnd && state === 'complete')) return covered
  // Only rows that are not final yet have the time of the last reply: the others may be merged with older ones.
  const newestAt = Math.max(...covered.flatMap(({ state, reply }) => (state === 'provisional' ? reply!.fetchedAt : [])))
  if (!Number.isFinite(newestAt) || newestAt - lastEnd > AWAITED_S) return covered
  const from = floorTo(zone, lastEnd, unit)
  return covered.flatMap((span): Span[] => {
    if (span.to <= from || span.state !== 'complete' || span.job === null) return [span]
    const refreshes = wants.filter((want) => want.from < span.to && endAhead(want) > from).map((want) => want.refreshS)
    const fetchedAt = Math.max(newestAt, span.reply!.fetchedAt)
    const nextAt = isFuture(fetchedAt, now) ? now : fetchedAt + Math.min(...refreshes)
    return splitAt(span, [from]).map((part) =>
      part.from < from ? { ...span, ...part } : { ...span, ...part, state: 'provisional', nextAt },
    )
  })
}

/**
 * C6–C8: final data before the first or after the last value, or of a geo without any, may still be published. So may the rest of the day
 * of the last value.
 */
function repeatOutside(
  { finality, now }: JudgeContext,
  timeline: Timeline | undefined,
  wants: readonly Want[],
  covered: readonly Span[],
): readonly Span[] {
  // Values of a timeline whose ends are not known yet may be stored.
  if (timeline?.kind === null || wants.length === 0) return covered
  const extent = timeline?.extent ?? null
  const lastEnd = extent ? extent.lastAt + extent.stepS : ALWAYS
  const from = covered.some(({ to }) => to > lastEnd) ? floorTo(finality.zone, lastEnd, finality.unit) : ALWAYS
  const begin = extent ? floorTo(finality.zone, extent.firstAt, finality.unit) : ALWAYS
  return covered.flatMap((span): Span[] => {
    if (span.state !== 'complete' || span.job === null) return [span]
    return splitAt(span, [begin, from]).flatMap((part) => {
      const whole = { ...span, ...part }
      if (part.to <= begin) return repeatInRounds(whole, earlierExpectedAt(wants, part, extent), finality, now)
      // Values are expected once the period after the last one has ended.
      return part.from < from ? [whole] : repeatInRounds(whole, [lastEnd + extent!.stepS], finality, now)
    })
  })
}

/**
 * When values before the first one are expected: since they are required; and since the first value, because a geo that appears later may
 * bring its history.
 */
const earlierExpectedAt = (wants: readonly Want[], part: Interval, extent: Timeline['extent']): Instant[] =>
  wants
    .filter((want) => want.from < part.to && endAhead(want) > part.from)
    .map(({ sinceAt }) => Math.max(sinceAt, extent ? extent.firstAt + extent.stepS : sinceAt))

/** The last instant that a stored range says anything about: windows reach into the future, replies mostly do not. */
const repliedTo = ({ to, reply }: Span): Instant => (reply!.settledFor < 0 ? Math.min(to, reply!.fetchedAt) : to)

/**
 * J3: the time of a stored range after its reply and after the last value. It is requested with the range, which is not final; until the
 * next run it is expected, unless a later request failed.
 */
function judgeSinceReply(
  timeline: Timeline | undefined,
  { wants, failures }: Pick<Requests, 'wants' | 'failures'>,
  covered: readonly Span[],
): Span[] {
  const extent = timeline?.extent
  const lastEnd = extent ? extent.lastAt + extent.stepS : Number.NEGATIVE_INFINITY
  return covered.flatMap((span): Span[] => {
    const from = Math.max(span.from, repliedTo(span), lastEnd)
    if (span.state !== 'provisional' || from >= span.to) return []
    const { fetchedAt } = span.reply!
    const later = failures.filter(({ failedAt }) => failedAt > fetchedAt)
    const borders = [...listEnds(wants), ...later.flatMap((failure) => [failure.from, failure.to])]
    return splitByWants({ from, to: span.to }, wants, borders).flatMap((part): Span[] => {
      if (part.wants.length === 0) return []
      const failed = later.filter((failure) => overlaps(failure, part))
      const grace = Math.min(...part.wants.map(({ graceS }) => graceS))
      return [
        {
          ...NOTHING,
          ...firstJob(part.wants),
          from: part.from,
          to: part.to,
          lagS: 0,
          state: 'missing',
          reason: failed.length > 0 ? 'failed' : 'never requested',
          sinceAt: part.from,
          dueAt: failed.length > 0 ? null : fetchedAt + grace,
        },
      ]
    })
  })
}

/** What is required or failed, and not covered. */
function judgeUncovered({ wants, rows, failures }: Requests): Span[] {
  const wanted = wants.map((want) => ({ from: want.from, to: endAhead(want) }))
  const userRanges = failures.filter(({ isUserRange }) => isUserRange)
  const borders = [...listEnds(wants), ...failures.flatMap(({ from, to }) => [from, to])]
  const spans = subtract([...wanted, ...userRanges], rows).flatMap((interval) =>
    splitByWants(interval, wants, borders).map((part): Span => {
      const failed = failures.filter((failure) => overlaps(failure, part))
      const isGrowing = part.wants.length > 0 && part.wants.every(({ lagS }) => lagS !== null)
      const wantedAt = part.wants.map(({ sinceAt, lagS }) =>
        Math.max(sinceAt, lagS === null ? sinceAt : part.from + lagS),
      )
      // The newest time is requested by the next run: until then it is expected.
      const dueAt = part.wants.map(({ lagS, graceS }) => part.from + (lagS ?? 0) + graceS)
      return {
        ...NOTHING,
        from: part.from,
        to: part.to,
        ...firstJob(part.wants),
        lagS: isGrowing && failed.length === 0 ? Math.min(...part.wants.map(({ lagS }) => lagS!)) : null,
        state: 'missing',
        reason: failed.length > 0 ? 'failed' : 'never requested',
        sinceAt: earliest(failed.length > 0 ? failed.map(({ failedAt }) => failedAt) : wantedAt),
        nextAt: earliest(wantedAt),
        dueAt: failed.length > 0 ? null : earliest(dueAt),
      }
    }),
  )
  return joinAdjacent(spans)
}

/** Joins adjacent spans without a reply that have the same reason, job and kind of end. Sorts them. */
function joinAdjacent(spans: readonly Span[]): Span[] {
  const joined: Span[] = []
  for (const span of [...spans].sort((a, b) => a.from - b.from)) {
    const last = joined.at(-1)
    const isSame =
      last?.to === span.from &&
      last.reason === span.reason &&
      last.jobId === span.jobId &&
      last.job === span.job &&
      last.lagS === span.lagS
    if (!last || !isSame) joined.push(span)
    else
      joined[joined.length - 1] = {
        ...last,
        to: span.to,
        sinceAt: earliest([last.sinceAt, span.sinceAt]),
        nextAt: earliest([last.nextAt, span.nextAt]),
        dueAt: earliest([last.dueAt, span.dueAt]),
      }
  }
  return joined
}

/** Rule 25: missing periods in verified coverage. Those that are not final may still be published. */
function judgeMissing({ stored, finality, now }: JudgeContext, geoId: number, covered: readonly Span[]): Span[] {
  const absences = stored.absences.filter(({ geo }) => geo === geoId)
  if (absences.length === 0) return []
  const isTolerated = createTolerance(finality.zone, absences)
  const verified = covered.filter(({ reply }) => reply!.state !== 'unverified')
  const spans: Span[] = []
  let first = 0
  for (const absence of absences.sort((a, b) => a.from - b.from)) {
    while (first < verified.length && verified[first]!.to <= absence.from) first++
    const parts: Span[] = []
    for (let i = first; i < verified.length && verified[i]!.from < absence.to; i++) {
      const { from, to, state, job, jobId, nextAt } = verified[i]!
      const part = { from: Math.max(from, absence.from), to: Math.min(to, absence.to) }
      const last = parts.at(-1)
      if (
        last &&
        last.to === part.from &&
        last.jobId === jobId &&
        last.job === job &&
        last.state === (state === 'complete' ? 'missing' : state)
      )
        parts[parts.length - 1] = {
          ...last,
          to: part.to,
          nextAt: earliest([last.nextAt, nextAt]),
        }
      else
        parts.push({
          ...NOTHING,
          ...part,
          job,
          jobId,
          state: state === 'complete' ? 'missing' : 'provisional',
          reason: absence.reason,
          stepS: absence.step,
          sinceAt: absence.sinceAt,
          nextAt,
        })
    }
    const tolerated = isTolerated(absence)
    const next = isFuture(absence.checkedAt, now) ? now : (tolerated ? toleratedNext : absentNext)(absence)
    for (const span of parts) {
      const isLeft = span.state === 'missing' && (span.job === null || next === null)
      const nextAt = span.state === 'provisional' ? span.nextAt : isLeft ? null : next! - EARLY_S
      const isWhole = span.from === absence.from && span.to === absence.to
      const { stepS } = span
      const periods = isWhole
        ? absence.periods
        : stepS && countPeriods({ step: stepS, anchor: absence.from }, finality.zone, span)
      spans.push({ ...span, nextAt, isTolerated: tolerated, periods })
    }
  }
  return spans
}

/** Tolerance: whether an absence is of a short step, on a day that lacks little for its geo. */
function createTolerance(zone: string, absences: readonly Absence[]): (absence: Absence) => boolean {
  const isShort = ({ step }: Absence): boolean => step !== null && step < TOLERANT_BELOW_S
  const short = absences.filter(isShort)
  if (short.length === 0) return () => false
  const lost = new Map<number, number>()
  const dayOf = (at: Instant): Instant => floorTo(zone, at, 'day')
  for (const { from, to } of short)
    for (let at = from; at < to; ) {
      const end = Math.min(to, ceilTo(zone, at + 1, 'day'))
      lost.set(dayOf(at), (lost.get(dayOf(at)) ?? 0) + end - at)
      at = end
    }
  const isMany = (at: Instant): boolean => lost.get(dayOf(at))! > TOLERATED_SHARE * DAY
  return (absence) => isShort(absence) && !isMany(absence.from) && !isMany(absence.to - 1)
}

/** C7: what follows the last value of a timeline that publishes on, as far as it was requested. */
function judgeEnd(
  { stored }: JudgeContext,
  { extent, kind }: Timeline,
  wants: readonly Want[],
  covered: readonly Span[],
): Span[] {
  if (extent === null || kind === null || kind === 'irregular') return []
  const { lastAt, stepS } = extent
  const from = lastAt + stepS
  const wanting = wants.filter((want) => endAhead(want) > from)
  const after = covered.filter(({ to, reply }) => to > from && reply!.state !== 'unverified')
  // Up to the first range that was not requested.
  const end = after.findIndex((span, i) => i > 0 && span.from !== after[i - 1]!.to)
  const asked = end === -1 ? after : after.slice(0, end)
  if (wanting.length === 0 || asked.length === 0) return []
  const start = Math.max(from, asked[0]!.from)
  const to = Math.max(...asked.map(repliedTo))
  if (start >= to) return []
  const allowedS = stored.allowedLagS ?? Math.max(UNKNOWN_LAG_S, 3 * stepS)
  return [
    {
      ...NOTHING,
      from: start,
      to,
      ...firstJob(wanting),
      state: 'missing',
      reason: 'late',
      stepS: kind === 'regular' ? stepS : null,
      sinceAt: from,
      // That of its first day: later days may be requested sooner.
      nextAt: asked.find(({ nextAt }) => nextAt !== null)?.nextAt ?? null,
      dueAt: from + allowedS,
    },
  ]
}

/** C8: a series or geo that is required, was requested in any range, is final there, and never had a value. */
function judgeNoValues(
  timeline: Timeline | undefined,
  wants: readonly Want[],
  covered: readonly Span[],
  missing: readonly Span[],
): Span[] {
  // Values of a timeline whose ends are not known yet may be stored.
  if (timeline && (timeline.extent !== null || timeline.kind === null)) return []
  if (missing.length > 0 || wants.length === 0) return []
  const final = covered.filter(({ state }) => state === 'complete')
  if (final.length === 0) return []
  return [
    {
      ...NOTHING,
      ...hull(final),
      ...firstJob(wants),
      state: 'missing',
      reason: 'no values',
      sinceAt: earliest(final.map(({ reply }) => reply!.fetchedAt)),
      nextAt: earliest(covered.map(({ nextAt }) => nextAt)),
    },
  ]
}

/**
 * Marks what somebody accepted, and splits spans at its borders. An accepted range without an end is about the end of a timeline: if that
 * goes on, it covers the missing periods up to the next value, and not a later end.
 */
function accept(spans: readonly Span[], { accepted, absences, zone }: StoredSeries, geoId: number): readonly Span[] {
  const ofGeo = accepted.filter((range) => range.geoId === geoId)
  if (ofGeo.length === 0) return spans
  const missing = absences.filter(({ geo }) => geo === geoId).sort((a, b) => a.from - b.from)
  const missingTo = (from: Instant): Instant =>
    missing.reduce((end, absence) => (absence.from <= end && absence.to > end ? absence.to : end), from)
  return spans.flatMap((span) => {
    if (span.reason === null) return span
    const ranges = ofGeo.flatMap(({ from, to }): Interval[] => {
      if (to !== null) return [{ from, to }]
      if (isAbsence(span.reason!)) return [{ from, to: missingTo(from) }]
      const isEnd = span.reason === 'late' || span.reason === 'no values'
      return isEnd && span.from <= from && span.to > from ? [{ from, to: ALWAYS }] : []
    })
    const inside = intersect([span], ranges)
    if (inside.length === 0) return span
    return [
      ...inside.map((part) => ({ ...span, ...part, isAccepted: true })),
      ...subtract([span], inside).map((part) => ({ ...span, ...part })),
    ]
      .sort((a, b) => a.from - b.from)
      .map((part) => {
        const isWhole = part.from === span.from && part.to === span.to
        return {
          ...part,
          periods:
            isWhole || span.stepS === null || span.periods === null
              ? span.periods
              : countPeriods({ step: span.stepS, anchor: span.from }, zone, part),
        }
      })
  })
}
