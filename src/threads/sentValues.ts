import { geoRanges } from '../tables/rows.ts'
import type { Scanned } from '../transform/values/scan.ts'
import type { Values } from '../transform/values/values.ts'

/** Values on their way between threads: arrays of numbers are handed over as they are, lists would be copied number by number. */
interface SentObservations {
  /** The geos in their order, each with the index after its last value. */
  readonly geos: readonly (readonly [geoId: number, end: number])[]
  readonly at: Float64Array<ArrayBuffer>
  /** NaN for a null. */
  readonly values: Float64Array<ArrayBuffer>
}

/** An answer with its values as they are sent. */
export interface SentScanned extends Pick<Scanned, 'rest'> {
  readonly values: Omit<Values, 'observations'> & { readonly observations: SentObservations }
}

/** Values as they are sent, and what is handed over with them. */
export function sentOf({ rest, values }: Scanned): { readonly sent: SentScanned; readonly transfer: ArrayBuffer[] } {
  const { observations } = values
  const { length } = observations.at
  const [at, numbers] = [new Float64Array(length), new Float64Array(length)]
  for (let i = 0; i < length; i++) {
    at[i] = observations.at[i]!
    numbers[i] = observations.values[i] ?? Number.NaN
  }
  const geos = geoRanges(observations).map(({ geoId, end }) => [geoId, end] as const)
  return {
    sent: { rest, values: { ...values, observations: { geos, at, values: numbers } } },
    transfer: [at.buffer, numbers.buffer],
  }
}

/** Values as they were before they were sent. */
export function receivedOf({ rest, values }: SentScanned): Scanned {
  const { geos, at: times, values: numbers } = values.observations
  const geoIds: number[] = []
  const at: number[] = []
  const own: (number | null)[] = []
  for (const [geoId, end] of geos)
    for (let i = geoIds.length; i < end; i++) {
      const value = numbers[i]!
      geoIds.push(geoId)
      at.push(times[i]!)
      own.push(Number.isNaN(value) ? null : value)
    }
  return { rest, values: { ...values, observations: { geoIds, at, values: own } } }
}
