import { ALL_GEOS } from '../db/tables/codes.ts'
import { DAY, type Instant, isFuture } from '../util/time/instant.ts'
import { overlaps } from '../util/time/interval.ts'
import { ceilTo, floorTo } from '../util/time/zone.ts'
import { absentNext, toleratedNext, unverifiedNext } from './distances.ts'
import { countPeriods } from './grid.ts'
import type { Span } from './judgeTypes.ts'
import { EARLY_S, TOLERANT_BELOW_S, TOLERATED_SHARE } from './limits.ts'
import { EMPTY_SPAN, earliest, type JudgeContext } from './spans.ts'
import type { Absence } from './stored.ts'

/* Periods without a value in verified ranges (R4, J7). */

/** The parts of an absence in verified coverage, which is in order. Those of one job and state are joined. `first`: where they begin. */
function cutAtCoverage(absence: Absence, verified: readonly Span[], first: number): Span[] {
  const parts: Span[] = []
  for (let i = first; i < verified.length && verified[i]!.from < absence.to; i++) {
    const { from, to, state, job, jobId, nextAt } = verified[i]!
    const part: Span = {
      ...EMPTY_SPAN,
      from: Math.max(from, absence.from),
      to: Math.min(to, absence.to),
      job,
      jobId,
      state: state === 'complete' ? 'missing' : 'provisional',
      reason: absence.reason,
      stepS: absence.step,
      sinceAt: absence.sinceAt,
      nextAt,
    }
    const last = parts.at(-1)
    const continues =
      last &&
      last.to === part.from &&
      last.job === job &&
      last.jobId === jobId &&
      last.state === (state === 'complete' ? 'missing' : state)
    if (continues) parts[parts.length - 1] = { ...last, to: part.to, nextAt: earliest([last.nextAt, nextAt]) }
    else parts.push(part)
  }
  return parts
}

/**
 * R4: missing periods in verified coverage. Those that are not final may still be published. If a later reply for all geos is unverified
 * there, they wait for its next request, because both are requested together.
 */
export function judgeMissing({ stored, finality, now }: JudgeContext, geoId: number, covered: readonly Span[]): Span[] {
  const absences = stored.absences.filter(({ geo }) => geo === geoId)
  if (absences.length === 0) return []
  const isTolerated = createTolerance(finality.zone, absences)
  const unverified = stored.coverage.filter(({ geo, state }) => geo === ALL_GEOS && state === 'unverified')
  const verified = covered.filter(({ reply }) => reply!.state !== 'unverified')
  const spans: Span[] = []
  let first = 0
  for (const absence of absences.sort((a, b) => a.from - b.from)) {
    while (first < verified.length && verified[first]!.to <= absence.from) first++
    const parts = cutAtCoverage(absence, verified, first)
    const tolerated = isTolerated(absence)
    const regularNext = tolerated ? toleratedNext(absence) : absentNext(absence)
    const next = isFuture(absence.checkedAt, now) ? now : regularNext
    const later = unverified.filter((row) => row.fetchedAt > absence.checkedAt && overlaps(row, absence))
    const notBefore = later.map(({ sinceAt, fetchedAt }) => unverifiedNext(sinceAt ?? fetchedAt, fetchedAt))
    for (const span of parts) {
      const isLeft = span.state === 'missing' && (span.job === null || next === null)
      const repeatAt = isLeft ? null : Math.max(next! - EARLY_S, ...notBefore)
      const nextAt = span.state === 'provisional' ? span.nextAt : repeatAt
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
