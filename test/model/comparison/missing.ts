/* Compares the missing periods (M3–M5), and the gaps that list them. */
import { DAY, HOUR, unitsOf } from '../calendar.ts'
import { judgeState } from '../judgedState.ts'
import { longestStreak, type Periods, periodsOf } from '../missing.ts'
import { type SeriesTruth, storedValues } from '../oracle.ts'
import { hasEveryPeriod } from '../requests/published.ts'
import { differ, type Scene, timeText } from '../scene.ts'
import { dayOf, type Interval, isWithin } from '../units.ts'
import { entriesOf } from '../world.ts'
import type { Gap } from './gaps.ts'
import type { StoredSeries } from './storedSeries.ts'

/** A row of `_absent`. */
interface MissingRow extends Interval {
  readonly geo: number
  readonly step: number | null
}

/** The reasons of gaps in verified replies (M4). */
const MISSING_PERIODS: readonly string[] = ['absent', 'null', 'withdrawn']

/** Compares the missing periods of a series, and the gaps that list them. */
export function compareMissing(scene: Scene, series: StoredSeries, truth: SeriesTruth, gaps: readonly Gap[]): void {
  const { key, trunc } = series
  const rows = scene.program
    .store()
    .all('select geo_id as geo, from_at as "from", to_at as "to", step_s as step from _absent where series_id = ?', [
      series.id,
    ]) as MissingRow[]
  for (const row of rows) compareStored(key, truth, row)
  const dailyGeos = rows.filter(({ step }) => step === null).map(({ geo }) => geo)
  for (const geo of new Set(dailyGeos)) compareDaily(key, truth, geo)
  for (const gap of gaps) compareCount(key, gap)
  if (!hasEveryPeriod(scene, key, trunc)) return
  for (const geo of truth.values.keys()) {
    const periods = periodsOf(truth, geo)
    if (periods)
      compareTimeline(scene, key, truth, geo, {
        periods,
        rows: rows.filter((row) => row.geo === geo && row.step !== null),
        gaps: gaps.filter(({ geo_id, reason }) => geo_id === geo && MISSING_PERIODS.includes(reason)),
      })
  }
}

/** M3: expects no stored value to be missing. */
function compareStored(key: string, truth: SeriesTruth, row: MissingRow): void {
  const stored = storedValues(truth, row.geo).find(({ at }) => isWithin(at, row))
  if (stored) differ(`${key}: a stored value is said to be missing`, timeText(stored.at), row)
}

/** C3: expects days of a geo to be missing only if it has values on 28 consecutive days. */
function compareDaily(key: string, truth: SeriesTruth, geo: number): void {
  const days = new Set(storedValues(truth, geo).map(({ at }) => dayOf(at).from))
  const between = unitsOf(Math.min(...days), Math.max(...days) + 1, 'day')
  const longest = longestStreak(between, ({ from }) => days.has(from))
  if (longest < 28) differ(`${key}, geo ${geo}: days are missing, though not every day had a value`, 28, longest)
}

/** Expects a gap to count the periods that fit into it. */
function compareCount(key: string, { geo_id, from, to, step_s, missing, reason }: Gap): void {
  if (reason === 'late' || step_s === null || step_s > HOUR) return
  const periods = (to - from) / step_s
  if (missing !== periods) differ(`gaps of ${key}, geo ${geo_id}: how many periods are missing`, periods, missing)
}

/** What is known of the missing periods of a timeline. */
interface Timeline {
  readonly periods: Periods
  readonly rows: readonly MissingRow[]
  readonly gaps: readonly Gap[]
}

/** M3: expects exactly the missing periods of verified days to be recorded, and those of final days to be gaps. */
function compareTimeline(
  scene: Scene,
  key: string,
  truth: SeriesTruth,
  geo: number,
  { periods, rows, gaps }: Timeline,
): void {
  const place = `missing of ${key}, geo ${geo}`
  if (!periods.isRegular && rows.length > 0) differ(`${place}: some, though nothing shows a regular series`, [], rows)
  const expected = periods.isRegular ? periods.missing : []
  const recorded = [...new Set(rows.flatMap(periodStarts))]
  const finalAfter = finalAfterDay(scene, key)
  const days = new Map([...expected, ...recorded].map((at) => [dayOf(at).from, dayOf(at)]))
  for (const day of days.values()) {
    const { state, hasRejects, at } = judgeState(truth, day, geo)
    // A day that is not verified keeps what was known of it, and a dismissed row may stand for a value.
    if (state !== 'complete' || hasRejects) continue
    scene.tally.comparisons++
    const isOfDay = (period: number): boolean => isWithin(period, day)
    const expectedOfDay = expected.filter(isOfDay).sort()
    const recordedOfDay = recorded.filter(isOfDay).sort()
    if (String(expectedOfDay) !== String(recordedOfDay))
      differ(`${place}, ${timeText(day.from)}`, expectedOfDay, recordedOfDay)
    if (at < day.to + finalAfter) continue
    const unlisted = expectedOfDay.filter((period) => !gaps.some((gap) => isWithin(period, gap)))
    if (unlisted.length > 0) differ(`${place}, ${timeText(day.from)}: not in gaps`, unlisted, gaps)
  }
}

/** J2: seconds after the end of a day at which a reply about it is final. Never, if several lookbacks make that depend on the jobs. */
function finalAfterDay({ world }: Scene, key: string): number {
  const entries = world.jobs.flatMap(entriesOf).filter((entry) => entry.key === key)
  const [lookback, ...others] = new Set(entries.map((entry) => entry.lookback))
  return lookback === undefined || others.length > 0 ? Number.POSITIVE_INFINITY : lookback * DAY + HOUR
}

/** Returns the starts of the periods of a row. */
const periodStarts = ({ from, to, step }: MissingRow): number[] =>
  Array.from({ length: Math.round((to - from) / step!) }, (_, i) => from + i * step!)
