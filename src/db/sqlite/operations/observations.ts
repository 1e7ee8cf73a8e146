import type { Interval } from '../../../util/time/interval.ts'
import type { UpsertResult } from '../../engine.ts'
import { type GeoRange, geoRanges, type Observations } from '../../tables/rows.ts'
import type { Prepare } from '../connection.ts'

/*
 * The hot path (docs/decisions/006-speed.md). It runs synchronously inside the open transaction.
 */

/** A week of hours. */
const ROWS_PER_STATEMENT = 168

/**
 * The upsert of values of one geo with the same step. Equal values write nothing. Common values are bound once, also the instants
 * of consecutive periods. They are repeated in each row, because a join would first copy the rows into a temporary table.
 */
const upsertText = (rows: number, hasStep: boolean, isEven: boolean): string =>
  `insert into observation (series_id, geo_id, at, value, step_s, fetch_id)
   values ${Array.from({ length: rows }, (_, i) => `(:series, :geo, ${isEven ? `:from + ${i} * :step` : '?'}, ?, :step, :fetch)`)}
   on conflict (series_id, geo_id, at) do update
   set value = excluded.value${hasStep ? ', step_s = excluded.step_s' : ''}, fetch_id = excluded.fetch_id
   where observation.value is not excluded.value`
/** The upserts by number of rows, built on demand. */
function upserts(hasStep: boolean, isEven: boolean): (rows: number) => string {
  const built: string[] = []
  return (rows) => (built[rows] ??= upsertText(rows, hasStep, isEven))
}
/** Guessed steps do not replace stored ones. */
const STATED = { even: upserts(true, true), other: upserts(true, false) }
const GUESSED = { even: upserts(false, true), other: upserts(false, false) }

/** Whether the periods are consecutive. */
function areConsecutive(at: readonly number[], first: number, end: number, step: number): boolean {
  for (let i = first + 1; i < end; i++) if (at[i]! - at[i - 1]! !== step) return false
  return true
}

/** The number of versions of a geo between two instants, inclusive, that a fetch superseded. */
const countSuperseded = (prepare: Prepare, fetchId: number, range: readonly number[]): number =>
  (
    prepare(`select count(*) as n from observation_revision
      where series_id = ? and geo_id = ? and at between ? and ? and superseded_by = ?`).get([...range, fetchId]) as {
      n: number
    }
  ).n

/** The values of a geo in a reply, and the first and last instant of its range. */
interface GeoRows extends GeoRange {
  readonly from: number
  readonly to: number
}

const rowsByGeo = (observations: Observations, window: Interval | null): GeoRows[] =>
  geoRanges(observations).map((range) => {
    const [from, to] = window
      ? [window.from, window.to - 1]
      : [observations.at[range.first]!, observations.at[range.end - 1]!]
    return { ...range, from, to }
  })

/** A statement takes as long as some days of values. */
const GEOS_PER_COUNT = 32

/** The statements that count values, by number of geos. */
const COUNT_STATEMENTS = Array.from({ length: GEOS_PER_COUNT + 1 }, (_, geos) => {
  const stored = `(select count(*) from observation where series_id = :series and geo_id = ? and at between ? and ?)`
  return `select ${Array.from({ length: geos }, (_, i) => `${stored} as n${i}`)}`
})

/** Counts the stored values of each geo in its range. */
function countStored(prepare: Prepare, seriesId: number, geos: readonly GeoRows[]): number[] {
  const counts: number[] = []
  for (let first = 0; first < geos.length; first += GEOS_PER_COUNT) {
    const counted = geos.slice(first, first + GEOS_PER_COUNT)
    const parameters = counted.flatMap(({ geoId, from, to }) => [geoId, from, to])
    const row = prepare(COUNT_STATEMENTS[counted.length]!).get(parameters, { series: seriesId }) as Readonly<
      Record<string, number>
    >
    for (const i of counted.keys()) counts.push(row[`n${i}`]!)
  }
  return counts
}

/** Writes values. A trigger moves old versions of changed values to the history. */
export function upsertObservations(
  prepare: Prepare,
  seriesId: number,
  fetchId: number,
  window: Interval | null,
  observations: Observations,
): UpsertResult {
  const { at, values, steps } = observations
  const upsert = observations.isStepGuessed ? GUESSED : STATED
  const stepAt = (i: number): number => (typeof steps === 'number' ? steps : steps[i]!)
  const incompleteGeos = new Set<number>()
  let changed = 0
  let revised = 0
  const geos = rowsByGeo(observations, window)
  const counts = countStored(prepare, seriesId, geos)
  for (const [n, { geoId, first, end, from, to }] of geos.entries()) {
    const stored = counts[n]!
    let written = 0
    for (let i = first; i < end; ) {
      const step = stepAt(i)
      let batchEnd = i
      while (batchEnd < end && batchEnd - i < ROWS_PER_STATEMENT && stepAt(batchEnd) === step) batchEnd++
      const common = { series: seriesId, geo: geoId, step, fetch: fetchId }
      if (areConsecutive(at, i, batchEnd, step))
        written += prepare(upsert.even(batchEnd - i)).run(...values.slice(i, batchEnd), {
          ...common,
          from: at[i],
        }).changes
      else {
        const pairs = Array.from({ length: batchEnd - i }, (_, k) => [at[i + k], values[i + k]]).flat()
        written += prepare(upsert.other(batchEnd - i)).run(...pairs, common).changes
      }
      i = batchEnd
    }
    // Counted in the history, because the number of changes of the connection includes the search index.
    const superseded = stored > 0 && written > 0 ? countSuperseded(prepare, fetchId, [seriesId, geoId, from, to]) : 0
    // Values of the reply that it did not insert were stored before. If more were stored, the reply lacks the others.
    if (stored > end - first - (written - superseded)) incompleteGeos.add(geoId)
    changed += written
    revised += superseded
  }
  return { inserted: changed - revised, unchanged: at.length - changed, revised, incompleteGeos }
}
