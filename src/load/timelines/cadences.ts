import type { Transaction } from 'kysely'
import { prepareQuery } from '../../db/prepared.ts'
import { geoRanges, type Observations } from '../../db/tables/rows.ts'
import type { Database } from '../../db/tables/schema.ts'
import { expectedStep } from '../../job/expectation.ts'
import { type CadenceInput, SINCE_EVER, type Stretch } from '../../judge/cadence.ts'
import { periodEnd } from '../../judge/grid.ts'
import { announcedChanges } from '../../service/resolutions.ts'
import type { Service } from '../../service/service.ts'
import { DAY, daysFromCivil, type Instant } from '../../util/time/instant.ts'
import { isCalendarStep } from '../../util/time/periods.ts'
import { fixedSeconds, type Unit } from '../../util/time/zone.ts'
import type { StoredSeries } from '../storedSeries.ts'

/* The stored cadence of the timelines of a series. */

/** The stretches of each geo that has a cadence. */
export type Cadences = ReadonlyMap<number, readonly Stretch[]>

const selectCadences = prepareQuery((db, { seriesId }: { seriesId: number }) =>
  db
    .selectFrom('_cadence')
    .select(['geo_id', 'from_at', 'kind', 'step_s', 'anchor_at'])
    .where('series_id', '=', seriesId)
    .orderBy('geo_id')
    .orderBy('from_at'),
)

/** Reads the cadence of all geos of a series. */
export async function readCadences(tx: Transaction<Database>, seriesId: number): Promise<Map<number, Stretch[]>> {
  const cadences = new Map<number, Stretch[]>()
  for (const { geo_id, from_at: from, kind, step_s, anchor_at } of await selectCadences.all(tx, { seriesId })) {
    const grid = step_s === null || anchor_at === null ? null : { step: step_s, anchor: anchor_at }
    const stretches = cadences.get(geo_id) ?? []
    stretches.push({ from, kind, grid })
    cadences.set(geo_id, stretches)
  }
  return cadences
}

/** Replaces the cadence of a geo. `fetchId`: the reply that showed it. */
export async function writeCadence(
  tx: Transaction<Database>,
  seriesId: number,
  geoId: number,
  stretches: readonly Stretch[],
  before: readonly Stretch[],
  fetchId: number,
): Promise<void> {
  const isEqual = (a: Stretch, b: Stretch): boolean =>
    a.from === b.from && a.kind === b.kind && a.grid?.step === b.grid?.step && a.grid?.anchor === b.grid?.anchor
  for (const stretch of before)
    if (!stretches.some((other) => isEqual(stretch, other)))
      await deleteStretch.run(tx, { seriesId, geoId, from: stretch.from })
  for (const stretch of stretches)
    if (!before.some((other) => isEqual(stretch, other)))
      await insertStretch.run(tx, {
        series_id: seriesId,
        geo_id: geoId,
        from_at: stretch.from,
        kind: stretch.kind,
        step_s: stretch.grid?.step ?? null,
        anchor_at: stretch.grid?.anchor ?? null,
        fetch_id: fetchId,
      })
}

const insertStretch = prepareQuery((db, row: Database['_cadence']) => db.insertInto('_cadence').values(row))
const deleteStretch = prepareQuery(
  (db, { seriesId, geoId, from }: { seriesId: number; geoId: number; from: Instant }) =>
    db.deleteFrom('_cadence').where('series_id', '=', seriesId).where('geo_id', '=', geoId).where('from_at', '=', from),
)

/** Seconds of the units by which the service groups values: those of months and years are nominal. */
const GROUPED_DAYS: Readonly<Record<string, number>> = { day: 1, month: 30, year: 365 }

/** What decides the cadence of a series, beside its values. */
export const cadenceInput = (
  series: Pick<StoredSeries, 'timeTrunc' | 'indicatorId' | 'timeZone' | 'expect'>,
  service: Service,
): CadenceInput => ({
  zone: series.timeZone,
  grouped:
    series.timeTrunc === null
      ? null
      : (fixedSeconds(series.timeTrunc as Unit) ?? (GROUPED_DAYS[series.timeTrunc] ?? 1) * DAY),
  announced:
    series.timeTrunc === null
      ? announcedChanges(service.changes, series.indicatorId)
          .map(toDayNumber)
          .sort((a, b) => a - b)
      : [],
  expect: expectedStep(series.expect),
})

const toDayNumber = (date: string): number => {
  const [year, month, day] = date.split('-').map(Number) as [number, number, number]
  return daysFromCivil(year, month, day)
}

/** The index of the stretch of an instant. */
export function stretchAt(stretches: readonly Stretch[], at: Instant): number {
  let index = stretches.length - 1
  while (index > 0 && stretches[index]!.from > at) index--
  return index
}

/** The stretch of a timeline; `irregular` before any is known. */
export const IRREGULAR: Stretch = { from: SINCE_EVER, kind: 'irregular', grid: null }

/**
 * The values of a reply with the steps of their cadence, so that a day with lost values has 48 of 96 quarter-hours and not 48 longer
 * periods. The steps of timelines without periods stay.
 */
export function withCadence(observations: Observations, cadences: Cadences, zone: string): Observations {
  const { at, steps } = observations
  const ranges = geoRanges(observations)
  const stretchesOf = (geoId: number): readonly Stretch[] => cadences.get(geoId) ?? [IRREGULAR]
  const isUniform = ranges.every(({ geoId, first, end }) => {
    const stretches = stretchesOf(geoId)
    const index = stretchAt(stretches, at[first]!)
    const step = stretches[index]!.grid?.step
    return step !== undefined && step === steps && index === stretchAt(stretches, at[end - 1]!)
  })
  if (isUniform && typeof steps === 'number' && !isCalendarStep(steps)) return { ...observations, isStepGuessed: false }
  const changed = typeof steps === 'number' ? new Array<number>(at.length).fill(steps) : [...steps]
  let isRegular = true
  for (const { geoId, first, end } of ranges) {
    const stretches = stretchesOf(geoId)
    for (let i = first, index = stretchAt(stretches, at[first]!); i < end; i++) {
      while (index + 1 < stretches.length && stretches[index + 1]!.from <= at[i]!) index++
      const { grid } = stretches[index]!
      if (grid) changed[i] = isCalendarStep(grid.step) ? periodEnd(grid, zone, at[i]!) - at[i]! : grid.step
      else isRegular = false
    }
  }
  return { ...observations, steps: changed, isStepGuessed: (observations.isStepGuessed ?? false) && !isRegular }
}
