import type { Service } from '../service/service.ts'
import type { Instant } from '../util/time/instant.ts'
import { type Interval, overlaps } from '../util/time/interval.ts'
import { formatLocal } from '../util/time/zone.ts'
import type { Job, Moment } from './job.ts'
import { durationText, resolveMoment, resolveWindow } from './moment.ts'

/** Whether a window ends now, or at the start or end of today. */
const endsToday = (to: Moment): boolean =>
  to.kind === 'now' || (to.kind === 'relative' && to.duration.unit === 'day' && [0, 1].includes(to.duration.count))

/** Warnings of entries whose window ends today, although values for tomorrow are published. */
export const publishedAheadHints = (job: Job, { publishedAhead = [] }: Service): string[] =>
  job.series.flatMap(({ path, indicators, window }) => {
    const ahead = indicators.filter((id) => publishedAhead.includes(id))
    if (ahead.length === 0 || !window || !endsToday(window.to)) return []
    const { from } = window
    const better =
      from.kind === 'relative'
        ? `{ from: -${durationText({ ...from.duration, count: -from.duration.count })}, to: +2d }`
        : 'to: +2d'
    return [
      `${path}.window leaves out tomorrow's values, which are published today for ${ahead.join(', ')}; use ${better}`,
    ]
  })

const END_OF_TOMORROW: Moment = { kind: 'relative', duration: { count: 2, unit: 'day' } }

/** Warnings of entries whose window is empty, or begins after the values that are published ahead. */
export const emptyWindowHints = ({ series, archives, widgets, timeZone }: Job, now: Instant): string[] =>
  [...series, ...archives, ...(widgets ? [widgets] : [])].flatMap(({ path, window }) => {
    if (!window) return []
    const resolve = (moment: Moment): Instant => resolveMoment(moment, timeZone, now)
    const from = resolve(window.from)
    const to = resolve(window.to)
    const text = (at: Instant): string => formatLocal(timeZone, at).slice(0, 16)
    if (from > now && (from >= to || from >= resolve(END_OF_TOMORROW)))
      return [`${path}.window begins in the future, at ${text(from)}`]
    return from >= to ? [`${path}.window ends at ${text(to)}, before it begins at ${text(from)}`] : []
  })

/** A warning if no window of a job overlaps the range to which the user limits them. */
export function outsideHints({ series, archives, timeZone }: Job, range: Interval, now: Instant): string[] {
  const windows = [...series, ...archives].flatMap(({ window }) => (window ? resolveWindow(window, timeZone, now) : []))
  if (windows.length === 0 || windows.some((window) => overlaps(window, range))) return []
  return ['no window of the job is in the given range']
}
