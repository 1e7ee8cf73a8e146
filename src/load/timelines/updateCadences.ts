import { prepareQuery } from '../../db/prepared.ts'
import type { GeoDay } from '../../db/tables/rows.ts'
import {
  type CadenceInput,
  findStretches,
  refineBorders,
  SINCE_EVER,
  type Stretch,
  toShape,
} from '../../judge/cadence.ts'
import { periodEnd } from '../../judge/grid.ts'
import { phaseAt } from '../../util/time/dayStep.ts'
import { DAY, type Instant, LATEST } from '../../util/time/instant.ts'
import type { Interval } from '../../util/time/interval.ts'
import { dayIntervalAt, dayNumber } from '../../util/time/localDay.ts'
import { isCalendarStep } from '../../util/time/periods.ts'
import type { SeriesTransaction } from '../storedSeries.ts'
import { recomputeDays } from '../writeDays.ts'
import { type Cadences, stretchAt, writeCadence } from './cadences.ts'
import { selectSteps, updateStep } from './stepQueries.ts'

/** A part of a timeline whose cadence changed. */
export interface CadenceChange extends Interval {
  readonly geoId: number
}

/** What decides the cadence of a series, beside its days. */
export interface CadenceTask {
  readonly input: CadenceInput
  /** The stored cadences. */
  readonly before: Cadences
}

/**
 * Decides the cadence of the timelines whose days changed, writes it, and gives the stored values of changed stretches their new steps.
 * Returns the changed parts.
 */
export async function updateCadences(
  series: SeriesTransaction,
  task: CadenceTask,
  days: readonly GeoDay[],
  withdrawnGeos: ReadonlySet<number>,
): Promise<CadenceChange[]> {
  const changes: CadenceChange[] = []
  const touched = new Map<number, GeoDay[]>()
  for (const day of days) {
    const ofGeo = touched.get(day[0])
    if (ofGeo) ofGeo.push(day)
    else touched.set(day[0], [day])
  }
  // A day that lost all its values is no longer among the days.
  for (const geoId of withdrawnGeos) if (!touched.has(geoId)) touched.set(geoId, [])
  for (const [geoId, geoDays] of touched) {
    const before = task.before.get(geoId) ?? []
    if (!withdrawnGeos.has(geoId) && geoDays.every((day) => followsCadence(series.zone, day, before))) continue
    changes.push(...(await decideAgain(series, task, geoId)))
  }
  return changes
}

/** Whether a day has the step of a timeline with one step, so that it changes nothing. */
function followsCadence(zone: string, [, , { step, offset }]: GeoDay, stretches: readonly Stretch[]): boolean {
  const [only] = stretches
  if (!only?.grid || stretches.length > 1 || step !== only.grid.step || offset === null) return false
  const { anchor } = only.grid
  return !isCalendarStep(step) && phaseAt(zone, anchor, step) === offset
}

/** Decides the cadence of a geo from all its days. */
export async function decideAgain(
  series: SeriesTransaction,
  { input, before: cadences }: CadenceTask,
  geoId: number,
): Promise<CadenceChange[]> {
  const { tx, seriesId, zone, fetchId } = series
  const before = cadences.get(geoId) ?? []
  const rows = await selectShapes.all(tx, { seriesId, geoId })
  const shapes = rows.map(({ month, day, step_s, offset_s, strays }) =>
    toShape(dayNumber({ month, dayOfMonth: day }), { step: step_s, offset: offset_s, strays }),
  )
  const coarse = shapes.length === 0 ? [] : findStretches(shapes, input)
  const values = new Map<Instant, readonly Instant[]>()
  for (const [i, { from, grid }] of coarse.entries()) {
    if (i === 0 || !grid || isCalendarStep(grid.step)) continue
    // The days that hold no step before the border belong to either side.
    const index = shapes.findIndex(({ day }) => day >= dayIntervalAt(zone, from).day)
    let first = index - 1
    while (first > 0 && shapes[first]!.step === null) first--
    const range = { seriesId, geoId, from: (shapes[first]?.day ?? 0) * DAY - DAY, to: from + 2 * DAY }
    values.set(
      from,
      (await selectInstants.all(tx, range)).map(({ at }) => at),
    )
  }
  const after = refineBorders(coarse, zone, (border) => values.get(border) ?? [])
  const changed = findChanges(before, after)
  if (changed.length === 0) return []
  await writeCadence(tx, seriesId, geoId, after, before, fetchId)
  // An expectation overrides the judgement, not what is stored.
  if (input.expect === null) for (const part of changed) await rewriteSteps(series, geoId, after, part)
  return changed.map((part) => ({ geoId, ...part }))
}

const selectShapes = prepareQuery((db, { seriesId, geoId }: { seriesId: number; geoId: number }) =>
  db
    .selectFrom('_day')
    .select(['month', 'day', 'step_s', 'offset_s', 'strays'])
    .where('series_id', '=', seriesId)
    .where('geo_id', '=', geoId)
    .where('count', '>', 0)
    .orderBy('month')
    .orderBy('day'),
)

type Range = Interval & { readonly seriesId: number; readonly geoId: number }

const selectInstants = prepareQuery((db, { seriesId, geoId, from, to }: Range) =>
  db
    .selectFrom('observation')
    .select(['at', 'step_s'])
    .where('series_id', '=', seriesId)
    .where('geo_id', '=', geoId)
    .where('at', '>=', from)
    .where('at', '<', to)
    .where('value', 'is not', null)
    .orderBy('at'),
)

/** The parts of a timeline in which two cadences differ. */
function findChanges(before: readonly Stretch[], after: readonly Stretch[]): Interval[] {
  const borders = [...new Set([SINCE_EVER, ...before.map(({ from }) => from), ...after.map(({ from }) => from)])].sort(
    (a, b) => a - b,
  )
  return borders.flatMap((from, i): Interval[] => {
    const old = before[stretchAt(before, from)]
    const fresh = after[stretchAt(after, from)]
    const isEqual =
      old?.kind === fresh?.kind && old?.grid?.step === fresh?.grid?.step && old?.grid?.anchor === fresh?.grid?.anchor
    return isEqual ? [] : [{ from, to: borders[i + 1] ?? LATEST }]
  })
}

/** Gives the values of a changed part the steps of its cadence. This makes no revisions, because no value changes. */
async function rewriteSteps(
  series: SeriesTransaction,
  geoId: number,
  stretches: readonly Stretch[],
  part: Interval,
): Promise<void> {
  const { tx, seriesId, zone } = series
  const { grid } = stretches[stretchAt(stretches, part.from)] ?? {}
  if (!grid) return
  const stored = await selectSteps.all(tx, { seriesId, geoId, ...part })
  const isCalendar = isCalendarStep(grid.step)
  const steps = stored.flatMap(({ at, step_s }) => {
    const step = isCalendar ? periodEnd(grid, zone, at) - at : grid.step
    return step === step_s ? [] : [{ at, step }]
  })
  if (steps.length === 0) return
  if (isCalendar) for (const { at, step } of steps) await updateStep.run(tx, { seriesId, geoId, at, step })
  else await updateSteps.run(tx, { seriesId, geoId, ...part, step: grid.step })
  const days = new Set(steps.map(({ at }) => dayIntervalAt(zone, at).day))
  const ascending = [...days].sort((a, b) => a - b)
  await recomputeDays(series, geoId, ascending)
}

const updateSteps = prepareQuery((db, { seriesId, geoId, from, to, step }: Range & { readonly step: number }) =>
  db
    .updateTable('observation')
    .set({ step_s: step })
    .where('series_id', '=', seriesId)
    .where('geo_id', '=', geoId)
    .where('at', '>=', from)
    .where('at', '<', to)
    .where('step_s', '<>', step),
)
