import { release } from './base/bytes.ts'
import { KeyError, SchemaError, type SyncError } from './base/errors.ts'
import type { Interval } from './base/interval.ts'
import { findSeries } from './db/series.ts'
import { isTooLarge } from './fetch/fetch.ts'
import type { OnRetry } from './fetch/line.ts'
import {
  eventReply,
  eventRequest,
  eventRows,
  type IngestContext,
  type IngestResult,
  joined,
  NOTHING_INGESTED,
  tellDone,
} from './ingestContext.ts'
import { identityRow, type PlannedRequest } from './job/plannedRequest.ts'
import { undismissed } from './load/dismissed.ts'
import { load, loadFailure, loadUnanswered } from './load/load.ts'
import { addCounts } from './load/run.ts'
import { halfOf, piecesOf } from './plan/pieces.ts'
import { isUnknown, judge, kindOf, within } from './plan/resolution.ts'
import { carrySums, carryUnsure, type DoubtedReply } from './resolution.ts'
import type { Reply } from './services/reply.ts'
import { dayIdsOf, neighboursOf } from './state/neighbours.ts'
import type { Rows } from './tables/rows.ts'
import { read } from './threads/read.ts'

/** One ask's way through the river: fetched, transformed, loaded. What is too large for the service goes in smaller pieces. */
export async function ingest(ingestContext: IngestContext, planned: PlannedRequest): Promise<IngestResult> {
  const { fetcher, loading, sizes, tell } = ingestContext
  const pieces = piecesOf(planned, await sizes.get(planned))
  if (pieces.length > 1) return ingestPieces(ingestContext, planned, pieces)
  const halves = piecesOf(planned, halfOf(planned))
  const onRetry: OnRetry = ({ error, answer }, attempt) =>
    tell('request.retried', {
      ...eventRequest(planned),
      ...{ attempt, status: answer?.status ?? null, code: error.code, reason: error.message },
    })
  const reply = await fetcher.fetch(planned.request, halves.length > 1, onRetry, async (error, sent) => {
    // Where nothing can be written any more, why the run ends is what is told.
    await loadUnanswered(loading, planned, 'stopped', error, sent).catch(() => undefined)
  })
  const failed = async (
    error: SyncError,
    last: Reply,
    rejected?: Pick<Rows, 'rejects' | 'rejected'>,
  ): Promise<IngestResult> => {
    const counts = await loadFailure(loading, planned, error, last, rejected)
    const { code, message: reason, hint = null } = error
    const rows = eventRows(counts)
    tell('request.failed', { ...eventRequest(planned), ...eventReply(last), rows, code, reason, hint })
    return { ...NOTHING_INGESTED, counts, error }
  }
  const divided = async (error: SyncError, last: Reply): Promise<IngestResult> => {
    const counts = await loadUnanswered(loading, planned, 'too-large', error, last)
    await sizes.shrink(planned)
    const { code, message: reason } = error
    tell('request.divided', { ...eventRequest(planned), ...eventReply(last), pieces: halves.length, code, reason })
    const all = await ingestPieces(ingestContext, planned, halves)
    return { ...all, counts: addCounts(counts, all.counts) }
  }
  if ('error' in reply)
    return isTooLarge(reply.error) && halves.length > 1
      ? divided(reply.error, reply.reply)
      : failed(reply.error, reply.reply)
  try {
    const said = await read(reply.body, planned, loading.keep !== 'none')
    const { rows } = said
    if (ingestContext.rejects.onReject === 'fail') {
      const { kysely } = loading.store
      const seriesId = (planned.series && (await findSeries(kysely, identityRow(planned.series)))?.id) ?? null
      const told = await undismissed(kysely, { seriesId, target: planned.request.target }, rows)
      const [reject] = told.rejects
      if (reject) return await failed(new SchemaError(reject.reason, { path: reject.path }), reply, rows)
    }
    const believe = async (): Promise<IngestResult> => {
      const counts = await load(loading, planned, reply, said)
      tellDone(ingestContext, planned, reply, counts, true)
      await sizes.grow(planned, reply.ms)
      const kind = rows.observations?.at.length ? kindOf(rows) : null
      return { counts, error: null, first: kind, last: kind }
    }
    const doubted: DoubtedReply = { planned, reply, said, believe }
    const around = await neighboursOf(loading.store, planned)
    const dayIds = isUnknown(planned, rows) ? await dayIdsOf(loading.store, planned) : []
    switch (judge(planned, rows, around, dayIds)) {
      case 'native':
        return await believe()
      case 'unsure':
        return await carryUnsure(ingestContext, doubted, ingest)
      case 'sums':
        return await carrySums(ingestContext, doubted, ingest)
    }
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error
    return isTooLarge(error) && halves.length > 1 ? await divided(error, reply) : await failed(error, reply)
  } finally {
    release(reply.body)
  }
}

/** Carries the pieces of an ask one after the other. */
async function ingestPieces(
  ingestContext: IngestContext,
  planned: PlannedRequest,
  pieces: readonly Interval[],
): Promise<IngestResult> {
  let all: IngestResult | null = null
  for (const piece of pieces) {
    const carried = await ingest(ingestContext, within(ingestContext.service, planned, piece))
    all = all ? joined(all, carried) : carried
    // A key that was refused once is not sent again.
    if (carried.error instanceof KeyError) break
  }
  return all ?? NOTHING_INGESTED
}
