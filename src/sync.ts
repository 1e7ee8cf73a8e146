import { countOf } from './base/lists.ts'
import { findLackingGeos, namedGeos } from './checks/lackingGeos.ts'
import { lockForRun } from './db/lock.ts'
import { ensureZone } from './db/queries/zones.ts'
import { type Executed, ingestAll, type Summary, type SyncContext } from './ingestAll.ts'
import type { Job } from './job/job.ts'
import type { SkippedItem } from './job/plannerState.ts'
import { namesAnything } from './job/select.ts'
import { addCounts } from './load/counts.ts'
import { plan } from './plan/plan.ts'
import type { Planning, PlanOptions } from './plan/planning.ts'
import { createRequested } from './plan/requested.ts'
import { wantedOf } from './plan/wanted.ts'
import { rememberWanted } from './runs/wanted.ts'
import { selectIndicators } from './selection.ts'
import { refuseExposed } from './services/exposedKey.ts'
import { readPlannerState } from './state/readPlannerState.ts'

/**
 * A job is planned into requests, requests are fetched into replies, replies are transformed into rows, rows are loaded. Throws
 * InputError where the key would go unencrypted to another machine, and BusyError where another writer has the database.
 */
export async function sync(
  given: SyncContext,
  job: Job,
  command = 'sync',
  options: PlanOptions = {},
): Promise<Summary> {
  const context = { ...given, isPart: options.part || options.range !== undefined }
  const { store, service, now, execute = ingestAll } = context
  refuseExposed(context)
  const unlock = context.execute ? async () => undefined : await lockForRun(store, `${command} ${job.name}`, now)
  const requested = context.requested ?? createRequested()
  const skipped = new Map<string, SkippedItem>()
  const planningOf = async (of: Job): Promise<Planning> => ({
    job: of,
    service,
    plannerState: await readPlannerState(store, Math.floor(now() / 1000)),
    now: Math.floor(now() / 1000),
    options,
    requested,
    onSkipped: (one) => skipped.set(`${one.route} ${one.id}`, one),
  })
  try {
    await ensureZone(store, service.timeZone)
    const { first, selected } = await selectIndicators(context, job, command, planningOf)
    const planning = { ...(await planningOf(selected?.job ?? job)), later: selected?.later ?? [] }
    // Before the requests: gaps also show what a run that dies has not requested.
    if (!options.range) await rememberWanted(store, planning, wantedOf(planning), options.part || selected === null)
    if (selected === null) return { ...first, skipped: [...skipped.values()], lackingGeos: [], selected: true }
    // Counted first for the estimate of the time left. Planning is quick, and the plan is never in memory as a whole.
    const total = await countOf(plan({ ...planning, requested: requested.copy() }), context.signal)
    // All that the job wants, whoever requests it.
    const again = async () =>
      plan({ ...planning, plannerState: await readPlannerState(store, planning.now), requested: createRequested() })
    const rest = await execute(context, job, command, plan(planning), total, again)
    return {
      ...(first ? merged(first, rest) : rest),
      skipped: [...skipped.values()],
      lackingGeos: await findLackingGeos(store, namedGeos(selected.job)),
      selected: namesAnything(selected.job),
    }
  } finally {
    await unlock()
  }
}

/** What two runs of one job did. */
const merged = (first: Executed, rest: Executed): Executed => ({
  ...rest,
  outcome: rest.outcome === 'done' ? first.outcome : rest.outcome,
  counts: addCounts(first.counts, rest.counts),
  failures: [...first.failures, ...rest.failures],
  seconds: first.seconds + rest.seconds,
})
