import { countOf } from './base/count.ts'
import { lockForRun } from './db/lock.ts'
import { ensureZone } from './db/queries/zones.ts'
import { ingestAll, type Summary, type SyncContext } from './ingestAll.ts'
import type { Job } from './job/job.ts'
import type { PlannedRequest } from './job/plannedRequest.ts'
import type { SkippedItem } from './job/plannerState.ts'
import { applySelectors, namesAnything, needsCatalogue, resolveSelectors } from './job/select.ts'
import { addCounts } from './load/run.ts'
import { rememberWanted } from './load/wanted.ts'
import { namesGeos } from './plan/entries.ts'
import { planSelection } from './plan/listings.ts'
import { plan } from './plan/plan.ts'
import type { Planning, PlanOptions } from './plan/planning.ts'
import { createRequested } from './plan/requested.ts'
import { wantedOf } from './plan/wanted.ts'
import { readCatalogue } from './state/catalogue.ts'
import { readPlannerState } from './state/plannerState.ts'

/** A job is planned into requests, requests are fetched into replies, replies are transformed into rows, rows are loaded. */
export async function sync(
  context: SyncContext,
  job: Job,
  command = 'sync',
  options: PlanOptions = {},
): Promise<Summary> {
  const { store, service, now, later = [], execute = ingestAll } = context
  const unlock = context.execute ? async () => undefined : await lockForRun(store, `${command} ${job.name}`, now)
  const requested = context.requested ?? createRequested()
  const skipped = new Map<string, SkippedItem>()
  const planningOf = async (of: Job): Promise<Planning> => ({
    job: of,
    service,
    plannerState: await readPlannerState(store),
    now: Math.floor(now() / 1000),
    options,
    requested,
    onSkipped: (one) => skipped.set(`${one.route} ${one.id}`, one),
  })
  try {
    await ensureZone(store, service.timeZone)
    // Selecting indicators by their catalogue entries needs the catalogue in the database.
    const jobs = namesGeos(job) ? [job, ...later.map((one) => one.job)] : [job]
    const readListed = async () => (jobs.some(needsCatalogue) ? await readCatalogue(store) : [])
    // While there is no catalogue, request it again even if an earlier job of the same command did so without success.
    const selecting = (await readListed()).length > 0 ? requested : createRequested()
    const missing: PlannedRequest[] = []
    for (const one of jobs.filter(needsCatalogue))
      missing.push(...planSelection({ ...(await planningOf(one)), requested: selecting }))
    if (missing.length > 0) await context.onPlanned?.(missing.length)
    const first = missing.length > 0 ? await ingestAll(context, job, command, missing, missing.length) : null
    const catalogue = await readListed()
    if (first && (first.stop || (needsCatalogue(job) && catalogue.length === 0))) return first
    const planning = {
      ...(await planningOf(resolveSelectors(job, catalogue))),
      later: later.map((one) => ({ ...one, job: applySelectors(one.job, catalogue) })),
    }
    // Counted first for the estimate of the time left. Planning is quick, and the plan is never in memory as a whole.
    const total = await countOf(plan({ ...planning, requested: requested.copy() }), context.signal)
    if (first === null) await context.onPlanned?.(total)
    const before = requested.copy()
    const again = async () =>
      plan({ ...planning, plannerState: await readPlannerState(store), requested: before.copy() })
    const rest = await execute(context, job, command, plan(planning), total, again)
    if (!options.range) await rememberWanted(store, job.name, wantedOf(planning), options.part)
    const selected = namesAnything(planning.job)
    return { ...(first ? mergeSummaries(first, rest) : rest), skipped: [...skipped.values()], selected }
  } finally {
    await unlock()
  }
}

/** The summary of two runs of one job. */
const mergeSummaries = (first: Summary, rest: Summary): Summary => ({
  ...rest,
  outcome: rest.outcome === 'done' ? first.outcome : rest.outcome,
  counts: addCounts(first.counts, rest.counts),
  failures: [...first.failures, ...rest.failures],
  seconds: first.seconds + rest.seconds,
})
