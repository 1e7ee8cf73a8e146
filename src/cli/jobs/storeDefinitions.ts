import type { Job } from '../../job/job.ts'
import type { Service } from '../../service/service.ts'
import { storeDefinition } from '../../sync/sync.ts'
import { withWriter } from '../settings/databases.ts'
import { findJobSource } from './jobSource.ts'

/** Stores the definitions of jobs that wait for their time: what they require is missing until they run. */
export const storeDefinitions = (jobs: readonly Job[], file: string, service: Service): Promise<void> =>
  withWriter(file, 'schedule', async (store) => {
    for (const job of jobs)
      await storeDefinition({ store, service, nowMs: Date.now }, { job, source: findJobSource(job) })
  })
