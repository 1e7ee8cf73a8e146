/* Compares values, with their steps and history, and the totals of days. */
import { oracleDays } from '../../load/dayOracle.ts'
import { SERVICE_ZONE } from '../calendar.ts'
import { periodsOf } from '../missing.ts'
import type { SeriesTruth, Version } from '../oracle.ts'
import { differ, type Scene, timeText } from '../scene.ts'
import type { StoredSeries } from './storedSeries.ts'

interface ValueRow {
  readonly geo: number
  readonly at: number
  readonly value: number
  readonly step: number
}

/** Whether a version was valid at an instant; null: now. */
const isValidAt = ({ from, to }: Version, then: number | null): boolean =>
  then === null ? to === null : from <= then && (to === null || to > then)

/** Compares the values of a series as of an instant; null: now. */
export function compareValues(
  { program, tally }: Scene,
  { id, key }: StoredSeries,
  truth: SeriesTruth,
  then: number | null,
): void {
  const rows = then === null ? readCurrent(program, id) : readAsOf(program, id, timeText(then))
  const what = then === null ? 'values' : `values as of ${timeText(then)}`
  const expected = [...truth.values.values()]
    .flatMap((values) => [...values.values()])
    .filter((versions) => versions.some((version) => isValidAt(version, then))).length
  if (rows.length !== expected)
    differ(`${what} of ${key}: how many`, expected, [rows.length, findFirstDifference(rows, truth, then)])
  // The steps of values with several steps are decided by the cadence of whole weeks.
  const geosOfOneStep = new Set([...truth.values.keys()].filter((geo) => periodsOf(truth, geo)?.isRegular))
  for (const { geo, at, value, step } of rows) {
    const version = truth.values
      .get(geo)
      ?.get(at)
      ?.find((one) => isValidAt(one, then))
    const place = `${what} of ${key}, geo ${geo}, ${timeText(at)}`
    if (version?.value !== value) differ(place, version ?? null, { value, step })
    if (then === null && geosOfOneStep.has(geo) && version.step !== step) differ(`${place}: step`, version.step, step)
  }
  tally.comparisons += rows.length * 2 + 1
}

const readCurrent = (program: Scene['program'], id: number): ValueRow[] =>
  program
    .store()
    .all('select geo_id as geo, at, value, step_s as step from observation where series_id = ?', [id]) as ValueRow[]

const readAsOf = (program: Scene['program'], id: number, then: string): ValueRow[] =>
  program.store().all(
    `select geo_id as geo, unixepoch(at_utc) as at, value, step_s as step from observation_history
     where series_id = ? and valid_from <= ? and (valid_to is null or valid_to > ?)`,
    [id, then, then],
  ) as ValueRow[]

/** Returns the first value that only one side has, for the message. */
function findFirstDifference(rows: readonly ValueRow[], truth: SeriesTruth, then: number | null): unknown {
  const stored = new Set(rows.map(({ geo, at }) => `${geo} ${at}`))
  for (const [geo, values] of truth.values)
    for (const [at, versions] of values) {
      const isInModel = versions.some((version) => isValidAt(version, then))
      if (isInModel !== stored.delete(`${geo} ${at}`)) return { geo, at: timeText(at), isInModel }
    }
  return [...stored][0]
}

/** Compares the daily totals with the values, each day separately. */
export function compareDays({ program, tally }: Scene, { id, key }: StoredSeries): void {
  const store = program.store()
  const totals = store.all('select * from _day where series_id = ? order by geo_id, month, day', [id]).map(roundedText)
  const expected = oracleDays(store, SERVICE_ZONE, id).map(roundedText)
  tally.comparisons += expected.length
  for (let i = 0; i < Math.max(totals.length, expected.length); i++)
    if (totals[i] !== expected[i]) differ(`days of ${key}`, expected[i], totals[i])
}

/** Formats a row without the last digits, which depend on the order of summation. */
const roundedText = (row: unknown): string =>
  JSON.stringify(row, (_, value) => (typeof value === 'number' ? Number(value.toPrecision(11)) : value))
