import { callsLeft } from '../../fetch/budget.ts'
import type { Job } from '../../job/job.ts'
import { EMPTY_STATE, type PlannerState, type SkippedItem } from '../../job/plannerState.ts'
import { publishedAheadHints } from '../../job/publishedAhead.ts'
import { applySelectors, type Listed, needsCatalogue, resolveSelectors } from '../../job/select.ts'
import { planJob } from '../../plan/planJob.ts'
import { planSelection } from '../../plan/planListings.ts'
import type { Planning, PlanOptions } from '../../plan/planning.ts'
import { addAll, createRequested, type Requested } from '../../plan/requested.ts'
import { findLackingGeos, namedGeos } from '../../reports/lackingGeos.ts'
import { sentParams } from '../../service/request.ts'
import type { Service } from '../../service/service.ts'
import { grouped, quantity } from '../../util/text.ts'
import type { Instant } from '../../util/time/instant.ts'
import type { Args } from '../command.ts'
import { DATABASE_FLAG, JOBS, JSON_FLAG, ONLY_FLAG, RANGE_FLAGS, SERVICE_FLAG } from '../flags.ts'
import { readSelectedJobs } from '../jobs/jobs.ts'
import { isThere, readSettings } from '../settings/config.ts'
import { EXIT } from '../terminal/fail.ts'
import { print, stream } from '../terminal/output.ts'
import { type PlannedJob, planText } from '../text/plan.ts'
import { lackingGeosTexts, skippedText } from '../text/summary.ts'
import { rangeOfFlags } from '../times.ts'

export const positionals = JOBS
export const flags = {
  ...DATABASE_FLAG,
  ...SERVICE_FLAG,
  ...RANGE_FLAGS,
  ...ONLY_FLAG,
  ...JSON_FLAG,
} as const
export const examples = ['plan jobs/nightly.yaml', 'plan jobs/nightly.yaml --from 2025-01-01']

type PlanArgs = Args<typeof flags, typeof positionals>

/** The inputs of a plan besides the job: the stored state, the time, and the requests of earlier jobs. */
interface PlanContext {
  readonly args: PlanArgs
  readonly service: Service
  readonly plannerState: PlannerState
  readonly catalogue: readonly Listed[]
  readonly now: Instant
  readonly requested: Requested
}

/** A job and those after it. */
type Jobs = readonly [Job, ...Job[]]

/** Plans the first of some jobs against what is stored. */
function previewJob(
  { args, service, plannerState, catalogue, now, requested }: PlanContext,
  [job, ...rest]: Jobs,
): PlannedJob {
  const optionsOf = ({ timeZone }: Job): PlanOptions => {
    const range = rangeOfFlags(args, timeZone, now)
    return range ? { range: { interval: range, how: 'narrow' } } : {}
  }
  const options = optionsOf(job)
  const later = rest.map((one) => ({ job: applySelectors(one, catalogue), options: optionsOf(one) }))
  const skipped = new Map<string, SkippedItem>()
  const onSkipped = (one: SkippedItem) => skipped.set(`${one.route} ${one.id}`, one)
  // What earlier jobs request is not requested again; a plan may be iterated several times.
  const fresh = (): Planning => ({
    job,
    service,
    plannerState,
    now,
    options,
    later,
    onSkipped,
    requested: requested.copy(),
  })
  const unknown = () => skippedText([...skipped.values()])
  if (!needsCatalogue(job)) return { job, requests: () => planJob(fresh()), notes: unknown }
  const isKnown = catalogue.length > 0
  const resolved = isKnown
    ? resolveSelectors(job, catalogue)
    : { ...job, series: job.series.filter(({ select }) => select === null) }
  const selected = (path: string, count: number): string =>
    `${path}: ${grouped(count)} of ${quantity(catalogue.length, 'indicator')} of the catalogue.`
  const notes = isKnown
    ? job.series.flatMap(({ path, select }, i) =>
        select ? [selected(path, resolved.series[i]!.indicators.length)] : [],
      )
    : ['The catalogue is not stored yet. The next sync fetches it before it plans these entries.']
  return {
    job: resolved,
    *requests() {
      const planning = fresh()
      yield* planSelection(planning)
      yield* planJob({ ...planning, job: resolved })
    },
    notes: () => [...notes, ...unknown()],
  }
}

/** The planned requests as a JSON array, one by one, because a plan may be long. */
function* planJson(all: readonly PlannedJob[]): Generator<string> {
  let count = 0
  for (const { job, requests } of all)
    for (const planned of requests()) {
      const { entry, route, request, reason, window } = planned
      const one = { job: job.name, entry, route, target: request.target, reason, params: sentParams(planned), window }
      yield `${count++ === 0 ? '[' : ','}${JSON.stringify(one)}\n`
    }
  yield count === 0 ? '[]\n' : ']\n'
}

export async function handler(args: PlanArgs): Promise<number> {
  const jobs = await readSelectedJobs(args)
  const { database, baseUrl, service } = readSettings(args)
  const reader = (await isThere(database.value)) ? (await import('../../db/open.ts')).openReader(database.value) : null
  const readPlanning = reader && (await import('../../sync/readPlannerState.ts')).readPlanning
  try {
    const now = Math.floor(Date.now() / 1000)
    const host = URL.parse(baseUrl?.value ?? '')?.host
    const requested = createRequested()
    const context = {
      args,
      service: service.value,
      now,
      ...(readPlanning ? await readPlanning(reader, now) : { plannerState: EMPTY_STATE, catalogue: [] }),
    }
    const isPart = [args.from, args.to, args.only].some((flag) => flag !== undefined)
    const all = jobs.map((job, i) => {
      const one = previewJob({ ...context, requested: requested.copy() }, [job, ...jobs.slice(i + 1)])
      if (i < jobs.length - 1) addAll(requested, one.requests())
      return one
    })
    if (args.json) await stream(planJson(all))
    else
      for (const one of all) {
        const left = reader && host ? await callsLeft(reader, host, one.job.pace, Date.now()) : undefined
        const lacking = reader ? lackingGeosTexts(await findLackingGeos(reader, namedGeos(one.job))) : []
        const ahead = publishedAheadHints(one.job, service.value).map((hint) => `${hint}.`)
        const notes = () => [...one.notes(), ...lacking, ...ahead]
        print(planText({ ...one, notes }, { now, zone: service.value.timeZone, left, isPart }))
      }
  } finally {
    await reader?.close()
  }
  return EXIT.done
}
