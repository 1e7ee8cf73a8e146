import { openReader } from '../../db/open.ts'
import { countJobGaps, jobGapsText } from '../../findings/findGaps.ts'
import { findLackingGeos } from '../../findings/readers/lackingGeos.ts'
import type { Job } from '../../job/job.ts'
import { type CatalogueIndicator, needsCatalogue, resolveStored } from '../../job/select.ts'
import { emptyWindowHints, publishedAheadHints } from '../../job/windowHints.ts'
import { borderUnit } from '../../judge/finality.ts'
import { groupDuties } from '../../plan/duties.ts'
import { createRecall } from '../../plan/entries.ts'
import { planPreview } from '../../plan/planJob.ts'
import { EMPTY_STATE, type SkippedItem } from '../../plan/plannerState.ts'
import { findSelectedRange, type PlanContext, type UserOptions } from '../../plan/planning.ts'
import { createRegister } from '../../plan/requestRegister.ts'
import { sentParams } from '../../service/request.ts'
import { findStoredJob } from '../../sync/jobIdentity.ts'
import { readStateAndCatalogue } from '../../sync/readPlannerState.ts'
import { previewDuties } from '../../sync/storedDuties.ts'
import { grouped, quantity } from '../../util/text.ts'
import { type Instant, toInstant } from '../../util/time/instant.ts'
import type { Args } from '../command.ts'
import { DATABASE_FLAG, JOBS, JSON_FLAG, ONLY_FLAG, RANGE_FLAGS, SERVICE_FLAG } from '../flags.ts'
import { findJobSource } from '../jobs/jobSource.ts'
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

function planOptions(args: PlanArgs, { timeZone }: Job, now: Instant): UserOptions {
  const interval = resolveRange(args, timeZone, now)
  return interval ? { range: { interval, how: 'narrow' } } : {}
}

/** How many indicators of the catalogue the selectors of a job select. */
function listSelectorNotes(job: Job, resolved: Job, catalogueSize: number): string[] {
  if (catalogueSize === 0)
    return needsCatalogue(job)
      ? ['The catalogue is not stored yet. The next sync fetches it before it plans these entries.']
      : []
  return job.series.flatMap(({ path, select }, i) => {
    const count = grouped(resolved.series[i]!.indicators.length)
    return select ? [`${path}: ${count} of ${quantity(catalogueSize, 'indicator')} of the catalogue.`] : []
  })
}

/** Plans a job against what is stored. */
function previewJob({
  catalogue,
  ...planning
}: PlanContext &
  Required<Pick<PlanContext, 'duties'>> & { readonly catalogue: readonly CatalogueIndicator[] }): PlannedJob {
  const { job, duties } = planning
  const skipped = new Map<string, SkippedItem>()
  const onSkipped = (item: SkippedItem) => skipped.set(`${item.route} ${item.id}`, item)
  const resolved = resolveStored(job, catalogue, createRecall(duties))
  const windowStarts = new Map(
    job.series.flatMap(({ path, window, timeTrunc }): [string, Instant][] =>
      window ? [[path, findSelectedRange(planning, window, borderUnit(timeTrunc)).from]] : [],
    ),
  )
  const notes = listSelectorNotes(job, resolved, catalogue.length)
  const requests = planPreview({ ...planning, onSkipped }, catalogue)
  return {
    job: resolved,
    requests,
    isEarlier: ({ entryPath, window }) => window !== null && window.from < (windowStarts.get(entryPath) ?? window.from),
    notes: [...notes, ...skippedText([...skipped.values()])],
  }
}

/** Writes the planned requests as a JSON array in pieces, because a plan may be long. */
function* planJson(plannedJobs: readonly PlannedJob[]): Generator<string> {
  let count = 0
  for (const { job, requests } of plannedJobs)
    for (const planned of requests) {
      const { entryPath, route, http, reason, window } = planned
      const params = sentParams(planned)
      const item = { job: job.name, entry: entryPath, route, target: http.target, reason, params, window }
      yield `${count++ === 0 ? '[' : ','}${JSON.stringify(item)}\n`
    }
  yield count === 0 ? '[]\n' : ']\n'
}

export async function handler(args: PlanArgs): Promise<number> {
  const { database, service: serviceSetting } = readSettings(args)
  const service = serviceSetting.value
  const jobs = readSelectedJobs(args, service)
  const reader = (await databaseExists(database.value)) ? openReader(database.value) : null
  try {
    const now = toInstant(Date.now())
    const requested = createRegister()
    const stored = reader ? await readStateAndCatalogue(reader, jobs) : { plannerState: EMPTY_STATE, catalogue: [] }
    const isPart = [args.from, args.to, args.only].some((flag) => flag !== undefined)
    const plannedJobs: (PlannedJob & { readonly jobId: number | null })[] = []
    for (const job of jobs) {
      const storedJob = reader ? await findStoredJob(reader, job.name, findJobSource(job)) : undefined
      const jobId = storedJob?.id ?? null
      const planning = { job, jobId, service, now, options: planOptions(args, job, now) }
      const duties = reader ? await previewDuties(reader, storedJob?.id, planning, stored.catalogue) : groupDuties([])
      plannedJobs.push({ ...previewJob({ ...planning, ...stored, duties, requested }), jobId })
    }
    if (args.json) await stream(planJson(plannedJobs))
    else
      for (const planned of plannedJobs) {
        const { job } = planned
        const { jobId } = planned
        const lacking = reader && jobId !== null ? lackingGeosTexts(await findLackingGeos(reader, now, jobId)) : []
        const ahead = [...emptyWindowHints(job, now), ...publishedAheadHints(job, service)].map((hint) => `${hint}.`)
        const gaps = reader ? jobGapsText(await countJobGaps(reader, jobId, job, now)) : ''
        const notes = [...planned.notes, ...lacking, ...ahead]
        print(planText({ ...planned, notes }, { now, zone: service.timeZone, isPart, gaps }))
      }
  } finally {
    await reader?.close()
  }
  return EXIT.done
}
