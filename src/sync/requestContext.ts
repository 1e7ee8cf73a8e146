import { openClient } from '../fetch/client.ts'
import { createHostOpener, recordPause } from '../fetch/hosts.ts'
import { openPacer, type Pacer } from '../fetch/pacer.ts'
import type { Job } from '../job/job.ts'
import { createSizes } from '../load/learnedSizes.ts'
import { createRedactor } from '../util/redact.ts'
import type { SyncContext } from './context.ts'
import type { RequestContext } from './processRequest.ts'
import type { RunRecord } from './record.ts'

export { execute } from './execute.ts'

/** A run with an open client. */
export interface Fetching {
  readonly context: RequestContext
  close(): Promise<void>
}

/** Opens the client of a run. This module is loaded only if there is something to fetch, so that other runs start sooner. */
export async function openFetching(
  context: SyncContext,
  { pace, keep }: Pick<Job, 'pace' | 'keep'>,
  { runId, emit }: Pick<RunRecord, 'runId' | 'emit'>,
): Promise<Fetching> {
  const { store, now, signal, onReject = 'quarantine' } = context
  const onPause = (ms: number, reason: string): void => {
    emit('calls.paused', { wait_ms: Math.round(ms), reason })
    context.onPause?.(ms, reason)
  }
  const caller = { ...context, onPause, emit }
  const shared = context.shared?.openPacer(pace, onPause)
  const pacer = shared ? openingHosts(shared, createHostOpener(caller)) : await openPacer(caller, pace)
  const client = openClient({
    ...context,
    pacer,
    concurrency: pace.concurrency,
    onPause,
    // If the database cannot be written, the next transaction ends the run.
    onWait: (ms, host, isOutage) => void recordPause(store, host, { ms, isOutage }, now()).catch(() => undefined),
  })
  const loading = { store, runId, keep, now, redactor: createRedactor(context.key) }
  return {
    context: {
      ...loading,
      client,
      emit,
      signal,
      concurrency: pace.concurrency,
      onReject,
      sizes: createSizes(loading),
      probed: new Set(),
    },
    async close() {
      pacer.close?.()
      await client.close()
    },
  }
}

/** A shared pacer that also checks each host before its first call. */
const openingHosts = (pacer: Pacer, openHost: (host: string, protocol?: string) => Promise<void>): Pacer => ({
  ...pacer,
  async take(host, signal, protocol) {
    await openHost(host, protocol)
    await pacer.take(host, signal)
  },
})
