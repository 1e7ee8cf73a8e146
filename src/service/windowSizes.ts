import type { Unit } from '../util/time/zone.ts'

/** The size of a window: a number of local units. */
export interface Size {
  readonly unit: Unit
  readonly count: number
}

/** The sizes of windows before the service has responded to larger ones. */
export interface Windows {
  /** The sizes by the number of requested geos. The last row has no limit. */
  readonly byGeos: readonly { readonly upTo: number | null; readonly size: Size }[]
  /** The size for an unknown number of geos. */
  readonly unknownGeos: Size
  /** The sizes for aggregated series, by step. */
  readonly grouped: Readonly<Record<string, Size>>
}

/** Source: the operator's service times out for more than three weeks of forty geos, and serves six months of a few. */
export const WINDOWS: Windows = {
  byGeos: [
    { upTo: 5, size: { unit: 'month', count: 6 } },
    { upTo: 20, size: { unit: 'month', count: 2 } },
    { upTo: null, size: { unit: 'day', count: 14 } },
  ],
  unknownGeos: { unit: 'month', count: 1 },
  grouped: {
    day: { unit: 'year', count: 2 },
    month: { unit: 'year', count: 20 },
    year: { unit: 'year', count: 20 },
  },
}
