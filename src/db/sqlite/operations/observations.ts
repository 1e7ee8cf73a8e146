import type { Interval } from '../../../util/time/interval.ts'
import type { Upserted } from '../../engine.ts'
import { type GeoRange, geoRanges, type Observations } from '../../tables/rows.ts'
import type { Prepare } from '../connection.ts'

/*
 * The hot path, in statements of its own: no other way to write values was as fast (docs/decisions/006-speed.md). It runs
 * inside the transaction that is open on the connection, from its beginning to its end without letting anybody else in.
 */

const countWithin = (prepare: Prepare, sql: string, parameters: readonly unknown[]): number =>
  (prepare(sql).get(parameters) as { n: number }).n

/** Rows a statement: a week of hours. */
const ROWS_PER_STATEMENT = 168

/**
 * The upsert of a number of values of one geo that last equally long: null-safe and guarded, so that an equal value writes
 * nothing. What they share is bound once, and so are their instants, where each begins when the one before it ends. Every row
 * names it again: a list of rows that is joined with what they share would first be copied into a table of its own.
 */
const upsertText = (rows: number, withStep: boolean, even: boolean): string =>
  `insert into observation (series_id, geo_id, at, value, step_s, fetch_id)
   values ${Array.from({ length: rows }, (_, i) => `(:series, :geo, ${even ? `:from + ${i} * :step` : '?'}, ?, :step, :fetch)`)}
   on conflict (series_id, geo_id, at) do update
   set value = excluded.value${withStep ? ', step_s = excluded.step_s' : ''}, fetch_id = excluded.fetch_id
   where observation.value is not excluded.value${withStep ? ' or observation.step_s is not excluded.step_s' : ''}`
/** The upserts by number of rows, each built when it is first needed. */
function upserts(withStep: boolean, even: boolean): (rows: number) => string {
  const built: string[] = []
  return (rows) => (built[rows] ??= upsertText(rows, withStep, even))
}
/** A length that is only guessed does not replace the stored one. */
const STATED = { even: upserts(true, true), other: upserts(true, false) }
const GUESSED = { even: upserts(false, true), other: upserts(false, false) }

/** Whether each value begins when the one before it ends. */
function isEven(at: readonly number[], first: number, end: number, step: number): boolean {
  for (let i = first + 1; i < end; i++) if (at[i]! - at[i - 1]! !== step) return false
  return true
}

/** How many versions of values of a geo between two instants, both included, a fetch has superseded. */
const supersededBy = (prepare: Prepare, fetchId: number, where: readonly number[]): number =>
  countWithin(
    prepare,
    `select count(*) as n from observation_revision
     where series_id = ? and geo_id = ? and at between ? and ? and superseded_by = ?`,
    [...where, fetchId],
  )

/** The values of one geo in an answer, and the instants between which nothing else may be stored, both included. */
interface GeoRows extends GeoRange {
  readonly from: number
  readonly to: number
}

const rowsByGeo = (rows: Observations, window: Interval | null): GeoRows[] =>
  geoRanges(rows).map((range) => {
    const [from, to] = window ? [window.from, window.to - 1] : [rows.at[range.first]!, rows.at[range.end - 1]!]
    return { ...range, from, to }
  })

/** Geos that are counted in one statement: a statement costs as much as some days of values. */
const GEOS_PER_COUNT = 32

/** The statements that count the values of a number of geos. */
const COUNT_STATEMENTS = Array.from({ length: GEOS_PER_COUNT + 1 }, (_, geos) => {
  const stored = `(select count(*) from observation where series_id = :series and geo_id = ? and at between ? and ?)`
  return `select ${Array.from({ length: geos }, (_, i) => `${stored} as n${i}`)}`
})

/** How many values of each of some geos are stored between their instants. */
function countHeld(prepare: Prepare, seriesId: number, geos: readonly GeoRows[]): number[] {
  const counts: number[] = []
  for (let first = 0; first < geos.length; first += GEOS_PER_COUNT) {
    const some = geos.slice(first, first + GEOS_PER_COUNT)
    const parameters = some.flatMap(({ geoId, from, to }) => [geoId, from, to])
    const row = prepare(COUNT_STATEMENTS[some.length]!).get(parameters, { series: seriesId }) as Readonly<
      Record<string, number>
    >
    for (const i of some.keys()) counts.push(row[`n${i}`]!)
  }
  return counts
}

/**
 * Writes values with statements prepared once; a changed value's old version goes to the history by a trigger. The values
 * of a geo stand together, lie in the window, and none is there twice.
 */
export function upsertObservations(
  prepare: Prepare,
  seriesId: number,
  fetchId: number,
  window: Interval | null,
  rows: Observations,
): Upserted {
  const { at, values, steps } = rows
  const upsert = rows.guessed ? GUESSED : STATED
  const stepOf = (i: number): number => (typeof steps === 'number' ? steps : steps[i]!)
  const surplus = new Set<number>()
  let changed = 0
  let revised = 0
  const geos = rowsByGeo(rows, window)
  const counts = countHeld(prepare, seriesId, geos)
  for (const [n, { geoId, first, end: last, from, to }] of geos.entries()) {
    const stored = counts[n]!
    let written = 0
    for (let i = first; i < last; ) {
      const step = stepOf(i)
      let end = i
      while (end < last && end - i < ROWS_PER_STATEMENT && stepOf(end) === step) end++
      const common = { series: seriesId, geo: geoId, step, fetch: fetchId }
      if (isEven(at, i, end, step))
        written += prepare(upsert.even(end - i)).run(...values.slice(i, end), { ...common, from: at[i] }).changes
      else {
        const pairs = Array.from({ length: end - i }, (_, k) => [at[i + k], values[i + k]]).flat()
        written += prepare(upsert.other(end - i)).run(...pairs, common).changes
      }
      i = end
    }
    // Counted in the history itself: the number of all changes of the connection includes the index of texts.
    const superseded = stored > 0 && written > 0 ? supersededBy(prepare, fetchId, [seriesId, geoId, from, to]) : 0
    if (stored > last - first - (written - superseded)) surplus.add(geoId)
    changed += written
    revised += superseded
  }
  return { fresh: changed - revised, unchanged: at.length - changed, revised, surplus }
}

/**
 * Moves to the history what is stored inside a window for some geos of a complete answer and is not in it: the service
 * withdrew it, or serves the window in another resolution now. Answers how many rows went.
 */
export function withdrawObservations(
  prepare: Prepare,
  seriesId: number,
  fetchId: number,
  { from, to }: Interval,
  { geoIds, at }: Observations,
  surplus: ReadonlySet<number>,
): number {
  let withdrawn = 0
  for (const geoId of surplus) {
    const first = geoIds.indexOf(geoId)
    const answered = JSON.stringify(at.slice(first, geoIds.lastIndexOf(geoId) + 1))
    const where = [seriesId, geoId, from, to - 1]
    const gone = `series_id = ? and geo_id = ? and at between ? and ? and at not in (select value from json_each(?))`
    prepare(
      `insert into observation_revision (series_id, geo_id, at, fetch_id, value, step_s, superseded_by)
       select series_id, geo_id, at, fetch_id, value, step_s, ? from observation where ${gone}`,
    ).run([fetchId, ...where, answered])
    withdrawn += prepare(`delete from observation where ${gone}`).run([...where, answered]).changes
  }
  return withdrawn
}
