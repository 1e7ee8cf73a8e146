import { grouped, quantity } from '../../base/quantity.ts'
import type { Machines } from '../../cluster/machines.ts'

/** A worker of which nothing was heard for so many milliseconds is told to be silent. */
const SILENT_MS = 15_000

/** The workers and their queues as lines of `status`; none where there are neither. */
export function machinesText({ workers, queues, now }: Machines): string[] {
  const lines = queues.map(
    ({ host, queued, active, dead }) =>
      `queue of ${host}: ${quantity(queued, 'request waits', 'requests wait')}, ${grouped(active)} in hand` +
      (dead === 0 ? '' : `, ${grouped(dead)} failed too often: a sync plans them again`),
  )
  for (const { machine, pid, host, claims, done, draining, holding, seenAt } of workers) {
    const silent = Math.round((now - seenAt) / 1000)
    lines.push(
      `worker ${machine} ${pid} for ${host}: ${grouped(claims)} in hand, ${grouped(done)} done` +
        (draining ? ', takes no more' : '') +
        (holding === null ? '' : `, waits: ${holding}`) +
        (silent * 1000 > SILENT_MS ? `, silent for ${grouped(silent)} s` : ''),
    )
  }
  return lines
}

/** The same as figures for monitors. */
export function machinesMetrics({ workers, queues, now }: Machines): string {
  const alive = workers.filter(({ seenAt }) => now - seenAt <= SILENT_MS).length
  const lines = [
    '# HELP indicator_sync_workers Processes that take requests from the queue and were heard of within 15 s.',
    '# TYPE indicator_sync_workers gauge',
    `indicator_sync_workers ${alive}`,
    '# HELP indicator_sync_queue_requests Requests in the queue of a host: they wait, are in hand, or failed too often.',
    '# TYPE indicator_sync_queue_requests gauge',
  ]
  for (const { host, ...states } of queues)
    for (const state of ['queued', 'active', 'dead'] as const)
      lines.push(`indicator_sync_queue_requests{host="${host}",state="${state}"} ${states[state]}`)
  return lines.join('\n')
}
