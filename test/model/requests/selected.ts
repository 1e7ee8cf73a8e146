/* Which ranges the entries of a job select. */
import { border, SERVICE_ZONE, startOf } from '../calendar.ts'
import type { Plan, Scene } from '../scene.ts'
import { type Interval, overlaps, unitOf } from '../units.ts'
import { datesOf, entriesOf, type ResolvedEntry } from '../world.ts'

/** Returns the window of an entry in its job's time zone. */
function windowOf(entry: ResolvedEntry, zone: string, now: number): Interval {
  const { from, to } = datesOf(entry)
  return { from: startOf(zone, from), to: to === null ? border(zone, now, 'day', 2) : startOf(zone, to) }
}

/** Returns the range of an entry that a command is about; it is empty if it ends at its start or before. */
export function selectedRange(plan: Exclude<Plan, { do: 'retry' }>, entry: ResolvedEntry, scene: Scene): Interval {
  const window = windowOf(entry, scene.world.jobs[plan.job].zone, scene.now)
  switch (plan.do) {
    case 'sync':
      return window
    case 'backfill':
      return { from: plan.from, to: plan.to }
    case 'restate': {
      // The first unit is required as a whole.
      const firstUnit = border(SERVICE_ZONE, window.from, unitOf(entry.trunc))
      return { from: Math.max(firstUnit, plan.from), to: Math.min(window.to, plan.to) }
    }
  }
}

/** Whether a job that was run requires a part of a unit for a geo, or (null) for all. */
export function isRequired({ ran, world, now }: Scene, key: string, unit: Interval, geo: number | null): boolean {
  const selects = (entry: ResolvedEntry): boolean =>
    entry.key === key &&
    entry.mode !== 'instant' &&
    (entry.geoIds.length === 0 || (geo !== null && entry.geoIds.includes(geo)))
  return [...ran]
    .map((job) => world.jobs[job])
    .some((spec) => entriesOf(spec).some((entry) => selects(entry) && overlaps(windowOf(entry, spec.zone, now), unit)))
}
