import type { Duration, SeriesEntry } from '../job/job.ts'
import type { Service } from '../service/service.ts'
import type { Size } from '../service/windowSizes.ts'
import { DAY } from '../util/time/instant.ts'
import { addUnits } from '../util/time/zone.ts'
import { sentGeos } from './entries.ts'
import type { SeriesState } from './plannerState.ts'

/** Converts a duration of a job file to a window size of at least a day. */
export function toSize({ count, unit }: Duration): Size {
  if (unit === 'week') return { unit: 'day', count: count * 7 }
  if (unit === 'day' || unit === 'month' || unit === 'year') return { unit, count }
  return { unit: 'day', count: 1 }
}

export const smaller = (a: Size, b: Size): Size =>
  addUnits('Etc/UTC', 0, a.unit, a.count) <= addUnits('Etc/UTC', 0, b.unit, b.count) ? a : b

/** The first window size of a series. `geos`: the number of requested geos; null if it is not known. */
function firstSize(
  { windows: { byGeos, unknownGeos, grouped }, routes }: Service,
  route: string,
  timeTrunc: string | null,
  geos: number | null,
): Size {
  const declared = routes[route]?.window ?? (timeTrunc === null ? undefined : grouped[timeTrunc])
  if (declared) return declared
  return geos === null ? unknownGeos : (byGeos.find(({ upTo }) => upTo === null || geos <= upTo)?.size ?? unknownGeos)
}

/** The window size for some geos: from the job, else the learned one, else the service's first size. */
export function chooseSize(
  service: Service,
  entry: SeriesEntry,
  { windowS, timelines }: SeriesState,
  geoIds: readonly number[],
): Size {
  if (entry.chunk) return toSize(entry.chunk)
  const first = firstSize(
    service,
    entry.route,
    entry.timeTrunc,
    sentGeos(entry, geoIds).length || timelines.length || null,
  )
  return windowS === null ? first : { unit: 'day', count: Math.max(1, Math.floor(windowS / DAY)) }
}
