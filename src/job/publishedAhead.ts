import type { Service } from '../service/service.ts'
import type { Job } from './job.ts'
import { spanText } from './moment.ts'
import { END_OF_TODAY } from './normalize.ts'

/** Warns of entries whose window ends today by default, though values for tomorrow are published. */
export const publishedAheadHints = (job: Job, { publishedAhead = [] }: Service): string[] =>
  job.series.flatMap(({ path, indicators, window }) => {
    const ahead = indicators.filter((id) => publishedAhead.includes(id))
    if (ahead.length === 0 || window?.to !== END_OF_TODAY) return []
    const { from } = window
    const better =
      from.kind === 'relative'
        ? `{ from: -${spanText({ ...from.span, count: -from.span.count })}, to: +2d }`
        : 'to: +2d'
    return [
      `${path}.window leaves out tomorrow's values, which are published today for ${ahead.join(', ')}; use ${better}`,
    ]
  })
