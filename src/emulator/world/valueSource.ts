import type { Instant } from '../../util/time/instant.ts'
import { changesWithin, mostPoints, type Point, points, stepAt, updatedAt } from './generatedValues.ts'
import { type Indicator, PRICE_MAGNITUDE } from './indicators.ts'
import type { World } from './world.ts'

/** The names of a resolution and its id. */
export type Tiempo = readonly [es: string, en: string, id: number]

/** Resolutions of a fixed length, by their seconds. */
export const NATIVE_STEPS: Readonly<Record<number, Tiempo>> = {
  300: ['Cinco minutos', 'Five minutes', 222],
  600: ['Diez minutos', 'Ten minutes', 219],
  900: ['Quince minutos', 'Fifteen minutes', 218],
  3600: ['Hora', 'Hour', 4],
}

/** A source of the values of a series. */
export interface ValueSource {
  readonly about: Pick<Indicator, 'id' | 'es' | 'en' | 'short' | 'magnitude' | 'isComposited'>
  readonly geos: readonly number[]
  /** The largest possible number of instants with values within [from, to). */
  most(from: Instant, to: Instant): number
  /** The values within [from, to) for some geos, by instant, then geo. */
  points(geos: readonly number[], from: Instant, to: Instant): readonly Point[]
  /** The native resolution at an instant, for a response with these values. */
  nativeAt(at: Instant, values: readonly Point[]): Tiempo
  /** Whether the resolution changes between the values of [from, to). */
  changes(from: Instant, to: Instant, values: readonly Point[]): boolean
  /** When the service last updated any of these values. */
  updated(values: readonly Point[]): Instant
  /** The start of the period that contains an instant. */
  floor(at: Instant): Instant
}

/** Between the recorded responses of 2022 and 2025, the magnitude of prices was renamed; its id stayed. */
const PRICES_RENAMED = Date.UTC(2025, 0, 1) / 1000

const magnitudeAt = ({ magnitude }: Indicator, now: Instant): Indicator['magnitude'] =>
  magnitude[0] === PRICE_MAGNITUDE[0] && now < PRICES_RENAMED ? [PRICE_MAGNITUDE[0], 'Precio'] : magnitude

/** The source of an indicator of the demo. */
export const worldSource = (indicator: Indicator, world: World): ValueSource => ({
  about: { ...indicator, magnitude: magnitudeAt(indicator, world.now) },
  geos: indicator.geos,
  most: (from, to) => mostPoints(indicator, from, to, world),
  points: (geos, from, to) => points(indicator, geos, from, to, world),
  nativeAt: (at) => NATIVE_STEPS[stepAt(indicator, at, world)]!,
  changes: (from, to) => changesWithin(indicator, from, to, world),
  updated: (values) => updatedAt(indicator, values[0]!.at, values.at(-1)!.at, world),
  floor: (at) => at - (at % stepAt(indicator, at, world)),
})
