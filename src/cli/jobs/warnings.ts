import { grouped, quantity } from '../../base/quantity.ts'
import type { Instant } from '../../base/time/instant.ts'
import type { Job } from '../../job/job.ts'
import { resolveWindow } from '../../job/moment.ts'
import { EMPTY_STATE } from '../../job/plannerState.ts'
import { plan } from '../../plan/plan.ts'
import type { Planning } from '../../plan/planning.ts'

/** More requests than this take weeks at the default pace, and are hardly meant. */
const MANY_REQUESTS = 1_000_000
/** No service of this kind has values from before. */
const FIRST_YEAR = Date.UTC(1990, 0, 1) / 1000

/** How many requests an empty database would need: all indicators of an entry need as many as its first. */
function countRequests(planning: Parameters<typeof plan>[0]): number {
  const { job } = planning
  const count = (part: Job): number => plan({ ...planning, job: part }).reduce((requests) => requests + 1, 0)
  const listings = count({ ...job, series: [] })
  const series = job.series.map((entry) => {
    const one = { ...entry, indicators: entry.indicators.slice(0, 1) }
    const alone = { ...job, catalogue: null, content: [], archives: [], widgets: null, series: [one] }
    return count(alone) * entry.indicators.length
  })
  return series.reduce((sum, requests) => sum + requests, listings)
}

/** What is legal in a job and hardly meant: windows that begin before there was anything, and plans that never end. */
export function warningsOf(job: Job, service: Planning['service'], now: Instant): string[] {
  const requests = countRequests({ job, service, plannerState: EMPTY_STATE, now, options: {} })
  const early = [...job.series, ...job.archives].flatMap(({ path, window }) => {
    const from = window && resolveWindow(window, job.timeZone, now).from
    if (from === null || from >= FIRST_YEAR) return []
    return [`${path}.window.from lies before 1990, where no service of this kind has values; every window is requested`]
  })
  const many =
    requests > MANY_REQUESTS
      ? [
          `the job needs ${grouped(requests)} requests, ${quantity(Math.ceil(requests / job.pace.perSecond / 86_400), 'day')} at its pace; narrow its windows or enlarge its chunk`,
        ]
      : []
  return [...early, ...many]
}
