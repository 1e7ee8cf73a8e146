/* Compares the gaps of the command and of the view with the model: ranges without a valid reply (J1–J3). */
import { gapsAt } from '../../../src/findings/findGaps.ts'
import { DAY, HOUR, unitsOf } from '../calendar.ts'
import { type JudgedState, judgeState } from '../judgedState.ts'
import { knownGeos, type SeriesTruth, storedValues } from '../oracle.ts'
import { isRequired } from '../requests/selected.ts'
import { differ, type Scene, timeText } from '../scene.ts'
import { type Interval, includesGeo, overlaps, unitOf } from '../units.ts'
import { BEGINNING } from '../world.ts'
import { requestedGeos } from './coverage.ts'
import { compareMissing } from './missing.ts'
import type { StoredSeries } from './storedSeries.ts'

/** A row of the view `gaps`. */
export interface Gap extends Interval {
  readonly series_id: number
  readonly geo_id: number
  readonly reason: string
  readonly step_s: number | null
  readonly missing: number | null
}

/** The columns that the command `gaps` shares with the view. */
const GAP_COLUMNS = [
  'series_id',
  'kind',
  'indicator_id',
  'time_trunc',
  'geo_id',
  'from_local',
  'to_local',
  'reason',
  'step_s',
  'missing',
  'next_at',
  'job',
]

/** Seconds. After them, everything that is expected now is missing: longer than any job waits. */
const LONG_AFTER = 400 * DAY

/** Reads the gaps of the view at an instant. */
async function readGaps({ program }: Scene, now: number): Promise<Gap[]> {
  const rows = await program.store().kysely.selectFrom(gapsAt(now)).selectAll().execute()
  return rows.map(({ from_at, to_at, ...gap }) => ({ ...gap, from: from_at, to: to_at }))
}

/** Compares the gaps of the command and the view with the model, at the time of the run and long after it. */
export async function compareGaps(scene: Scene, stored: readonly StoredSeries[]): Promise<void> {
  const current = await readGaps(scene, scene.now)
  await compareCommand(scene, current)
  const later = await readGaps(scene, scene.now + LONG_AFTER)
  for (const series of stored) {
    const truth = scene.oracle.get(series.key)
    if (!truth) continue
    const isOfSeries = (gap: Gap): boolean => gap.series_id === series.id
    compareRanges(scene, series, truth, current.filter(isOfSeries), later.filter(isOfSeries))
    compareMissing(scene, series, truth, current.filter(isOfSeries))
  }
}

/** Expects the command `gaps` to list what the view lists. */
async function compareCommand({ program, tally, now }: Scene, view: readonly Gap[]): Promise<void> {
  const textOf = (row: object): string => JSON.stringify(GAP_COLUMNS.map((column) => row[column as keyof typeof row]))
  const command = (await program.gaps(now)) as { from: string; to: string }[]
  const ofCommand = command.map(({ from, to, ...gap }) => textOf({ ...gap, from_local: from, to_local: to })).sort()
  const ofView = view.map(textOf).sort()
  tally.comparisons++
  if (String(ofCommand) !== String(ofView))
    differ(
      'the command gaps and the view gaps',
      ofCommand.filter((row) => !ofView.includes(row)),
      ofView.filter((row) => !ofCommand.includes(row)),
    )
}

/** The reasons of gaps without a valid reply. */
const WITHOUT_REPLY: readonly string[] = ['never requested', 'failed', 'unverified']
/** Seconds. A job that runs daily may leave new time unrequested for this long (J3). */
const GRACE = 30 * HOUR
/** Seconds that the windows of the model reach ahead of the clock at least. */
const AHEAD = DAY

/** Compares ranges without a valid reply, at the time of the run and long after it. */
function compareRanges(
  scene: Scene,
  { key, trunc }: StoredSeries,
  truth: SeriesTruth,
  current: readonly Gap[],
  later: readonly Gap[],
): void {
  for (const gap of current) compareNewTime(scene, key, truth, gap)
  for (const geo of requestedGeos(truth))
    for (const unit of unitsBetweenRequests(truth, trunc, geo)) {
      const judged = judgeState(truth, unit, geo)
      compareUnit(scene, key, { unit, geo, judged }, current, later)
      if (judged.state === 'complete') compareRest(scene, key, truth, { unit, geo }, later)
    }
}

/** J3: expects new time not to be a gap before a run is late. */
function compareNewTime({ now, tally }: Scene, key: string, truth: SeriesTruth, gap: Gap): void {
  tally.comparisons++
  const isRunLate = truth.events.every(({ at }) => at < now - GRACE + HOUR)
  if (gap.reason === 'never requested' && gap.from > now + AHEAD - GRACE && !isRunLate)
    differ(`gaps of ${key}, geo ${gap.geo_id}: never requested, though it is new`, now, gap)
}

/** Returns the units between the first and last requested instant of one geo, or of all. */
function unitsBetweenRequests({ events }: SeriesTruth, trunc: string | null, geo: number | null): Interval[] {
  const windows = events.flatMap(({ request }) => (request.window && includesGeo(request, geo) ? [request.window] : []))
  if (windows.length === 0) return []
  const from = Math.min(...windows.map((window) => window.from))
  const to = Math.max(...windows.map((window) => window.to))
  return unitsOf(from, to, unitOf(trunc))
}

/** A unit of a series for one geo or (null) for all, and its state. */
interface JudgedUnit {
  readonly unit: Interval
  readonly geo: number | null
  readonly judged: JudgedState
}

/**
 * J3: expects a unit to be a gap if its last reply is not valid, if a request for it failed, or if a job that was run requires it.
 * Between a backfill and the window of a job, nothing is missing. A failed request and an unverified reply are gaps at once; a range that
 * was never requested is one only after the grace of the job.
 */
function compareUnit(
  scene: Scene,
  key: string,
  { unit, geo, judged }: JudgedUnit,
  current: readonly Gap[],
  later: readonly Gap[],
): void {
  const { now, tally } = scene
  const { state, lastOutcome } = judged
  const isFailed = state === 'unverified' || (state === 'uncovered' && lastOutcome !== null)
  const isMissing = isFailed || (state === 'uncovered' && isRequired(scene, key, unit, geo))
  const isOver = (gap: Gap): boolean => WITHOUT_REPLY.includes(gap.reason) && overlaps(gap, unit)
  // A range without a reply for all geos is listed for the known geos, and for geo 0 only if these have a reply of their own (J1).
  const isAbout = (gap: Gap): boolean => gap.geo_id === (geo ?? 0) || gap.geo_id === 0 || geo === null
  const isListed = (gaps: readonly Gap[]): boolean => gaps.some((gap) => isOver(gap) && isAbout(gap))
  // The usual interval of a job is not longer than the time since its first run.
  const grace = Math.max(GRACE, 1.25 * (now - BEGINNING))
  const place = `gaps of ${key}, geo ${geo ?? 'all'}, ${timeText(unit.from)}`
  tally.comparisons += 2
  if (isMissing && !isListed(later)) differ(`${place}: none, though it is missing`, judged, later)
  if ((isFailed || (isMissing && unit.from + grace <= now)) && !isListed(current))
    differ(`${place}: none yet, though it is missing`, judged, current)
  if (state !== 'complete') return
  const wrong = later.filter((gap) => isOver(gap) && gap.geo_id === (geo ?? 0) && !isAfterReply(gap, unit, judged))
  if (wrong.length > 0) differ(`${place}: one, though it is stored`, judged, wrong)
}

/**
 * J3: whether a gap lists only what was yet to come of a unit when its reply arrived. It failed only if a later request did. Half an
 * hour allows for clock changes.
 */
const isAfterReply = (gap: Gap, unit: Interval, { at, lastTry, lastOutcome }: JudgedState): boolean =>
  (gap.reason === 'never requested' || (gap.reason === 'failed' && lastTry > at && lastOutcome !== 'loaded')) &&
  Math.max(gap.from, unit.from) >= at - HOUR / 2

/** J3: expects the rest of a day that was requested before its end to be missing one day, for each geo as far as no value is ahead. */
function compareRest(
  scene: Scene,
  key: string,
  truth: SeriesTruth,
  { unit, geo }: Pick<JudgedUnit, 'unit' | 'geo'>,
  later: readonly Gap[],
): void {
  for (const known of geo === null ? knownGeos(truth, null) : [geo]) {
    const judged = judgeState(truth, unit, known)
    const { state, at } = judged
    if (state !== 'complete' || !isRequired(scene, key, unit, known)) continue
    const stored = storedValues(truth, known)
    // The length of a single period is not known.
    if (stored.length === 1) continue
    const [last = 0, previous = last] = stored.map((value) => value.at).sort((a, b) => b - a)
    // The last value is valid for a period, which is about as long as the one before: months differ by three days.
    const from = Math.max(unit.from, HOUR + at, HOUR + last + 1.15 * Math.max(unit.to - unit.from, last - previous))
    if (from >= unit.to) continue
    scene.tally.comparisons++
    const isRest = (gap: Gap): boolean =>
      gap.geo_id === known && gap.from <= from && gap.to >= unit.to && isAfterReply(gap, unit, judged)
    if (!later.some(isRest))
      differ(`gaps of ${key}, geo ${known}: none after its last reply, though it will be missing`, { unit, at }, later)
  }
}
