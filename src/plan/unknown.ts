import { EARLY_S, unknownNext } from '../job/again.ts'
import { isFuture } from '../util/time/instant.ts'
import type { Planning } from './planning.ts'

/** Whether an indicator or widget is not requested now because the service does not know it; calls `onSkipped` then. */
export function isSkipped(planning: Planning, entry: string, route: string, id: string | number): boolean {
  const { plannerState, now, options, onSkipped } = planning
  const unknown = options.restate ? undefined : plannerState.unknown(route, id)
  if (!unknown) return false
  const nextAt = unknownNext(unknown)
  if (now >= nextAt - EARLY_S || isFuture(unknown.lastAt, now)) return false
  onSkipped?.({ entry, route, id, since: unknown.sinceAt, nextAt })
  return true
}
