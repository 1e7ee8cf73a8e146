import type { Service } from '../service/service.ts'
import type { Job, Moment } from './job.ts'
import { spanText } from './moment.ts'

/** Whether a window ends now, or at the start or end of today. */
const endsToday = (to: Moment): boolean =>
  to.kind === 'now' || (to.kind === 'relative' && to.span.unit === 'day' && [0, 1].includes(to.span.count))

/** Warnings of entries whose window ends today, although values for tomorrow are published. */
export const publishedAheadHints = (job: Job, { publishedAhead = [] }: Service): string[] =>
  job.series.flatMap(({ path, indicators, window }) => {
    const ahead = indicators.filter((id) => publishedAhead.includes(id))
    if (ahead.length === 0 || !window || !endsToday(window.to)) return []
    const { from } = window
    const better =
      from.kind === 'relative'
        ? `{ from: -${spanText({ ...from.span, count: -from.span.count })}, to: +2d }`
        : 'to: +2d'
    return [
      `${path}.window leaves out tomorrow's values, which are published today for ${ahead.join(', ')}; use ${better}`,
    ]
  })
