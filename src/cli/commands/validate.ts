import type { Job } from '../../job/job.ts'
import { resolveWindow } from '../../job/moment.ts'
import { EMPTY_STATE } from '../../job/plannerState.ts'
import { findMistakes, mistakeText, readJob } from '../../job/read.ts'
import { emptyWindowHints, publishedAheadHints } from '../../job/windowHints.ts'
import { planJob } from '../../plan/planJob.ts'
import type { Service } from '../../service/service.ts'
import { grouped, quantity } from '../../util/text.ts'
import type { Instant } from '../../util/time/instant.ts'
import type { Args } from '../command.ts'
import { JOBS, JSON_FLAG } from '../flags.ts'
import { readJobText } from '../jobs/readJobs.ts'
import { readSettings } from '../settings/config.ts'
import { EXIT } from '../terminal/fail.ts'
import { printResult } from '../terminal/output.ts'

export const positionals = JOBS
export const flags = { ...JSON_FLAG } as const
export const examples = ['validate jobs/nightly.yaml']

/** More requests take weeks at the default pace, and are hardly intended. */
const MANY_REQUESTS = 1_000_000
/** The service has no earlier values. */
const FIRST_YEAR = Date.UTC(1990, 0, 1) / 1000

/** Counts the requests for an empty database: all indicators of an entry need as many as its first. */
function countRequests(job: Job, service: Service, now: Instant): number {
  const count = (part: Job): number =>
    planJob({ job: part, service, plannerState: EMPTY_STATE, now, options: {} }).reduce((sum) => sum + 1, 0)
  const onlySeries = { ...job, catalogue: null, content: [], archives: [], widgets: null }
  return job.series.reduce(
    (sum, entry) => {
      const first = { ...entry, indicators: entry.indicators.slice(0, 1) }
      return sum + count({ ...onlySeries, series: [first] }) * entry.indicators.length
    },
    count({ ...job, series: [] }),
  )
}

/** Warns about a valid job: windows that begin before 1990 or leave out tomorrow, and plans of very many requests. */
function findWarnings(job: Job, service: Service, now: Instant): string[] {
  const requests = countRequests(job, service, now)
  const days = quantity(Math.ceil(requests / job.pace.perSecond / 86_400), 'day')
  const early = [...job.series, ...job.archives].filter(({ window }) => {
    const from = window && resolveWindow(window, job.timeZone, now).from
    return from !== null && from < FIRST_YEAR
  })
  return [
    ...early.map(({ path }) => `${path}.window.from is before 1990; every window since then is requested`),
    ...(requests > MANY_REQUESTS
      ? [`the job needs ${grouped(requests)} requests, which take ${days}; shorten its windows or increase chunk`]
      : []),
    ...emptyWindowHints(job, now),
    ...publishedAheadHints(job, service),
  ]
}

/** Exits 2 on a mistake, not on a warning. */
export async function handler(args: Args<typeof flags, typeof positionals>): Promise<number> {
  const service = readSettings({}).service.value
  const now = Math.floor(Date.now() / 1000)
  const results = args.jobs.map((file) => {
    const text = readJobText(file)
    const mistakes = findMistakes(text, file, service)
    const warnings = mistakes.length > 0 ? [] : findWarnings(readJob(text, file, service), service, now)
    return { file, mistakes, warnings }
  })
  const allMistakes = results.flatMap(({ mistakes }) => mistakes)
  const lines = results.flatMap(({ file, mistakes }) =>
    mistakes.length === 0 ? [`${file}: valid`] : mistakes.map(mistakeText),
  )
  printResult(args, allMistakes, lines.join('\n'))
  for (const { file, warnings } of results)
    for (const warning of warnings) process.stderr.write(`${file}: warning: ${warning}.\n`)
  return allMistakes.length === 0 ? EXIT.done : EXIT.usage
}
