import type { Unit } from '../util/time/zone.ts'

/** The size of a window: a number of local units. */
export interface Size {
  readonly unit: Unit
  readonly count: number
}

/** How much is requested at once before anything was learned. */
export interface Windows {
  /** By the number of geos that the request is about; the last row holds for any number. */
  readonly byGeos: readonly { readonly upTo: number | null; readonly size: Size }[]
  /** Where the number of geos is not known. */
  readonly unknownGeos: Size
  /** For series that the service groups, by their step. */
  readonly grouped: Readonly<Record<string, Size>>
}

/** Source: the operator's service times out beyond about three weeks of forty geos and answers six months of a few. */
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
