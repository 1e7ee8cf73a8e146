import { openWriter } from './db/lock.ts'
import type { Reader, Store, StoreOptions } from './db/store.ts'
import { findProxy } from './fetch/proxies.ts'
import type { Job } from './job/job.ts'
import type { PlannedRequest } from './job/plannedRequest.ts'
import { planPreview } from './plan/planJob.ts'
import type { UserOptions } from './plan/planning.ts'
import { createRegister } from './plan/requestRegister.ts'
import { checkKey } from './service/key.ts'
import type { Service } from './service/service.ts'
import { LIVE, SERVICES } from './service/services.ts'
import type { Progress, SharedRun, SyncContext } from './sync/context.ts'
import { findStoredJob } from './sync/jobIdentity.ts'
import { readStateAndCatalogue } from './sync/readPlannerState.ts'
import { runJobs } from './sync/runJobs.ts'
import { previewDuties } from './sync/storedDuties.ts'
import type { Summary } from './sync/sync.ts'
import { InputError } from './util/errors.ts'
import type { OnEvent } from './util/events.ts'
import { type Instant, toInstant } from './util/time/instant.ts'
import type { Interval } from './util/time/interval.ts'

/* The functions of the library, with defaults for what a program need not decide. Times are epoch seconds. */

/** The part of a job that is requested, and how. */
interface Part {
  /** Default: the live service. */
  readonly service?: Service
  /** Cuts the job's windows down to this range. */
  readonly range?: Interval
  /** Requests stored ranges again, too. */
  readonly restate?: boolean
  /** The clock. Default: that of the system. */
  readonly now?: () => Instant
}

/** Which requests of a job to list. */
export interface PlanOptions extends Part {
  /** The open database. */
  readonly store: Reader | Store
}

/** How a job is synced. */
export interface SyncOptions extends Part {
  /** The open database. */
  readonly store: Store
  /** The API key. */
  readonly key: string
  /** Default: the address of the service. */
  readonly baseUrl?: string
  /** Allows sending the key to another machine over plain HTTP. Default: no. */
  readonly allowHttp?: boolean
  /** The address of an HTTP proxy, such as `process.env.HTTPS_PROXY`. Default: none. */
  readonly proxy?: string
  /** Ends the run early; requests in progress are finished. */
  readonly signal?: AbortSignal
  /** Shares pace and queue with other processes; see `openSharedRun`. */
  readonly sharedRun?: SharedRun
  /** What to do with a reply that cannot be parsed: keep it in the quarantine (default), or end the run. */
  readonly onReject?: 'quarantine' | 'fail'
  /** Called for every event of `EVENTS`. It must return soon and never throw. */
  readonly onEvent?: OnEvent
  /** Called after every request. */
  readonly onProgress?: (progress: Progress) => void | Promise<void>
  /** Called when all calls pause, with the milliseconds and the reason. */
  readonly onPause?: (ms: number, reason: string) => void
}

/**
 * Opens a database for writing, and creates or migrates it. Until it is closed, this process is its only writer. Throws BusyError,
 * naming the process that is writing. `name`: how this program is named to others.
 */
export const openDatabase = (file: string, options: StoreOptions & { readonly name?: string } = {}): Promise<Store> =>
  openWriter(file, options.name ?? 'a program', options)

const systemClock = (): Instant => toInstant(Date.now())

const planOptions = ({ range, restate = false }: Part): UserOptions => ({
  ...(range ? { range: { interval: range, how: 'narrow' } } : {}),
  restate,
})

/**
 * Fetches and loads the missing data of a job. Its name identifies it, whatever the path given to `readJob`: another job with the same
 * name edits it, so what it no longer selects is no longer required. Unlike the command, it sends no notifications and updates no lake.
 * Throws errors that prevent a run, such as InputError; the reason for an early end is in the summary.
 */
export async function sync(job: Job, options: SyncOptions): Promise<Summary> {
  const { service = SERVICES[LIVE], now, range, restate, proxy, ...rest } = options
  const baseUrl = rest.baseUrl ?? service.baseUrl
  if (baseUrl === null)
    throw new InputError(`The service ${service.name} has no address of its own.`, { hint: 'Give its baseUrl.' })
  // JavaScript programs may pass a variable that is not set.
  const key = checkKey(rest.key ?? '', 'the option key', service.apiKey)
  const setting = proxy === undefined ? null : { value: proxy, from: 'the option proxy' }
  const proxies = { http: setting, https: setting, exceptions: null }
  // Throws if the address of the proxy is not valid.
  findProxy(baseUrl, proxies)
  const context: SyncContext = {
    ...rest,
    key,
    proxies,
    service,
    baseUrl,
    nowMs: now ? () => now() * 1000 : Date.now,
    signal: rest.signal ?? new AbortController().signal,
  }
  const [summary] = await runJobs(context, [{ job, command: 'sync', options: planOptions(options) }])
  return summary!
}

/** Lists the requests that a sync of a job would send now. Requests may be iterated once. */
export async function plan(job: Job, options: PlanOptions): Promise<Iterable<PlannedRequest>> {
  const { store, service = SERVICES[LIVE], now = systemClock } = options
  const at = now()
  const { plannerState, catalogue } = await readStateAndCatalogue(store, [job])
  const storedJob = await findStoredJob(store, job.name, undefined)
  const selection = { job, jobId: storedJob?.id ?? null, service, now: at, options: planOptions(options) }
  const duties = await previewDuties(store, storedJob?.id, selection, catalogue)
  return planPreview({ ...selection, plannerState, duties, requested: createRegister() }, catalogue)
}
