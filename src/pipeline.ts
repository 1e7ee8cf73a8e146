import type { EmitEvent } from './base/events.ts'
import { forEachConcurrently } from './base/lists.ts'
import { redactorOf } from './base/redact.ts'
import { accountCalls, type ServiceCaller } from './calls/account.ts'
import { createFetcher, type FetchOptions } from './fetch/fetch.ts'
import type { CheckLease, OpenTurns } from './fetch/turns.ts'
import { ingest } from './ingest.ts'
import {
  type IngestContext,
  type IngestResult,
  mergeResults,
  NOTHING_INGESTED,
  type RejectPolicy,
} from './ingestContext.ts'
import type { Job } from './job/job.ts'
import type { PlannedRequest } from './job/plannedRequest.ts'
import { createSizes } from './load/learnedSizes.ts'
import type { Loading } from './load/load.ts'

/** What is needed to fetch, transform and load. */
export interface PipelineOptions
  extends ServiceCaller,
    Pick<FetchOptions, 'key' | 'onFailure' | 'breaker' | 'limits' | 'retryMs'> {
  /** Decides when a call may begin, together with others; this process by itself when left out. */
  readonly turns?: OpenTurns | undefined
  /** Leaves out what other processes request at the same time or have loaded since it was planned; nothing when left out. */
  readonly leased?: Leased | undefined
  readonly version: string
  readonly job: Job
  readonly runId: number
  readonly onReject: RejectPolicy['onReject']
  readonly emit: EmitEvent
}

/**
 * Does the work for what is left of a request, while no other process requests any part of it; where that is not sure any more
 * (`checkLease` throws), does it again for what is left then.
 */
export type Leased = <T>(
  planned: PlannedRequest,
  work: (left: readonly PlannedRequest[], checkLease?: CheckLease) => Promise<T>,
) => Promise<T>

/** Fetches, transforms and loads planned requests concurrently. */
export interface Pipeline {
  /** Ingests planned requests as they come and calls `done` with the result of each. Throws the first error that ends the run. */
  ingestEach(
    requests: Iterable<PlannedRequest>,
    wanted: (planned: PlannedRequest) => boolean,
    done: (planned: PlannedRequest, result: IngestResult) => Promise<void>,
  ): Promise<void>
  close(): Promise<void>
}

/** Opens the pipeline of a run. This module is loaded only when there is something to fetch. */
export async function openPipeline(options: PipelineOptions): Promise<Pipeline> {
  const { store, job, runId, now, signal, onReject, emit } = options
  const fetcher = createFetcher({
    ...options,
    pace: job.pace,
    turns: options.turns?.(job.pace, options.onPause),
    ...(await accountCalls(options, options.turns ? null : job.pace)),
  })
  const loading: Loading = { store, runId, keep: job.keep, now, redactor: redactorOf(options.key) }
  const context: IngestContext = {
    fetcher,
    loading,
    onReject,
    emit,
    sizes: createSizes(loading),
    samples: new Map(),
  }
  const ingestLeft = async (left: readonly PlannedRequest[], checkLease?: CheckLease): Promise<IngestResult> => {
    let all: IngestResult | undefined
    for (const one of left) {
      const result = await ingest({ ...context, checkLease }, one)
      all = all ? mergeResults(all, result) : result
    }
    return all ?? NOTHING_INGESTED
  }
  const { leased = (planned, work) => work([planned]) } = options
  return {
    ingestEach: (requests, wanted, done) =>
      forEachConcurrently(requests, job.pace.concurrency, signal, async (planned) => {
        if (wanted(planned)) await done(planned, await leased(planned, ingestLeft))
      }),
    close: () => fetcher.close(),
  }
}
