import { openReader } from '../../db/open.ts'
import type { Job } from '../../job/job.ts'
import { EMPTY_STATE, type SkippedItem } from '../../job/plannerState.ts'
import { type CatalogueIndicator, needsCatalogue, resolveStored } from '../../job/select.ts'
import { emptyWindowHints, publishedAheadHints } from '../../job/windowHints.ts'
import { planPreview } from '../../plan/planJob.ts'
import type { PlanContext, UserOptions } from '../../plan/planning.ts'
import { createRegister, registerAll } from '../../plan/requestRegister.ts'
import { countJobGaps, jobGapsText } from '../../reports/findGaps.ts'
import { findLackingGeos, listNamedGeos } from '../../reports/lackingGeos.ts'
import { sentParams } from '../../service/request.ts'
import { readStateAndCatalogue } from '../../sync/readPlannerState.ts'
import { grouped, quantity } from '../../util/text.ts'
import type { Instant } from '../../util/time/instant.ts'
import type { Args } from '../command.ts'
import { DATABASE_FLAG, JOBS, JSON_FLAG, ONLY_FLAG, RANGE_FLAGS, SERVICE_FLAG } from '../flags.ts'
import { readSelectedJobs } from '../jobs/readJobs.ts'
import { readSettings } from '../settings/config.ts'
import { databaseExists } from '../settings/databases.ts'
import { EXIT } from '../terminal/fail.ts'
import { print, stream } from '../terminal/output.ts'
import { type PlannedJob, planText } from '../text/planText.ts'
import { lackingGeosTexts, skippedText } from '../text/summary.ts'
import { resolveRange } from '../times.ts'

export const positionals = JOBS
export const flags = { ...DATABASE_FLAG, ...SERVICE_FLAG, ...RANGE_FLAGS, ...ONLY_FLAG, ...JSON_FLAG } as const
export const examples = ['plan jobs/nightly.yaml', 'plan jobs/nightly.yaml --from 2025-01-01']

type PlanArgs = Args<typeof flags, typeof positionals>

/** The inputs of a plan, except the job. */
type PreviewInputs = Pick<PlanContext, 'service' | 'plannerState' | 'now' | 'requested'> & {
  readonly args: PlanArgs
  readonly catalogue: readonly CatalogueIndicator[]
}

function planOptions(args: PlanArgs, { timeZone }: Job, now: Instant): UserOptions {
  const interval = resolveRange(args, timeZone, now)
  return interval ? { range: { interval, how: 'narrow' } } : {}
}

/** Plans a job against what is stored. */
function previewJob({ args, catalogue, ...context }: PreviewInputs, job: Job): PlannedJob {
  const skipped = new Map<string, SkippedItem>()
  const common = {
    ...context,
    job,
    options: planOptions(args, job, context.now),
    onSkipped: (item: SkippedItem) => skipped.set(`${item.route} ${item.id}`, item),
  }
  const resolved = resolveStored(job, catalogue)
  const notes =
    catalogue.length > 0
      ? job.series.flatMap(({ path, select }, i) => {
          const count = grouped(resolved.series[i]!.indicators.length)
          return select ? [`${path}: ${count} of ${quantity(catalogue.length, 'indicator')} of the catalogue.`] : []
        })
      : needsCatalogue(job)
        ? ['The catalogue is not stored yet. The next sync fetches it before it plans these entries.']
        : []
  return {
    job: resolved,
    // Requests of earlier jobs are not repeated. A plan may be iterated several times.
    requests: () => planPreview({ ...common, requested: context.requested.copy() }, catalogue),
    notes: () => [...notes, ...skippedText([...skipped.values()])],
  }
}

/** Writes the planned requests as a JSON array in pieces, because a plan may be long. */
function* planJson(plannedJobs: readonly PlannedJob[]): Generator<string> {
  let count = 0
  for (const { job, requests } of plannedJobs)
    for (const planned of requests()) {
      const { entryPath, route, http, reason, window } = planned
      const params = sentParams(planned)
      const item = { job: job.name, entry: entryPath, route, target: http.target, reason, params, window }
      yield `${count++ === 0 ? '[' : ','}${JSON.stringify(item)}\n`
    }
  yield count === 0 ? '[]\n' : ']\n'
}

export async function handler(args: PlanArgs): Promise<number> {
  const jobs = await readSelectedJobs(args)
  const settings = readSettings(args)
  const { database } = settings
  const service = settings.service.value
  const reader = (await databaseExists(database.value)) ? openReader(database.value) : null
  try {
    const now = Math.floor(Date.now() / 1000)
    const requested = createRegister()
    const stored = reader
      ? await readStateAndCatalogue(reader, now, jobs)
      : { plannerState: EMPTY_STATE, catalogue: [] }
    const isPart = [args.from, args.to, args.only].some((flag) => flag !== undefined)
    const plannedJobs = jobs.map((job, i) => {
      const context = { args, service, now, ...stored, requested: requested.copy() }
      const planned = previewJob(context, job)
      if (i < jobs.length - 1) registerAll(requested, planned.requests())
      return planned
    })
    if (args.json) await stream(planJson(plannedJobs))
    else
      for (const planned of plannedJobs) {
        const { job } = planned
        const lacking = reader ? lackingGeosTexts(await findLackingGeos(reader, listNamedGeos(job))) : []
        const ahead = [...emptyWindowHints(job, now), ...publishedAheadHints(job, service)].map((hint) => `${hint}.`)
        const gaps = reader ? jobGapsText(await countJobGaps(reader, job)) : ''
        const notes = () => [...planned.notes(), ...lacking, ...ahead]
        print(planText({ ...planned, notes }, { now, zone: service.timeZone, isPart, gaps }))
      }
  } finally {
    await reader?.close()
  }
  return EXIT.done
}
