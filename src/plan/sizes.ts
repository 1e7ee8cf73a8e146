import type { Span } from '../job/job.ts'
import type { Size } from './windows.ts'

/**
 * How much is asked at once before anything was learned, by the number of geos. Source: the operator's service times
 * out beyond about three weeks of forty geos and answers six months of a few; offers are asked by three days.
 */
const BY_GEOS: readonly { readonly upTo: number; readonly size: Size }[] = [
  { upTo: 5, size: { unit: 'month', count: 6 } },
  { upTo: 20, size: { unit: 'month', count: 2 } },
  { upTo: Number.POSITIVE_INFINITY, size: { unit: 'day', count: 14 } },
]
const UNKNOWN_GEOS: Size = { unit: 'month', count: 1 }
const OFFERS: Size = { unit: 'day', count: 3 }
const COARSE: Readonly<Record<string, Size>> = {
  day: { unit: 'year', count: 2 },
  month: { unit: 'year', count: 20 },
  year: { unit: 'year', count: 20 },
}

/** A span of a job file as a size; weeks become days, and nothing is smaller than a day. */
export function sizeOf({ count, unit }: Span): Size {
  if (unit === 'week') return { unit: 'day', count: count * 7 }
  if (unit === 'day' || unit === 'month' || unit === 'year') return { unit, count }
  return { unit: 'day', count: 1 }
}

/** The first size of a series' windows. `geos`: how many the request is about; null when nobody knows. */
export function firstSize(kind: string, timeTrunc: string | null, geos: number | null): Size {
  if (kind === 'offer_indicator') return OFFERS
  const coarse = timeTrunc === null ? undefined : COARSE[timeTrunc]
  if (coarse) return coarse
  return geos === null ? UNKNOWN_GEOS : BY_GEOS.find(({ upTo }) => geos <= upTo)!.size
}
