import type { Observations } from '../../db/tables/rows.ts'
import type { Instant } from '../../util/time/instant.ts'
import type { Interval } from '../../util/time/interval.ts'
import { localClock } from '../../util/time/zone.ts'
import { collectRejects, type RejectSummary, type Rejects } from '../rejects.ts'

/* The rules for the values of a reply, whether they are read from parsed JSON or from bytes. */

/** The instants and values of a geo, in the order of the reply. */
interface GeoColumns {
  readonly at: number[]
  readonly values: (number | null)[]
  isAscending: boolean
}

/** The `values` of a reply, before the step is known. */
export interface ParsedValues extends RejectSummary {
  readonly observations: Omit<Observations, 'steps'>
  /** The number of rows, including rejected and skipped ones. */
  readonly rows: number
  readonly outside: number
  /** The number of rejected rows whose instant cannot be that of a value. */
  readonly misplaced: number
  /** The names of the geos. */
  readonly geoNames: ReadonlyMap<number, string>
}

/** Which values of a reply are legal. */
export interface ValueRules {
  /** The requested window; null for a reply about one instant. */
  readonly window: Interval | null
  /** The path of the values in the reply. */
  readonly path: string
  /** The time zone of the service. */
  readonly zone: string
  /** Why the instant of a row cannot be that of a value; undefined if it can. */
  readonly findFault?: ((at: Instant) => string | undefined) | undefined
}

/** Collects the values of a reply. */
export interface ValueCollector {
  readonly rejects: Rejects
  /** Adds a value, or counts it if it is outside the window or its instant is at fault. Returns the fault. `name`: of the geo. */
  add(geoId: number, at: Instant, value: number | null, name: unknown): string | undefined
  /**
   * Returns each value once, by geo and instant. Of two rows for an instant the later one is used, and a different earlier one is
   * rejected.
   */
  join(): Pick<ParsedValues, 'observations' | 'outside' | 'misplaced' | 'geoNames'>
}

/**
 * Whether a row has the fault of the service on the day of 25 hours: in the second of two equal local hours, `datetime_utc` repeats
 * the time of the first.
 */
export const repeatsFirstHour = (zone: string, datetime: Instant, utc: Instant): boolean =>
  utc < datetime && localClock(zone, utc) === localClock(zone, datetime)

export function createCollector({ window, path, findFault }: ValueRules): ValueCollector {
  const columns = new Map<number, GeoColumns>()
  const geoNames = new Map<number, string>()
  const rejects = collectRejects()
  const { from, to } = window ?? { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY }
  let outside = 0
  let misplaced = 0
  return {
    rejects,
    add(geoId, at, value, name) {
      const fault = findFault?.(at)
      if (fault !== undefined) {
        misplaced++
        return fault
      }
      if (at < from || at >= to) {
        outside++
        return undefined
      }
      const column = columns.get(geoId)
      if (column) {
        if (column.at.at(-1)! >= at) column.isAscending = false
        column.at.push(at)
        column.values.push(value)
      } else {
        columns.set(geoId, { at: [at], values: [value], isAscending: true })
        if (typeof name === 'string' && name !== '') geoNames.set(geoId, name)
      }
      return undefined
    },
    join: () => ({ observations: joinColumns(columns, rejects, path), outside, misplaced, geoNames }),
  }
}

/** Joins the columns of all geos, each in order of time and without duplicates. */
function joinColumns(
  columns: ReadonlyMap<number, GeoColumns>,
  rejects: Rejects,
  path: string,
): ParsedValues['observations'] {
  const geoIds: number[] = []
  const at: number[] = []
  const values: (number | null)[] = []
  for (const geoId of [...columns.keys()].sort((a, b) => a - b)) {
    const column = columns.get(geoId)!
    const { at: times, values: numbers } = column.isAscending ? column : sorted(column, geoId, rejects, path)
    for (let i = 0; i < times.length; i++) {
      geoIds.push(geoId)
      at.push(times[i]!)
      values.push(numbers[i]!)
    }
  }
  return { geoIds, at, values }
}

function sorted(column: GeoColumns, geoId: number, rejects: Rejects, path: string): Pick<GeoColumns, 'at' | 'values'> {
  const order = column.at.map((_, i) => i).sort((a, b) => column.at[a]! - column.at[b]! || a - b)
  const at: number[] = []
  const values: (number | null)[] = []
  for (const i of order) {
    const time = column.at[i]!
    const value = column.values[i]!
    const last = at.length - 1
    if (at[last] !== time) {
      at.push(time)
      values.push(value)
    } else if (values[last] !== value) {
      rejects.add(
        path,
        'duplicate geo and instant with different values; the later value is used',
        { geo_id: geoId, at: time, value: values[last] },
        { geoId, at: time },
      )
      values[last] = value
    }
  }
  return { at, values }
}
