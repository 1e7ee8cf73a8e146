/* Compares the whole database with the model. */

import { gapsAt } from '../../src/findings/findGaps.ts'
import { oracleDays } from '../load/dayOracle.ts'
import { DAY, HOUR, SERVICE_ZONE, type Unit, unitsOf } from './calendar.ts'
import { dayOf, periodsOf } from './missing.ts'
import { includesGeo, type JudgedState, judgeState, type SeriesTruth, type Version } from './oracle.ts'
import { hasEveryPeriod, isRequired } from './requiredRanges.ts'
import { differ, type Scene } from './run.ts'
import { SCOPE } from './scope.ts'
import { BEGINNING, entriesOf } from './world.ts'

interface Row {
  readonly id: number
  readonly key: string
  readonly trunc: string | null
}

/** Returns the series of the database by the keys of the model. */
function seriesOf({ program }: Scene): Row[] {
  const rows = program.store().all('select * from series order by id') as Record<string, string | number | null>[]
  return rows.map((row) => ({
    id: row.id as number,
    trunc: row.time_trunc as string | null,
    key: JSON.stringify([
      ...[row.kind, row.indicator_id, row.time_trunc, row.time_agg, row.geo_agg, row.geo_trunc],
      row.geo_ids ?? null,
    ]),
  }))
}

/** Compares values, steps, history, coverage and gaps; throws at the first difference. */
export async function compare(scene: Scene): Promise<void> {
  const series = seriesOf(scene)
  for (const [key, truth] of scene.oracle) {
    const row = series.find((one) => one.key === key)
    if (!row) {
      if ([...truth.values.values()].some((values) => values.size > 0)) differ('a series is missing', key, series)
      continue
    }
    compareValues(scene, row, truth, null)
    compareDays(scene, row)
    if (SCOPE.has('history')) for (const then of scene.past.slice(-3)) compareValues(scene, row, truth, then)
    if (SCOPE.has('coverage')) compareCoverage(scene, row, truth)
    if (SCOPE.has('freshness')) compareFreshness(scene, row, truth)
  }
  if (SCOPE.has('gaps')) await compareGaps(scene, series)
}

const isKnownAt = ({ from, to }: Version, then: number): boolean => from <= then && (to === null || to > then)

function compareValues({ program, tally }: Scene, { id, key }: Row, truth: SeriesTruth, then: number | null): void {
  const text = then === null ? null : new Date(then * 1000).toISOString()
  const rows = program.store().all(
    text === null
      ? 'select geo_id as geo, at, value, step_s as step from observation where series_id = ?'
      : `select geo_id as geo, unixepoch(at_utc) as at, value, step_s as step from observation_history
         where series_id = ? and valid_from <= ? and (valid_to is null or valid_to > ?)`,
    text === null ? [id] : [id, text, text],
  ) as { geo: number; at: number; value: number; step: number }[]
  const what = then === null ? 'values' : `values as of ${text}`
  const regular = new Map([...truth.values.keys()].map((geo) => [geo, periodsOf(truth, geo)?.isRegular ?? false]))
  const hasOneStep = (geo: number): boolean => regular.get(geo)!
  let expected = 0
  for (const values of truth.values.values())
    for (const versions of values.values())
      if (versions.some((version) => (then === null ? version.to === null : isKnownAt(version, then)))) expected++
  if (rows.length !== expected)
    differ(`${what} of ${key}: how many`, expected, [rows.length, missing(rows, truth, then)])
  for (const { geo, at, value, step } of rows) {
    const version = truth.values
      .get(geo)
      ?.get(at)
      ?.find((one) => (then === null ? one.to === null : isKnownAt(one, then)))
    const place = `${what} of ${key}, geo ${geo}, ${new Date(at * 1000).toISOString()}`
    if (!version || version.value !== value) differ(place, version ?? null, { value, step })
    // Several steps are decided by the cadence of whole weeks.
    if (then === null && hasOneStep(geo) && version.step !== step) differ(`${place}: step`, version.step, step)
  }
  tally.comparisons += rows.length * 2 + 1
}

/** Compares the daily totals with the values, each day separately. */
function compareDays({ program, tally }: Scene, { id, key }: Row): void {
  const store = program.store()
  const totals = store.all('select * from _day where series_id = ? order by geo_id, month, day', [id]).map(rounded)
  const expected = oracleDays(store, SERVICE_ZONE, id).map(rounded)
  tally.comparisons += expected.length
  for (let i = 0; i < Math.max(totals.length, expected.length); i++)
    if (totals[i] !== expected[i]) differ(`days of ${key}`, expected[i], totals[i])
}

/** Formats a row without the last digits, which depend on the order of summation. */
const rounded = (row: unknown): string =>
  JSON.stringify(row, (_, value) => (typeof value === 'number' ? Number(value.toPrecision(11)) : value))

/** Returns the first value that only one side has, for the message. */
function missing(rows: readonly { geo: number; at: number }[], truth: SeriesTruth, then: number | null): unknown {
  const there = new Set(rows.map(({ geo, at }) => `${geo} ${at}`))
  for (const [geo, values] of truth.values)
    for (const [at, versions] of values) {
      const known = versions.some((version) => (then === null ? version.to === null : isKnownAt(version, then)))
      if (known !== there.delete(`${geo} ${at}`)) return { geo, at: new Date(at * 1000).toISOString(), inModel: known }
    }
  return [...there][0]
}

interface Covered {
  readonly geo: number
  readonly from: number
  readonly to: number
  readonly state: string
  readonly at: number
}

const unitOf = (trunc: string | null): Unit => (trunc === 'month' || trunc === 'year' ? trunc : 'day')

/** Returns the units between the first and last requested instant of one geo, or of all. */
function rangeOf({ events }: SeriesTruth, trunc: string | null, geo: number | null) {
  const windows = events.flatMap(({ request }) => (request.window && includesGeo(request, geo) ? [request.window] : []))
  if (windows.length === 0) return []
  const from = Math.min(...windows.map((window) => window.from))
  const to = Math.max(...windows.map((window) => window.to))
  return unitsOf(from, to, unitOf(trunc))
}

/** Returns the units that were ever requested of a series, and its known geos. */
function findRequested(truth: SeriesTruth, trunc: string | null) {
  const unit = unitOf(trunc)
  const units = new Map<number, { from: number; to: number }>()
  const geos = new Set<number | null>(truth.values.keys())
  for (const { request } of truth.events) {
    if (!request.window) continue
    for (const one of unitsOf(request.window.from, request.window.to, unit)) units.set(one.from, one)
    for (const geo of request.geos ?? [null]) geos.add(geo)
  }
  return { units: [...units.values()].sort((a, b) => a.from - b.from), geos: [...geos] }
}

/** Expects exactly the fetched units to be stored, and no unit to look fresher, or older before it is settled. */
function compareCoverage(scene: Scene, { id, key, trunc }: Row, truth: SeriesTruth): void {
  const rows = scene.program
    .store()
    .all(
      'select geo_id as geo, from_at as "from", to_at as "to", state, fetched_at as at from _coverage where series_id = ?',
      [id],
    ) as Covered[]
  const { units, geos } = findRequested(truth, trunc)
  for (const geo of geos)
    for (const unit of units) {
      const judged = judgeState(truth, unit, geo)
      const over = rows.filter(
        (row) => (row.geo === 0 || row.geo === geo) && row.from <= unit.from && row.to >= unit.to,
      )
      // A reply for a single geo takes precedence over a reply for all.
      const row = over.find((one) => one.geo !== 0) ?? over[0]
      const place = `coverage of ${key}, geo ${geo ?? 'all'}, ${new Date(unit.from * 1000).toISOString()}`
      scene.tally.comparisons++
      const isTrusted = row !== undefined && row.state !== 'unverified'
      if (judged.state === 'uncovered' && isTrusted) differ(`${place}: trusted, never loaded`, judged, row)
      if (judged.state === 'unverified' && isTrusted) differ(`${place}: trusted, though unverified`, judged, row)
      if (judged.state !== 'complete') continue
      if (!isTrusted) differ(`${place}: loaded, not stored`, judged, over)
      if (row.at > judged.at) differ(`${place}: fresher than it is`, judged, row)
      // Only units settled for the longest lookback may be merged with older ones.
      const settled = judged.at >= unit.to + (scene.shortest.get(key) ?? 2) * DAY - HOUR
      if (row.at < judged.at && !settled && geo !== null)
        differ(`${place}: older than it is, and not settled`, judged, row)
    }
}

/** Compares the last successful request of each geo. */
function compareFreshness({ program, tally }: Scene, { id, key }: Row, truth: SeriesTruth): void {
  const rows = program
    .store()
    .all('select geo_id as geo, checked_at as at from freshness where series_id = ?', [id]) as {
    geo: number
    at: string
  }[]
  for (const { geo, at } of rows) {
    const loaded = truth.events.filter(({ outcome }) => outcome === 'loaded')
    const last = loaded.findLast(({ request }) => includesGeo(request, geo))
    // A reply about one instant may count for all geos.
    const single = loaded.findLast(({ request }) => request.window === null)
    tally.comparisons++
    const checked = Date.parse(at) / 1000
    if (last && checked !== last.at && checked !== single?.at)
      differ(`freshness of ${key}, geo ${geo}`, new Date(last.at * 1000), at)
  }
}

interface Gap {
  readonly series_id: number
  readonly geo_id: number
  readonly from: number
  readonly to: number
  readonly reason: string
  readonly step_s: number | null
  readonly missing: number | null
}

/** The columns that the command `gaps` shares with the view. */
const GAP_COLUMNS = [
  ...['series_id', 'kind', 'indicator_id', 'time_trunc', 'geo_id', 'from_local', 'to_local', 'reason'],
  ...['step_s', 'missing', 'next_at', 'job'],
]

/** Seconds. After them, everything that is expected now is missing: longer than any job waits. */
const LONG_AFTER = 400 * DAY

/** Reads the gaps of the view at an instant. */
async function readGaps({ program }: Scene, now: number): Promise<Gap[]> {
  const rows = await program.store().kysely.selectFrom(gapsAt(now)).selectAll().execute()
  return rows.map(({ from_at, to_at, ...gap }) => ({ ...gap, from: from_at, to: to_at }))
}

/** Compares the gaps of the command and the view with the model, at the time of the run and long after it. */
async function compareGaps(scene: Scene, series: readonly Row[]): Promise<void> {
  const { program, tally, oracle, now } = scene
  const pick = (row: object): string => JSON.stringify(GAP_COLUMNS.map((column) => row[column as keyof typeof row]))
  const command = (await program.gaps(now)) as { from: string; to: string }[]
  const view = await readGaps(scene, now)
  tally.comparisons++
  const a = command.map(({ from, to, ...gap }) => pick({ ...gap, from_local: from, to_local: to })).sort()
  const b = view.map(pick).sort()
  if (String(a) !== String(b))
    differ(
      'the command gaps and the view gaps',
      a.filter((row) => !b.includes(row)),
      b.filter((row) => !a.includes(row)),
    )
  const later = await readGaps(scene, now + LONG_AFTER)
  for (const row of series) {
    const truth = oracle.get(row.key)
    if (!truth) continue
    const [current, future] = [view, later].map((all) => all.filter((gap) => gap.series_id === row.id))
    compareRanges(scene, row, truth, current!, future!)
    compareAbsent(scene, row, truth, current!)
  }
}

/** The reasons of gaps without a valid reply. */
const WITHOUT_REPLY: readonly string[] = ['never requested', 'failed', 'unverified']
/** Seconds. A job that runs daily may leave new time unrequested for this long (J3). */
const GRACE = 30 * HOUR
/** Seconds that the windows of the model reach ahead of the clock at least. */
const AHEAD = DAY

/**
 * Compares ranges without a valid reply. One is a gap if its last reply is not valid, if a request for it failed, or if a job that was
 * run requires it. Between a backfill and the window of a job, nothing is missing. A failed request and an unverified reply are gaps at
 * once; a range that was never requested is one only after the grace of the job.
 */
function compareRanges(
  scene: Scene,
  { key, trunc }: Row,
  truth: SeriesTruth,
  current: readonly Gap[],
  later: readonly Gap[],
): void {
  const { now, tally } = scene
  for (const gap of current) {
    tally.comparisons++
    const isOverdue = truth.events.every(({ at }) => at < now - GRACE + HOUR)
    if (gap.reason === 'never requested' && gap.from > now + AHEAD - GRACE && !isOverdue)
      differ(`gaps of ${key}, geo ${gap.geo_id}: never requested, though it is new`, now, gap)
  }
  // The usual interval of a job is not longer than the time since its first run.
  const grace = Math.max(GRACE, 1.25 * (now - BEGINNING))
  for (const geo of findRequested(truth, trunc).geos)
    for (const unit of rangeOf(truth, trunc, geo)) {
      const judged = judgeState(truth, unit, geo)
      const { state, lastOutcome } = judged
      const isFailed = state === 'unverified' || (state === 'uncovered' && lastOutcome !== null)
      const isMissing = isFailed || (state === 'uncovered' && isRequired(scene, key, unit, geo))
      const isOver = (gap: Gap): boolean =>
        WITHOUT_REPLY.includes(gap.reason) && gap.from < unit.to && gap.to > unit.from
      // A range without a reply for all geos is listed for the known geos, and for geo 0 only if these have a reply of their own.
      const isAbout = (gap: Gap): boolean => gap.geo_id === (geo ?? 0) || gap.geo_id === 0 || geo === null
      const place = `gaps of ${key}, geo ${geo ?? 'all'}, ${new Date(unit.from * 1000).toISOString()}`
      tally.comparisons += 2
      const lists = (gaps: readonly Gap[]): boolean => gaps.some((gap) => isOver(gap) && isAbout(gap))
      if (isMissing && !lists(later)) differ(`${place}: none, though it is missing`, judged, later)
      if ((isFailed || (isMissing && unit.from + grace <= now)) && !lists(current))
        differ(`${place}: none yet, though it is missing`, judged, current)
      if (state !== 'complete') continue
      const wrong = later.filter((gap) => isOver(gap) && gap.geo_id === (geo ?? 0) && !isAfterReply(gap, unit, judged))
      if (wrong.length > 0) differ(`${place}: one, though it is stored`, judged, wrong)
      compareRest(scene, key, truth, { unit, geo, later })
    }
}

/**
 * Whether a gap lists only what was yet to come of a unit when its reply arrived. It failed only if a later request did. Half an hour
 * allows for clock changes.
 */
const isAfterReply = (gap: Gap, unit: { from: number }, { at, lastTry, lastOutcome }: JudgedState): boolean =>
  (gap.reason === 'never requested' || (gap.reason === 'failed' && lastTry > at && lastOutcome !== 'loaded')) &&
  Math.max(gap.from, unit.from) >= at - HOUR / 2

/** Expects the rest of a day that was requested before its end to be missing one day, for each geo as far as no value is stored ahead. */
function compareRest(
  scene: Scene,
  key: string,
  truth: SeriesTruth,
  { unit, geo, later }: { unit: { from: number; to: number }; geo: number | null; later: readonly Gap[] },
): void {
  for (const known of geo === null ? truth.values.keys() : [geo]) {
    const judged = judgeState(truth, unit, known)
    const { state, at } = judged
    if (state !== 'complete' || !isRequired(scene, key, unit, known)) continue
    const stored = [...(truth.values.get(known) ?? [])].filter(([, versions]) => versions.at(-1)?.to === null)
    // The length of a single period is not known.
    if (stored.length === 1) continue
    const [last = 0, previous = last] = stored.map(([instant]) => instant).sort((a, b) => b - a)
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

/** The reasons of gaps in verified replies. */
const MISSING_PERIODS: readonly string[] = ['absent', 'null', 'withdrawn']

/** Seconds after the end of a day at which a reply about it is final. Never, if several lookbacks make that depend on the jobs. */
function finalAfter({ world }: Scene, key: string): number {
  const lookbacks = world.jobs.flatMap((spec) =>
    entriesOf(spec).flatMap((entry) => (entry.key === key ? [entry.lookback] : [])),
  )
  return new Set(lookbacks).size === 1 ? lookbacks[0]! * DAY + HOUR : Number.POSITIVE_INFINITY
}

/**
 * Expects no stored value to be missing, exactly the missing periods of verified days to be recorded, and those of final days to be
 * gaps.
 */
function compareAbsent(scene: Scene, row: Row, truth: SeriesTruth, gaps: readonly Gap[]): void {
  const recorded = scene.program
    .store()
    .all(
      'select geo_id as geo, from_at as "from", to_at as "to", step_s as step, missing from _absent where series_id = ?',
      [row.id],
    ) as { geo: number; from: number; to: number; step: number | null; missing: number | null }[]
  for (const gap of recorded)
    for (const [at, versions] of truth.values.get(gap.geo) ?? [])
      if (at >= gap.from && at < gap.to && versions.at(-1)?.to === null)
        differ(`${row.key}: a stored value is said to be missing`, new Date(at * 1000).toISOString(), gap)
  for (const geo of new Set(recorded.flatMap(({ geo, step }) => (step === null ? [geo] : []))))
    if (longestRun(truth, geo) < 28)
      differ(`${row.key}, geo ${geo}: days are missing, though not every day had a value`, 28, longestRun(truth, geo))
  for (const { geo_id, from, to, step_s, missing, reason } of gaps)
    if (reason !== 'late' && step_s !== null && step_s <= HOUR && missing !== (to - from) / step_s)
      differ(`gaps of ${row.key}, geo ${geo_id}: how many periods are missing`, (to - from) / step_s, missing)
  if (!hasEveryPeriod(scene, row.key, row.trunc)) return
  const lookback = finalAfter(scene, row.key)
  for (const geo of truth.values.keys()) {
    const periods = periodsOf(truth, geo)
    if (!periods) continue
    const own = recorded.filter((gap) => gap.geo === geo && gap.step !== null)
    const place = `missing of ${row.key}, geo ${geo}`
    if (!periods.isRegular && own.length > 0) differ(`${place}: some, though nothing shows a regular series`, [], own)
    const found = new Set(own.flatMap(({ from, to, step }) => stepsBetween(from, to, step!)))
    const expected = new Set(periods.isRegular ? periods.missing : [])
    const days = new Map([...expected, ...found].map((at) => [dayOf(at).from, dayOf(at)]))
    for (const day of days.values()) {
      const { state, hasRejects, at } = judgeState(truth, day, geo)
      // A day that is not verified keeps what was known of it, and a dismissed row may stand for a value.
      if (state !== 'complete' || hasRejects) continue
      scene.tally.comparisons++
      const [a, b] = [expected, found].map((all) => [...all].filter((at) => at >= day.from && at < day.to).sort())
      if (String(a) !== String(b)) differ(`${place}, ${new Date(day.from * 1000).toISOString()}`, a, b)
      if (at < day.to + lookback) continue
      const listed = gaps.filter(({ geo_id, reason }) => geo_id === geo && MISSING_PERIODS.includes(reason))
      const lost = a!.filter((period) => !listed.some(({ from, to }) => from <= period && to > period))
      if (lost.length > 0) differ(`${place}, ${new Date(day.from * 1000).toISOString()}: not in gaps`, lost, listed)
    }
  }
}

/** The most consecutive local days on which a geo has a value. */
function longestRun({ values }: SeriesTruth, geo: number): number {
  const current = [...(values.get(geo) ?? [])].filter(([, versions]) => versions.at(-1)?.to === null)
  const days = new Set(current.map(([at]) => dayOf(at).from))
  let [run, longest] = [0, 0]
  for (const day of unitsOf(Math.min(...days), Math.max(...days) + 1, 'day')) {
    run = days.has(day.from) ? run + 1 : 0
    longest = Math.max(longest, run)
  }
  return longest
}

const stepsBetween = (from: number, to: number, step: number): number[] =>
  Array.from({ length: Math.round((to - from) / step) }, (_, i) => from + i * step)
