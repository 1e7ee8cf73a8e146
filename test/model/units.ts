/* Intervals, the units that requests are made of, and which requests cover them. */
import { border, DAY, HOUR, SERVICE_ZONE, type Unit } from './calendar.ts'
import type { SeriesRequest } from './service.ts'

/** A half-open interval in epoch seconds. */
export interface Interval {
  readonly from: number
  readonly to: number
}

/** Returns the unit on whose borders the windows of a series lie, by its aggregation over time. */
export const unitOf = (trunc: string | null): Unit => (trunc === 'month' || trunc === 'year' ? trunc : 'day')

/** Returns the local day of an instant. */
export const dayOf = (at: number): Interval => ({
  from: border(SERVICE_ZONE, at, 'day'),
  to: border(SERVICE_ZONE, at, 'day', 1),
})

/** Whether a step is a day or longer. */
export const isLong = (step: number | null): boolean => step !== null && step > DAY - 4 * HOUR

/** Whether an instant is in an interval. */
export const isWithin = (at: number, { from, to }: Interval): boolean => at >= from && at < to

/** Whether two intervals have an instant in common. */
export const overlaps = (a: Interval, b: Interval): boolean => a.from < b.to && a.to > b.from

/** Whether an interval contains another one. */
export const contains = (outer: Interval, inner: Interval): boolean => outer.from <= inner.from && outer.to >= inner.to

/** Whether a request included a geo; null: all of them. */
export const includesGeo = ({ geos }: SeriesRequest, geo: number | null): boolean =>
  geos === null || (geo !== null && geos.includes(geo))

/** Whether the window of a request contains a unit. */
export const covers = ({ window }: SeriesRequest, unit: Interval): boolean => window !== null && contains(window, unit)

/** Whether the window of a request has an instant of a unit. */
export const touches = ({ window }: SeriesRequest, unit: Interval): boolean => window !== null && overlaps(window, unit)

/** Whether a request is for a part of the window of another one. */
export const isPartOf = (part: SeriesRequest, whole: SeriesRequest): boolean =>
  part !== whole && part.key === whole.key && part.window !== null && covers(whole, part.window)
