import { type Interval, subtract } from './base/time/interval.ts'
import { emitDone, type IngestContext, type IngestResult, mergeResults, NOTHING_INGESTED } from './ingestContext.ts'
import { type PlannedRequest, seriesKey } from './job/plannedRequest.ts'
import { addCounts, NO_COUNTS } from './load/counts.ts'
import { loadCoarse, type ParsedReply, rememberChange } from './load/load.ts'
import { daysWithValues, halve, isSame, type Resolution, resolutionOf, withWindow } from './plan/resolution.ts'
import type { Reply } from './services/reply.ts'
import { dayIdsOf } from './state/neighbours.ts'

/** A reply whose values may be sums over several resolutions. */
export interface DoubtfulReply {
  readonly planned: PlannedRequest
  readonly reply: Reply
  readonly parsed: ParsedReply
  /** Loads it as it came. */
  readonly accept: () => Promise<IngestResult>
}

type Ingest = (ingestContext: IngestContext, planned: PlannedRequest) => Promise<IngestResult>

/** Records where the resolution changes, so that later windows are cut there. */
async function rememberResolution(
  { loading }: IngestContext,
  planned: PlannedRequest,
  at: number,
  before: Resolution | null,
  after: Resolution | null,
): Promise<void> {
  if (before && after && !isSame(before, after)) await rememberChange(loading, planned, { at, step: after.step ?? 0 })
}

/**
 * Ingests a reply with a resolution number that is new for the series: one of its days is requested. When that day has the
 * same number, the reply is accepted; otherwise it sums several resolutions.
 */
export async function ingestUnsure(
  ingestContext: IngestContext,
  doubtful: DoubtfulReply,
  ingest: Ingest,
): Promise<IngestResult> {
  const { planned, parsed } = doubtful
  const resolution = resolutionOf(parsed.rows)
  const key = `${seriesKey(planned.series!)} ${resolution.id}`
  // One day is enough for all windows of a series that are requested at the same time.
  const earlier = ingestContext.samples.get(key)
  if (earlier) {
    await earlier
    if (resolution.id !== null && (await dayIdsOf(ingestContext.loading.store, planned)).includes(resolution.id))
      return doubtful.accept()
  }
  const [day] = daysWithValues(planned, parsed.rows)
  const sampling = ingest(ingestContext, withWindow(planned, day!))
  ingestContext.samples.set(
    key,
    sampling.catch(() => undefined),
  )
  const sample = await sampling
  if (sample.first && isSame(sample.first, resolution)) return mergeResults(sample, await doubtful.accept())
  if (!sample.first) return mergeResults(sample, await keepInDoubt(ingestContext, doubtful, [day!]))
  // The day has just been ingested and is not requested again.
  const others: Ingest = async (context, one) =>
    one.window!.from === day!.from && one.window!.to === day!.to
      ? { ...sample, counts: NO_COUNTS }
      : ingest(context, one)
  return mergeResults(sample, await ingestHalves(ingestContext, doubtful, others))
}

/**
 * Ingests a reply that sums several resolutions: it is not loaded, and its window is bisected between days with values until
 * the replies are not sums. Where sums have the same resolution number as the series itself, every single day is requested.
 */
export async function ingestHalves(
  ingestContext: IngestContext,
  doubtful: DoubtfulReply,
  ingest: Ingest,
): Promise<IngestResult> {
  const { planned, reply, parsed } = doubtful
  const days = daysWithValues(planned, parsed.rows)
  const { coarse } = planned.service.steps
  if (days.length < 2 || (coarse !== null && (await dayIdsOf(ingestContext.loading.store, planned)).includes(coarse)))
    return ingestDays(ingestContext, doubtful, ingest)
  const counts = await loadCoarse(ingestContext.loading, planned, reply, parsed, [])
  emitDone(ingestContext, planned, reply, counts, false)
  const [left, right] = halve(planned.window!, days)
  const before = await ingest(ingestContext, withWindow(planned, left))
  const all = { ...before, counts: addCounts(counts, before.counts) }
  const after = await ingest(ingestContext, withWindow(planned, right))
  await rememberResolution(ingestContext, planned, right.from, before.last, after.first)
  return mergeResults(all, after)
}

/** Requests every day that has values; the reply is accepted when all of them have its resolution. */
async function ingestDays(
  ingestContext: IngestContext,
  doubtful: DoubtfulReply,
  ingest: Ingest,
): Promise<IngestResult> {
  const { planned, parsed } = doubtful
  const whole = resolutionOf(parsed.rows)
  const days = daysWithValues(planned, parsed.rows)
  const results: IngestResult[] = []
  for (const [i, day] of days.entries()) {
    const one = await ingest(ingestContext, withWindow(planned, day))
    await rememberResolution(ingestContext, planned, day.from, results[i - 1]?.last ?? null, one.first)
    results.push(one)
  }
  const all = results.reduce(mergeResults)
  if (results.every(({ first }) => first && isSame(first, whole))) return mergeResults(all, await doubtful.accept())
  return mergeResults(all, await keepInDoubt(ingestContext, doubtful, days))
}

/** Loads nothing of a reply, and records its window in doubt, without these days. */
export async function keepInDoubt(
  ingestContext: IngestContext,
  { planned, reply, parsed }: DoubtfulReply,
  days: readonly Interval[],
): Promise<IngestResult> {
  const doubts = subtract([planned.window!], days)
  const counts = await loadCoarse(ingestContext.loading, planned, reply, parsed, doubts)
  emitDone(ingestContext, planned, reply, counts, false)
  return { ...NOTHING_INGESTED, counts }
}
