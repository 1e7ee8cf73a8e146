import type { Job } from '../../job/job.ts'
import { resolveWindow } from '../../job/moment.ts'
import { EMPTY_STATE } from '../../job/plannerState.ts'
import { publishedAheadHints } from '../../job/publishedAhead.ts'
import { findMistakes, mistakeText, readJob } from '../../job/read.ts'
import { planJob } from '../../plan/planJob.ts'
import type { Planning } from '../../plan/planning.ts'
import { grouped, quantity } from '../../util/text.ts'
import type { Instant } from '../../util/time/instant.ts'
import type { Args } from '../command.ts'
import { JOBS, JSON_FLAG } from '../flags.ts'
import { readJobText, readOther } from '../jobs/jobs.ts'
import { readSettings } from '../settings/config.ts'
import { EXIT } from '../terminal/fail.ts'
import { print } from '../terminal/output.ts'

export const positionals = JOBS
export const flags = { ...JSON_FLAG } as const
export const examples = ['validate jobs/nightly.yaml']

/** More requests than this take weeks at the default pace, and are hardly meant. */
const MANY_REQUESTS = 1_000_000
/** No service of this kind has values from before. */
const FIRST_YEAR = Date.UTC(1990, 0, 1) / 1000

/** How many requests an empty database would need: all indicators of an entry need as many as its first. */
function countRequests(planning: Parameters<typeof planJob>[0]): number {
  const { job } = planning
  const count = (part: Job): number => planJob({ ...planning, job: part }).reduce((requests) => requests + 1, 0)
  const listings = count({ ...job, series: [] })
  const series = job.series.map((entry) => {
    const one = { ...entry, indicators: entry.indicators.slice(0, 1) }
    const alone = { ...job, catalogue: null, content: [], archives: [], widgets: null, series: [one] }
    return count(alone) * entry.indicators.length
  })
  return series.reduce((sum, requests) => sum + requests, listings)
}

/** Warnings about a valid job: windows that begin before 1990 or leave out tomorrow, and plans of very many requests. */
function findWarnings(job: Job, service: Planning['service'], now: Instant): string[] {
  const requests = countRequests({ job, service, plannerState: EMPTY_STATE, now, options: {} })
  const early = [...job.series, ...job.archives].flatMap(({ path, window }) => {
    const from = window && resolveWindow(window, job.timeZone, now).from
    if (from === null || from >= FIRST_YEAR) return []
    return [`${path}.window.from is before 1990; every window since then is requested`]
  })
  const many =
    requests > MANY_REQUESTS
      ? [
          `the job needs ${grouped(requests)} requests, which take ${quantity(Math.ceil(requests / job.pace.perSecond / 86_400), 'day')}; shorten its windows or increase chunk`,
        ]
      : []
  return [...early, ...many, ...publishedAheadHints(job, service)]
}

/** Exits 2 on a mistake, not on a warning. */
export async function handler({ jobs, json }: Args<typeof flags, typeof positionals>): Promise<number> {
  const service = readSettings({}).service.value
  const now = Math.floor(Date.now() / 1000)
  const found = jobs.map((file) => {
    const text = readJobText(file)
    const mistakes = findMistakes(text, file, readOther, service)
    const warnings = mistakes.length > 0 ? [] : findWarnings(readJob(text, file, readOther, service), service, now)
    return { file, mistakes, warnings }
  })
  const mistakes = found.flatMap((one) => one.mistakes)
  if (json) print(JSON.stringify(mistakes, null, 2))
  else
    for (const { file, mistakes } of found)
      print(mistakes.length === 0 ? `${file}: valid` : mistakes.map(mistakeText).join('\n'))
  for (const { file, warnings } of found)
    for (const warning of warnings) process.stderr.write(`${file}: warning: ${warning}.\n`)
  return mistakes.length === 0 ? EXIT.done : EXIT.usage
}
