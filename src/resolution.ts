import { KeyError } from './base/errors.ts'
import { type Interval, subtract } from './base/interval.ts'
import { type IngestContext, type IngestResult, joined, NOTHING_INGESTED, tellDone } from './ingestContext.ts'
import { type PlannedRequest, seriesKey } from './job/plannedRequest.ts'
import { loadCoarse, type ParsedReply, rememberChange } from './load/load.ts'
import { addCounts } from './load/run.ts'
import { daysWithValues, halve, isSame, type Kind, kindOf, within } from './plan/resolution.ts'
import type { Reply } from './services/reply.ts'
import { dayIdsOf } from './state/neighbours.ts'

/** An answer that is not believed yet. */
export interface DoubtedReply {
  readonly planned: PlannedRequest
  readonly reply: Reply
  readonly said: ParsedReply
  /** Loads it as it is. */
  readonly believe: () => Promise<IngestResult>
}

type Ingest = (ingestContext: IngestContext, planned: PlannedRequest) => Promise<IngestResult>

/** Where one resolution ends and another one begins, it is remembered, so that later windows are cut there. */
async function remember(
  { loading }: IngestContext,
  planned: PlannedRequest,
  at: number,
  before: Kind | null,
  after: Kind | null,
): Promise<void> {
  if (before && after && !isSame(before, after)) await rememberChange(loading, planned, { at, step: after.step ?? 0 })
}

/**
 * An answer under a number that was never seen for values of the series: one of its days is asked. When that comes under
 * the same number, it is the series' own; else the answer was made of several resolutions.
 */
export async function carryUnsure(
  ingestContext: IngestContext,
  doubted: DoubtedReply,
  carry: Ingest,
): Promise<IngestResult> {
  const { planned, said } = doubted
  const kind = kindOf(said.rows)
  const key = `${seriesKey(planned.series!)} ${kind.id}`
  // Windows of a series come side by side, and one day is enough for all of them.
  const earlier = ingestContext.probes.get(key)
  if (earlier) {
    await earlier
    if (kind.id !== null && (await dayIdsOf(ingestContext.loading.store, planned)).includes(kind.id))
      return doubted.believe()
  }
  const [day] = daysWithValues(planned, said.rows)
  const probing = carry(ingestContext, within(ingestContext.service, planned, day!))
  ingestContext.probes.set(
    key,
    probing.catch(() => undefined),
  )
  const probe = await probing
  if (probe.first && isSame(probe.first, kind)) return joined(probe, await doubted.believe())
  return joined(
    probe,
    probe.first ? await carrySums(ingestContext, doubted, carry) : await leave(ingestContext, doubted, [day!]),
  )
}

/**
 * Sums of what is in several resolutions are not loaded: the halves are asked, each between days that have values, until
 * what comes is not summed. Where the series bears the number of sums itself, nothing but every single day can tell.
 */
export async function carrySums(
  ingestContext: IngestContext,
  doubted: DoubtedReply,
  carry: Ingest,
): Promise<IngestResult> {
  const { planned, reply, said } = doubted
  const days = daysWithValues(planned, said.rows)
  const { coarse } = planned.service.steps
  if (days.length < 2 || (coarse !== null && (await dayIdsOf(ingestContext.loading.store, planned)).includes(coarse)))
    return carryDays(ingestContext, doubted, carry)
  const counts = await loadCoarse(ingestContext.loading, planned, reply, [], said.packed)
  tellDone(ingestContext, planned, reply, counts, false)
  const [left, right] = halve(planned.window!, days)
  const before = await carry(ingestContext, within(ingestContext.service, planned, left))
  const all = { ...before, counts: addCounts(counts, before.counts) }
  if (before.error instanceof KeyError) return all
  const after = await carry(ingestContext, within(ingestContext.service, planned, right))
  await remember(ingestContext, planned, right.from, before.last, after.first)
  return joined(all, after)
}

/** Asks every day that has values. Only when all of them are what the whole is, it is believed. */
async function carryDays(ingestContext: IngestContext, doubted: DoubtedReply, carry: Ingest): Promise<IngestResult> {
  const { planned, said } = doubted
  const whole = kindOf(said.rows)
  const days = daysWithValues(planned, said.rows)
  const carried: IngestResult[] = []
  for (const [i, day] of days.entries()) {
    const one = await carry(ingestContext, within(ingestContext.service, planned, day))
    await remember(ingestContext, planned, day.from, carried[i - 1]?.last ?? null, one.first)
    carried.push(one)
    if (one.error instanceof KeyError) break
  }
  const all = carried.reduce(joined)
  if (carried.length === days.length && carried.every(({ first }) => first && isSame(first, whole)))
    return joined(all, await doubted.believe())
  return joined(all, await leave(ingestContext, doubted, days))
}

/** Believes nothing of an answer, and leaves in doubt what none of these days tells. */
async function leave(
  ingestContext: IngestContext,
  { planned, reply, said }: DoubtedReply,
  days: readonly Interval[],
): Promise<IngestResult> {
  const doubts = subtract([planned.window!], days)
  const counts = await loadCoarse(ingestContext.loading, planned, reply, doubts, said.packed)
  tellDone(ingestContext, planned, reply, counts, false)
  return { ...NOTHING_INGESTED, counts }
}
