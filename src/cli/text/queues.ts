import type { QueueState } from '../../db/queries/queues.ts'
import { grouped, quantity } from '../../util/text.ts'

/** The queues of a database as lines of `status`. */
export const queuesText = (queues: readonly QueueState[]): string[] =>
  queues.map(
    ({ host, queued, active, dead }) =>
      `queue of ${host}: ${quantity(queued, 'request waits', 'requests wait')}, ${grouped(active)} in progress` +
      (dead === 0
        ? ''
        : `, ${grouped(dead)} given up; \`sync --distributed\` queues ${dead === 1 ? 'it' : 'them'} again`),
  )
