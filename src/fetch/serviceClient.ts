import type { Pace } from '../job/job.ts'
import { type Client, type ClientOptions, openClient } from './client.ts'
import { createHostOpener, recordPause, type ServiceCaller } from './hosts.ts'
import { type OpenPacer, openPacer } from './pacer.ts'

/** A service to call at a pace; the calls and pauses are recorded in the database, for later runs and other processes. */
interface ServiceClientOptions
  extends ServiceCaller,
    Omit<ClientOptions, keyof ServiceCaller | 'pacer' | 'openHost' | 'onWait' | 'concurrency'> {
  readonly pace: Pace
  /** Opens the pacer of several processes. Default: that of this process. */
  readonly openPacer?: OpenPacer | undefined
}

/** Opens the client of a service that is recorded in the database. */
export async function openServiceClient(options: ServiceClientOptions): Promise<Client> {
  const { store, pace, nowMs, onPause } = options
  const pacer = options.openPacer?.(pace, onPause) ?? (await openPacer(options, pace, onPause))
  const client = openClient({
    ...options,
    pacer,
    openHost: createHostOpener(options),
    concurrency: pace.concurrency,
    // If the database cannot be written, the next transaction ends the run.
    onWait: (ms, host, isOutage) => void recordPause(store, host, { ms, isOutage }, nowMs()).catch(() => undefined),
  })
  return {
    ...client,
    async close() {
      pacer.close?.()
      await client.close()
    },
  }
}
