import { grouped, quantity } from '../../base/quantity.ts'
import type { Machines } from '../../checks/machines.ts'
import { SILENT_MS } from '../../db/queries/workers.ts'

/** The workers and their queues as lines of `status`; none where there are neither. */
export function machinesText({ workers, queues, now }: Machines): string[] {
  const lines = queues.map(
    ({ host, queued, active, dead }) =>
      `queue of ${host}: ${quantity(queued, 'request waits', 'requests wait')}, ${grouped(active)} under way` +
      (dead === 0 ? '' : `, ${grouped(dead)} failed too often: a sync plans them again`),
  )
  for (const { machine, pid, host, claims, done, draining, holding, seenAt } of workers) {
    const silent = Math.round((now - seenAt) / 1000)
    lines.push(
      `worker ${machine} ${pid} for ${host}: ${grouped(claims)} under way, ${grouped(done)} done` +
        (draining ? ', takes no more' : '') +
        (holding === null ? '' : `, waits: ${holding}`) +
        (silent * 1000 > SILENT_MS ? `, silent for ${grouped(silent)} s` : ''),
    )
  }
  return lines
}
