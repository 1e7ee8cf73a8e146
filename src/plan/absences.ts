import type { Instant } from '../base/instant.ts'
import { type Interval, intersect } from '../base/interval.ts'
import type { Periods } from '../base/periods.ts'
import { absentNext, EARLY } from '../job/again.ts'
import type { SeriesEntry } from '../job/job.ts'
import { ALL_GEOS, type PlannedRequest, seriesKey } from '../job/plannedRequest.ts'
import { rangeParams } from '../services/request.ts'
import { settledBefore } from './held.ts'
import { type Planning, planRequest, wantedRange } from './planning.ts'
import {
  changesOf,
  cutterOf,
  geosOf,
  identityOf,
  knownPeriods,
  lookbacksOf,
  questionOf,
  routeOf,
  sentGeos,
  sizeFor,
} from './question.ts'
import { isPassedOver } from './unknown.ts'
import { addSize, borderUnit, widen } from './windows.ts'

interface Due extends Interval {
  readonly dueAt: Instant
}
interface Candidate {
  readonly dueAt: Instant
  readonly planned: PlannedRequest
}

/** Stretches that lie so near to each other that one window holds them, as one. */
function gathered(stretches: readonly Interval[], near: (at: Instant) => Instant): Interval[] {
  const joined: Interval[] = []
  for (const { from, to } of [...stretches].sort((a, b) => a.from - b.from)) {
    const last = joined.at(-1)
    if (last && to <= near(last.from)) joined[joined.length - 1] = { from: last.from, to: Math.max(last.to, to) }
    else joined.push({ from, to })
  }
  return joined
}

/** Whether a period of a stretch begins in a window. */
function begins(periods: Periods, stretch: Interval, window: Interval): boolean {
  const first = periods.ceil(Math.max(stretch.from, window.from))
  return first < Math.min(stretch.to, window.to)
}

/** The windows of one entry in which something absent is due. */
function* candidates(planning: Planning, entry: SeriesEntry): Generator<Candidate> {
  const { job, service, plannerState, now, asked } = planning
  if (!entry.window) return
  const zone = service.timeZone
  const unit = borderUnit(entry.timeTrunc)
  const wanted = wantedRange(planning, entry.window, unit)
  for (const indicatorId of entry.indicators) {
    const series = identityOf(entry, indicatorId)
    const absences = plannerState.absences(series)
    if (absences.length === 0) continue
    const key = seriesKey(series)
    const state = plannerState.series(series)
    const periods = knownPeriods(zone, state)
    const windows = new Map<string, { window: Interval; geoIds: number[]; dueAt: Instant }>()
    for (const geoId of geosOf(entry)) {
      const due = absences.flatMap((absence): Due[] => {
        const dueAt = absentNext(absence)
        if (dueAt === null || dueAt - EARLY > now) return []
        if (geoId !== ALL_GEOS && absence.geoId !== ALL_GEOS && absence.geoId !== geoId) return []
        return asked.left(key, geoId, intersect([absence], [wanted])).map((part) => ({ ...part, dueAt }))
      })
      const size = sizeFor(planning.service, entry, state, sentGeos(entry, [geoId]))
      const stretches = gathered(
        due.map((one) => widen(zone, one, unit)),
        (at) => addSize(zone, at, size),
      )
      for (const stretch of asked.left(key, geoId, stretches))
        for (const window of cutterOf(zone, borderUnit(entry.timeTrunc))(
          stretch,
          size,
          changesOf(planning.service, series, state),
        )) {
          const dueAt = Math.min(
            ...due.filter(({ from, to }) => from < window.to && to > window.from).map(({ dueAt }) => dueAt),
          )
          if (dueAt > now + EARLY) continue
          // An answer tells of a period only where it begins.
          if (periods && !due.some((one) => begins(periods, one, window))) continue
          const name = `${window.from}-${window.to}`
          const same = windows.get(name)
          windows.set(name, {
            window,
            geoIds: [...(same?.geoIds ?? []), geoId],
            dueAt: Math.min(dueAt, same?.dueAt ?? dueAt),
          })
        }
    }
    if (windows.size === 0 || isPassedOver(planning, entry.where, routeOf(entry), indicatorId)) continue
    for (const { window, geoIds, dueAt } of windows.values()) {
      asked.add(key, geoIds, [window])
      const params = { ...questionOf(entry, indicatorId, sentGeos(entry, geoIds)), ...rangeParams(window) }
      const planned = planRequest(planning, entry.where, routeOf(entry), params, {
        ...{ series, geoIds, window, reason: 'absent' as const },
        settledBefore: settledBefore(zone, now, entry.lookback, unit),
        lookbackS: Math.max(state.lookbackS ?? 0, lookbacksOf(job).get(key)!),
      })
      yield { dueAt, planned }
    }
  }
}

const A_DAY = 86_400

/** How many calls of a run are for what is absent: a tenth of its others; where that is less than one, one a day. */
function shareOf({ job, plannerState, now }: Planning, others: number): number {
  const tenth = Math.floor(others / 10)
  if (tenth > 0) return tenth
  const last = plannerState.absentAskedAt(job.name)
  return last === undefined || Math.abs(now - last) >= A_DAY - EARLY ? 1 : 0
}

/** Plans what was absent at the source and is due again, what has waited longest first: a small share of the run's other calls. */
export function* planAbsences(planning: Planning, others: number): Generator<PlannedRequest> {
  const share = planning.options.restate ? 0 : shareOf(planning, others)
  if (share === 0) return
  // What exceeds the share is not asked: other jobs may want it.
  const looking = { ...planning, asked: planning.asked.copy() }
  const found = planning.job.series.flatMap((entry) => [...candidates(looking, entry)])
  found.sort((a, b) => a.dueAt - b.dueAt)
  for (const { planned } of found.slice(0, share)) {
    planning.asked.add(seriesKey(planned.series!), planned.geoIds, [planned.window!])
    yield planned
  }
}
